// One model file as header and body, before any name is resolved.

import { type Diagnostic, diagnostic, hasErrors } from '../core/diagnostics.ts'
import type { ModelName } from '../core/names.ts'
import type { ModelFile } from '../core/project.ts'
import { CONFLICT_HINT, conflictMarker, type SourceFile } from '../core/source-text.ts'
import type { ModelBody } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Variables } from '../core/variables.ts'
import {
  type FileKind,
  type ModelHeader,
  fileKinds,
  kindRules,
  misplacedAnnotations,
  parseHeader,
} from './annotations/annotations.ts'
import { foreignKind } from './hints/other-tools.ts'
import { ignoredAnnotations } from './annotations/ignored.ts'
import { type DeclaredColumn, parseColumnList } from './bind/columns.ts'
import { statementHint } from './hints/statements.ts'
import { type Statement, statementsOf, tokensSpan } from './sql/tokens.ts'
import { bodyOf } from './variables.ts'

interface ParsedBase {
  readonly name: ModelName
  readonly source: SourceFile
  readonly header: ModelHeader
  readonly rollup?: ModelFile['rollup']
}

export interface ParsedQuery extends ParsedBase {
  readonly kind: Exclude<FileKind, 'events'>
  readonly body: ModelBody
}

export interface ParsedEvents extends ParsedBase {
  readonly kind: 'events'
  readonly declared: readonly DeclaredColumn[]
  /** False when the list has columns that were not understood. */
  readonly complete: boolean
}

export type ParsedModel = ParsedQuery | ParsedEvents

/** `model` is null when too little was understood to go on with it. */
export function parseModelFile(
  { name, source, rollup }: ModelFile,
  variables: Variables,
): {
  readonly model: ParsedModel | null
  /** null when it was not understood. */
  readonly kind: FileKind | null
  readonly isExposed: boolean
  readonly diagnostics: readonly Diagnostic[]
} {
  const { header: comments, below, statements } = statementsOf(source)
  const { header, mentioned, diagnostics } = parseHeader(source, comments)
  const isExposed = mentioned.has('expose')
  const marker = conflictMarker(source.text)
  if (marker !== null) {
    const conflict = diagnostic('merge-conflict', {}, { source, span: marker }, CONFLICT_HINT)
    return { model: null, kind: null, isExposed, diagnostics: [conflict] }
  }
  const found = [...diagnostics]
  const kind = mentioned.has('kind') ? kindOf(source, header, found) : 'table'
  const ignored = ignoredAnnotations(source, comments, below)
  if (kind === null) return { model: null, kind, isExposed, diagnostics: [...found, ...ignored] }
  const consequences = [
    ...misplacedAnnotations(source, header, kind),
    ...missingAnnotations(source, header, kind, mentioned),
  ]
  found.push(...causes(diagnostics, ignored, consequences))
  const statement = onlyStatement({ name, source }, kind, statements, found)
  if (statement === null) return { model: null, kind, isExposed, diagnostics: found }
  if (kind !== 'events') {
    const { body, diagnostics: inBody } = bodyOf(source, tokensSpan(statement), variables)
    found.push(...inBody)
    if (hasErrors(inBody)) return { model: null, kind, isExposed, diagnostics: found }
    const model = { name, source, header, kind, body, ...(rollup && { rollup }) }
    return { model, kind, isExposed, diagnostics: found }
  }
  const { columns, diagnostics: inColumns } = parseColumnList(source, statement)
  found.push(...inColumns)
  if (columns.length === 0) return { model: null, kind, isExposed, diagnostics: found }
  const complete = inColumns.length === 0
  const model = { name, source, header, kind, declared: columns, complete }
  return { model, kind, isExposed, diagnostics: found }
}

/**
 * An annotation that was misspelt, or that stands where none is read, may be the one that is missing, or that says the
 * kind; then it is shown alone, and as an error.
 */
function causes(
  inHeader: readonly Diagnostic[],
  ignored: readonly Diagnostic[],
  consequences: readonly Diagnostic[],
): readonly Diagnostic[] {
  if (consequences.length === 0 || hasErrors(inHeader)) return ignored
  return ignored.length === 0
    ? consequences
    : ignored.map((item) => ({ ...item, severity: 'error' as const }))
}

function kindOf(source: SourceFile, { kind }: ModelHeader, found: Diagnostic[]): FileKind | null {
  if (kind === undefined) return null // it was not understood, which has been said
  const known = fileKinds.find((name) => name === kind.value.toLowerCase())
  if (known !== undefined) return known
  const hint =
    foreignKind(kind.value) ??
    didYouMean(kind.value, fileKinds) ??
    `the kinds are ${fileKinds.join(', ')}`
  const place = { source, span: kind.valueSpan }
  found.push(diagnostic('unknown-kind', { kind: kind.value }, place, hint))
  return null
}

function missingAnnotations(
  source: SourceFile,
  header: ModelHeader,
  kind: FileKind,
  mentioned: ReadonlySet<string>,
): readonly Diagnostic[] {
  const place = { source, span: header.kind?.valueSpan ?? { start: 0, end: 0 } }
  const { needs } = kindRules[kind]
  if (needs === null || mentioned.has(needs)) return []
  if (needs === 'unique_key') {
    const hint = 'add a line such as -- @unique_key: id'
    return [diagnostic('missing-unique-key', { kind }, place, hint)]
  }
  if (needs === 'period') {
    const hint = 'add a line such as -- @period: day of ordered_at lookback 3 days'
    return [diagnostic('missing-period', { kind }, place, hint)]
  }
  const hint = 'add a line such as -- @incremental: updated_at'
  return [diagnostic('missing-incremental', { kind }, place, hint)]
}

function onlyStatement(
  { name, source }: ModelFile,
  kind: FileKind,
  [first, second]: readonly Statement[],
  found: Diagnostic[],
): Statement | null {
  const expected = kind === 'events' ? 'columns: <column> <type> [NOT NULL], …' : 'a SELECT'
  if (first === undefined) {
    const end = source.text.trimEnd().length
    const place = { source, span: { start: end, end: end + 1 } }
    const example = kind === 'events' ? 'order_id INTEGER NOT NULL' : 'SELECT … FROM schema.table'
    found.push(diagnostic('empty-body', { expected }, place, `such as ${example}`))
    return null
  }
  const foreign = kind === 'events' ? undefined : statementHint(first, name)
  if (foreign !== undefined) {
    found.push(diagnostic('not-a-select', {}, { source, span: first[0] }, foreign))
    return null
  }
  if (second === undefined) return first
  const place = { source, span: second[0] }
  const hint = 'nothing may follow the semicolon'
  found.push(
    kind === 'events'
      ? diagnostic('not-a-column-list', { expected: 'nothing after the columns' }, place, hint)
      : diagnostic('not-a-select', {}, place, hint),
  )
  return null
}
