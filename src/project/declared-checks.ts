// `checks` and `warn` in YAML, of a seed or of a table of a source: lists of what stands after @check in a model.

import { isScalar, isSeq, type Node } from 'yaml'
import type { DeclaredCheck } from '../core/source-text.ts'
import type { SourceFile } from '../core/source-text.ts'

export const checkKeys = ['checks', 'warn'] as const

const EXPECTED = 'a list of checks, such as - not_null(id)'

/** `refuse`: tells what is wrong with a node. */
export function readDeclaredChecks(
  key: (typeof checkKeys)[number],
  node: Node | null,
  source: SourceFile,
  refuse: (node: Node | null, expected: string) => void,
): readonly DeclaredCheck[] {
  if (!isSeq(node)) {
    refuse(node, EXPECTED)
    return []
  }
  const severity = key === 'warn' ? 'warn' : 'fail'
  return (node.items as readonly Node[]).flatMap((item) => {
    const span = spanOfText(item, source)
    if (span === null) {
      refuse(item, 'one line without escapes: in double quotes if YAML needs quotes')
      return []
    }
    return [{ severity, source, span }]
  })
}

/** Where the text itself stands, which places of mistakes count from; null where YAML changes it. */
function spanOfText(node: Node, { text }: SourceFile): DeclaredCheck['span'] | null {
  if (!isScalar(node) || typeof node.value !== 'string' || node.range == null) return null
  const [start, end] = node.range
  const isQuoted = /^["']/.test(text.slice(start, end))
  const span = isQuoted ? { start: start + 1, end: end - 1 } : { start, end }
  return text.slice(span.start, span.end) === node.value && node.value !== '' ? span : null
}
