// What is read of events beside the columns of their model, so that no value is lost that was accepted for a column: one
// that the model no longer lists, or spells in another case.

import { exactKey } from '../../buffer/segment.ts'
import type { EventsModel } from '../../core/model.ts'
import type { KeptCount } from '../../core/report/planned-changes.ts'
import { foldCase, sameName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { TableStorage } from '../../store/table-storage.ts'
import { isEdited } from '../../store/state.ts'
import type { RunContext } from '../run-context.ts'
import { pendingRenames, withRenames } from '../build/materialize/renames.ts'

/** A column of the table that the model no longer lists. Events may still have it; no value of it is a mistake. */
export interface KeptColumn extends Pick<Column, 'name' | 'type'> {
  /** null: the table gives back every value. */
  readonly isStorable: Sql | null
}

/** An events model and what else is read of its events. */
export interface ReadModel extends EventsModel {
  readonly kept?: readonly KeptColumn[]
  /** A member whose name differs from that of a column in case alone is its value, where the event has no other. */
  readonly anyCase?: boolean
}

/** The value of a kept column where `isStorable` is asked. */
export const STORED = sql.ident('_eider_stored')

/** `found`: the columns of the table before it is changed for the model. `formerly`: as in FlushDependencies. */
export function readingOf(
  model: EventsModel,
  found: readonly Column[],
  tables: TableStorage,
  formerly: boolean,
): ReadModel {
  const columns = withRenames(found, pendingRenames(model, found))
  const listed = (name: string) => model.columns.find((column) => sameName(column.name, name))
  const former = (name: string) => model.renames.some(({ from }) => sameName(from, name))
  const kept = columns
    .filter(({ name }) => listed(name) === undefined && !former(name))
    .map(({ name, type }) => ({ name, type, isStorable: tables.keeps(STORED, type) }))
  const isSpelledElse = columns.some(({ name }) => (listed(name)?.name ?? name) !== name)
  return { ...model, kept, anyCase: formerly || isSpelledElse }
}

/** Since the last run that flushed all of it. */
export function isRedefined({ state }: Pick<RunContext, 'state'>, model: EventsModel): boolean {
  const record = state.models.get(model.name)
  return record === undefined || record.fingerprint === '' || isEdited(record, model)
}

type Named = Pick<Column, 'name' | 'type'>

/** The name of a column for a key that is the same but for case; NULL for any other key. */
const canonical = (columns: readonly Named[], key: Sql): Sql =>
  sql`map_extract_value(${byFolded(columns.map(({ name }) => name))}, lower(${key}))`

/** Whether some key differs from the name of a column in case alone. The columns differ in more than case. */
export const isOther = (columns: readonly Named[], keys: Sql): Sql =>
  sql`len(list_filter(${keys}, lambda k: ${canonical(columns, sql`k`)} <> k)) > 0`

/** Lines with e (JSON) and x, both under the names of `columns`. */
export function inAnyCase(columns: readonly Named[], lines: Sql): Sql {
  const name = canonical(columns, sql`k`)
  const isRead = sql`${name} = k OR NOT list_contains(keys, ${name})`
  const path = sql`'/' || replace(replace(k, '~', '~0'), '/', '~1')`
  const member = sql`CAST(to_json(${name}) AS VARCHAR) || ':' || CAST(json_extract(e, ${path}) AS VARCHAR)`
  const members = sql`list_transform(list_filter(keys, lambda k: ${isRead}), lambda k: ${member})`
  const texts = columns.flatMap(({ name, type }) => [
    exactKey({ name, type }),
    exactKey({ name, type: columnType('JSON') }),
  ])
  const key = sql`coalesce(map_extract_value(${byFolded([...new Set(texts)])}, lower(pair.key)), pair.key)`
  const pairs = sql`list_transform(map_entries(x), lambda pair: struct_pack(k := ${key}, v := pair.value))`
  const differs = isOther(columns, sql`keys`)
  return sql`(
    SELECT * REPLACE (
      CASE WHEN ${differs} THEN CAST('{' || array_to_string(${members}, ',') || '}' AS JSON) ELSE e END AS e,
      CASE WHEN ${differs} THEN map_from_entries(${pairs}) ELSE x END AS x)
    FROM (SELECT *, json_keys(e) AS keys FROM ${lines}))`
}

const list = (texts: readonly string[]) => sql`[${sql.join(texts.map((text) => sql.value(text)))}]`

/** The first of those that differ in case alone. */
function byFolded(texts: readonly string[]): Sql {
  const first = new Map(texts.toReversed().map((text) => [foldCase(text), text]))
  return sql`MAP(${list([...first.keys()])}, ${list([...first.values()])})`
}

/** Of each that some event has; none where the model lists all. `lines` gives e with the kept columns as JSON. */
export async function countKept(
  connection: Connection,
  { kept = [] }: ReadModel,
  lines: (e: Sql) => Sql,
): Promise<readonly KeptCount[]> {
  if (kept.length === 0) return []
  const members = kept.map(({ name }) => sql`${sql.ident(name)} JSON`)
  const counts = kept.map(({ name }, i) => {
    const value = sql`struct_extract(e, ${sql.value(name)})`
    return sql`count(*) FILTER (WHERE json_type(${value}) <> 'NULL') AS ${sql.ident(`n${i}`)}`
  })
  const row = await connection.row(
    sql`SELECT ${sql.join(counts)} FROM ${lines(sql`STRUCT(${sql.join(members)})`)}`,
  )
  return kept
    .map(({ name }, i) => ({ column: name, events: numberOf(row![`n${i}`]) }))
    .filter(({ events }) => events > 0)
}
