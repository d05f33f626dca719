// Annotations while they are typed: their names for the kind of the model, and what may follow each.

import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver/node'
import {
  type AnnotationName,
  annotations,
  type FileKind,
  fileKinds,
} from '../compiler/annotations/annotations.ts'
import { checkExamples } from '../compiler/annotations/check-syntax.ts'
import type { Model } from '../core/model.ts'
import { sameName } from '../core/names.ts'
import { rowsAbout } from '../files/documentation.ts'
import { columnItem, type NamedRelation } from './relations.ts'

interface HeaderContext {
  readonly text: string
  readonly own: Model | null
  readonly tables: readonly NamedRelation[]
}

const WORDS: Partial<Record<AnnotationName, readonly string[]>> = {
  deletes: ['keep', 'mirror'],
  rebuild: ['always'],
  on_schema_change: ['evolve', 'keep', 'rebuild', 'fail'],
  on_duplicate: ['fail', 'latest('],
}

const TAKES_COLUMNS: readonly AnnotationName[] = [
  'unique_key',
  'expose',
  'incremental',
  'column',
  'on_duplicate',
  'check',
  'warn',
]

/** `typed`: the line up to the cursor. */
export function annotationItems(
  typed: string,
  { text, own, tables }: HeaderContext,
): CompletionItem[] {
  if (/^\s*--\s*@?\w*$/.test(typed)) return nameItems(text, typed.includes('@'))
  const [, given = '', value = ''] = /^\s*--\s*@(\w+)\s*:?\s*(.*)$/.exec(typed) ?? []
  const name = given.toLowerCase() as AnnotationName
  if (!Object.hasOwn(annotations, name)) return []
  const words = (labels: readonly string[], kind: CompletionItemKind) =>
    labels.map((label) => ({ label, kind }))
  if (name === 'kind')
    return fileKinds.map((label) => ({
      label,
      kind: CompletionItemKind.EnumMember,
      documentation: rowsAbout(label)[0]?.cells.at(-1) ?? '',
    }))
  const [, referenced] = /references\([^)]*?,\s*([\w."]*)$/i.exec(value) ?? []
  if (name === 'depends_on' || referenced !== undefined) {
    const [, model] = /^(\w+\.\w+)\.\w*$/.exec(referenced ?? '') ?? []
    const found = tables.find((table) => model !== undefined && sameName(table.name, model))
    if (found !== undefined) return found.columns.map(columnItem)
    return words(
      tables.map((table) => table.name),
      CompletionItemKind.Class,
    )
  }
  const isCheck = name === 'check' || name === 'warn'
  const calls = isCheck && !value.includes('(') ? Object.values(checkExamples) : []
  const columns = TAKES_COLUMNS.includes(name) ? (own?.columns ?? []).map(columnItem) : []
  return [
    ...words(WORDS[name] ?? [], CompletionItemKind.EnumMember),
    ...columns,
    ...words(calls, CompletionItemKind.Function),
  ]
}

/** The annotations that have an effect on the kind, and are not there yet. */
function nameItems(text: string, hasSign: boolean): CompletionItem[] {
  const kind = (/^--\s*@kind\s*:?\s*(\w+)/im.exec(text)?.[1]?.toLowerCase() ?? 'table') as FileKind
  return Object.entries(annotations).flatMap(([name, rule]) => {
    const isThere = !('repeats' in rule) && new RegExp(`^--\\s*@${name}\\b`, 'im').test(text)
    const isForKind = name === 'kind' || rule.kinds.some((one) => one === kind)
    if (isThere || !isForKind) return []
    const label = `@${name}`
    const separator = name === 'column' || name === 'expose' || name === 'contract' ? ' ' : ': '
    return [
      {
        label,
        kind: CompletionItemKind.Keyword,
        detail: rule.expected,
        documentation: rowsAbout(label)[0]?.cells.at(-1) ?? '',
        insertText: `${hasSign ? name : label}${separator}`,
        filterText: hasSign ? name : label,
      },
    ]
  })
}
