// Words of dbt and SQLMesh where eider has another one, for hints.

import type { CheckName } from '../annotations/annotation-values.ts'

/** What eider calls the materializations and model kinds of other tools. */
const kinds: Readonly<Record<string, string>> = {
  incremental: '@kind: append or @kind: merge',
  incremental_by_unique_key: '@kind: merge',
  incremental_by_time_range: '@kind: append',
  microbatch: '@kind: append',
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
  incremental_strategy: '@kind: append or @kind: merge',
  strategy: '@kind: append or @kind: merge',
  time_column: '@incremental',
  event_time: '@incremental',
  updated_at: '@incremental',
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
