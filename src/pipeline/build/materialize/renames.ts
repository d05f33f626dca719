// Columns that a table has under their former names: they get the new ones before anything else is done, so that rows, keys
// and the watermark go on.

import type { ColumnRename, Model } from '../../../core/model.ts'
import { annotationName, type ModelName, sameName } from '../../../core/names.ts'
import type { Column } from '../../../core/relation.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import type { Connection } from '../../../duckdb/database.ts'
import { ModelFailure } from '../../failure.ts'

const has = (columns: readonly Column[], name: string) =>
  columns.some((column) => sameName(column.name, name))

/** What the table with those columns is yet to get. */
export const pendingRenames = (model: Model, columns: readonly Column[]): readonly ColumnRename[] =>
  ('renames' in model ? model.renames : []).filter(
    ({ from, to }) => has(columns, from) && !has(columns, to),
  )

/** Throws ModelFailure where a table has a column under two of its names. */
export function refuseTwoNames(model: Model, columns: readonly Column[]): void {
  const renames = 'renames' in model ? model.renames : []
  for (const { from, to } of renames) {
    const other = has(columns, to)
      ? to
      : renames.find((one) => one.from !== from && sameName(one.to, to) && has(columns, one.from))
          ?.from
    if (other === undefined || !has(columns, from)) continue
    const both = `the table has both "${from}" and "${other}", so "${from}" cannot become "${to}"; delete that line, `
    throw new ModelFailure(both + wayOut(model, from, other), 'renamed_from')
  }
}

/** Columns of events cannot be renamed by a command, since events are sent and buffered with them. */
const wayOut = ({ name, kind }: Model, from: string, other: string): string =>
  kind === 'events'
    ? `list "${from}" in the model again, and read coalesce(${annotationName(other)}, ${annotationName(from)}) in models that read ${name}: each value is in one of the two`
    : `or give one of the two columns another name: ${renamingOf(name, from, 'NAME')}`

/** The command that renames a column of the table. */
export const renamingOf = (model: ModelName, from: string, to: string): string =>
  `eider mv ${quoted(`${model}.${from}`)} ${quoted(`${model}.${to}`)}`

const quoted = (word: string) =>
  /^[\w.]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`

export const withRenames = (
  columns: readonly Column[],
  renames: readonly ColumnRename[],
): readonly Column[] =>
  columns.map((column) => {
    const rename = renames.find(({ from }) => sameName(from, column.name))
    return rename === undefined ? column : { ...column, name: rename.to }
  })

/** The table of a model whose columns may wait for their new names, as it is read under these. */
export async function tableOf(connection: Connection, model: Model): Promise<Sql> {
  const table = sql.relation(model.name)
  if (!('renames' in model) || model.renames.length === 0) return table
  return renamedTable(table, pendingRenames(model, await describe(connection, sql`FROM ${table}`)))
}

/** The rows of a table under the new names. */
export function renamedTable(table: Sql, renames: readonly ColumnRename[]): Sql {
  if (renames.length === 0) return table
  const all = renames.map(({ from, to }) => sql`${sql.ident(from)} AS ${sql.ident(to)}`)
  return sql`(SELECT * RENAME (${sql.join(all)}) FROM ${table})`
}
