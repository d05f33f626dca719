// Words of dbt and SQLMesh where eider has another one, for hints.

import type { CheckName } from '../annotations/check-syntax.ts'
import { sameName } from '../../core/names.ts'
import type { Span } from '../../core/source-text.ts'
import { nearest } from '../../core/suggest.ts'
import { isSymbol, type Token } from '../sql/tokens.ts'

/** What eider calls the materializations and model kinds of other tools. */
const kinds: Readonly<Record<string, string>> = {
  incremental: '@kind: append, @kind: merge or @kind: period',
  incremental_by_unique_key: '@kind: merge',
  incremental_by_time_range: '@kind: period',
  microbatch: '@kind: period',
  insert_overwrite: '@kind: period',
  snapshot: '@kind: scd2',
  scd_type_2: '@kind: scd2',
  scd_type_2_by_time: '@kind: scd2',
  scd_type_2_by_column: '@kind: scd2',
  ephemeral: '@kind: view',
  embedded: '@kind: view',
  materialized_view: '@kind: table',
  full: '@kind: table',
  view: '@kind: view',
  table: '@kind: table',
}

/** What eider calls the settings, properties and tests of other tools. */
const names: Readonly<Record<string, string>> = {
  materialized: '@kind',
  materialization: '@kind',
  type: '@kind',
  primary_key: '@unique_key',
  grain: '@unique_key',
  key: '@unique_key',
  incremental_strategy: '@kind: append, @kind: merge or @kind: period',
  strategy: '@kind: append, @kind: merge or @kind: period',
  batch_size: '@period',
  partition_by: '@period',
  time_column: '@incremental',
  event_time: '@incremental',
  updated_at: '@incremental, or @valid_from in a model of kind scd2',
  check_cols: '@compare',
  hard_deletes: '@deletes',
  invalidate_hard_deletes: '@deletes',
  cursor: '@incremental',
  test: '@check',
  tests: '@check',
  data_tests: '@check',
  audit: '@check',
  audits: '@check',
  assert: '@check',
  severity: '@warn instead of @check',
  not_null: '@check: not_null(…)',
  unique: '@check: unique(…)',
  accepted_values: '@check: accepted(…)',
  relationships: '@check: references(…)',
  columns: '@column, once for each column',
  doc: '@description',
  docs: '@description',
  comment: '@description',
  title: '@description',
  ref: '@depends_on; not needed for models that the SQL names',
  source: '@depends_on; not needed for tables that the SQL names',
  depends: '@depends_on',
  meta: '@owner or @tags',
  group: '@owner or @tags',
  label: '@tags',
  labels: '@tags',
  odata: '@expose',
  serve: '@expose',
  publish: '@expose',
  public: '@expose',
}

export function foreignAnnotation(name: string, value: string): string | undefined {
  const word = foreignName(names, name)
  if (word === undefined) return undefined
  const kind = word === '@kind' ? foreignName(kinds, value) : undefined
  if (kind === undefined) return `eider calls this ${word}`
  return kind === `@kind: ${value.toLowerCase()}`
    ? `write -- ${kind}`
    : `write ${kind} for what other tools call "${value}"`
}

export function foreignKind(kind: string): string | undefined {
  const word = foreignName(kinds, kind)
  return word === undefined ? undefined : `write ${word} for what other tools call "${kind}"`
}

export const foreignTest = (name: string): CheckName | undefined => foreignName(tests, name)

const tests: Readonly<Record<string, CheckName>> = {
  accepted_values: 'accepted',
  relationships: 'references',
  unique_combination_of_columns: 'unique',
  unique_values: 'unique',
  not_null_values: 'not_null',
  number_of_rows: 'row_count',
}

const foreignName = <Word extends string>(table: Readonly<Record<string, Word>>, word: string) => {
  const folded = word.toLowerCase()
  return Object.hasOwn(table, folded) ? table[folded] : undefined
}

interface Template {
  readonly span: Span
  readonly hint: string
}

/**
 * Jinja in a model: what dbt would replace before the database sees it. The first of each sort, so that a file is not covered with them. `readable`: names of what a model may read.
 */
export function templatesIn(
  text: string,
  tokens: readonly Token[],
  readable: readonly string[],
): readonly Template[] {
  const found = new Map<string, Template>()
  let end = 0
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1]
    const isOpen =
      isSymbol(token, '{') && next?.start === token.end && '{%#'.includes(next.text[0]!)
    if (!isOpen || token.start < end) continue
    const close = text.indexOf({ '{': '}}', '%': '%}', '#': '#}' }[next.text[0]!]!, token.end)
    end = close < 0 ? text.length : close + 2
    const inside = text
      .slice(token.end + 1, close < 0 ? undefined : close)
      .replace(/^[-+]/, '')
      .trim()
    if (/^(?:else|elif|endif|endfor|endset)\b/.test(inside)) continue
    const { sort, hint } = meaningOf(inside, readable)
    if (!found.has(sort)) found.set(sort, { span: { start: token.start, end }, hint })
  }
  return [...found.values()]
}

function meaningOf(
  inside: string,
  readable: readonly string[],
): { readonly sort: string; readonly hint: string } {
  const [, word = ''] = /^(\w+)/.exec(inside) ?? []
  const [, first = '', second = ''] =
    /\(\s*['"]([^'"]*)['"](?:\s*,\s*['"]([^'"]*)['"])?/.exec(inside) ?? []
  switch (word) {
    case 'ref':
      return {
        sort: word,
        hint: modelHint(second || first, readable),
      }
    case 'source':
      return { sort: word, hint: `write the name of the table: FROM ${first}.${second}` }
    case 'config':
      return { sort: word, hint: configHint(inside) }
    case 'var':
      return { sort: word, hint: `write \${${first}}, and declare it under vars in eider.yml` }
    case 'this':
      return {
        sort: word,
        hint: 'a model does not read itself; @incremental says which rows are new',
      }
    case 'if':
      return inside.includes('is_incremental')
        ? {
            sort: 'is_incremental',
            hint: 'leave the condition out; @incremental says which rows are new',
          }
        : { sort: 'block', hint: 'write it as CASE WHEN, or out in full' }
    case 'for':
    case 'set':
      return { sort: 'block', hint: 'write it out in full, or use COLUMNS(…), PIVOT or a macro' }
    default:
      return { sort: 'macro', hint: 'write plain SQL; a macro is CREATE MACRO in macros/*.sql' }
  }
}

function configHint(inside: string): string {
  const [, kind = 'table'] = /materialized\s*=\s*['"](\w+)['"]/.exec(inside) ?? []
  if (kind === 'incremental') return 'write -- @kind: append or -- @kind: merge above the SELECT'
  return `write -- @kind: ${kind === 'view' || kind === 'ephemeral' ? 'view' : 'table'} above the SELECT`
}

/** dbt has names without schemas. */
function modelHint(name: string, readable: readonly string[]): string {
  const tableOf = (whole: string) => whole.slice(whole.indexOf('.') + 1)
  const meant = nearest(name, readable.map(tableOf)) ?? name
  const models = readable.filter((whole) => sameName(tableOf(whole), meant))
  if (models.length > 1) return `write the name of the model, one of ${models.join(', ')}`
  return `write the name of the model: FROM ${models[0] ?? `schema.${name}`}`
}
