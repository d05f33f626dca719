// What is read of events beside the columns of their model, so that no value is lost that was accepted for a column: one
// that the model no longer lists, or spells in another case.

import type { EventsModel } from '../../core/model.ts'
import type { KeptCount } from '../../core/report/planned-changes.ts'
import { sameName } from '../../core/names.ts'
import { type Column, columnType } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
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

/** With the columns that the table had before it was changed for the model. `formerly`: as in FlushDependencies. */
export async function readingOf(
  { connection, columnsBefore, store: { tables } }: RunContext,
  model: EventsModel,
  formerly: boolean,
): Promise<ReadModel> {
  const found = (await columnsBefore(connection, model.name)) ?? []
  const columns = withRenames(found, pendingRenames(model, found))
  const listed = (name: string) => model.columns.find((column) => sameName(column.name, name))
  const former = (name: string) => model.renames.some(({ from }) => sameName(from, name))
  const kept = columns
    .filter(({ name }) => listed(name) === undefined && !former(name))
    .map(({ name, type }) => ({ name, type, isStorable: tables.keeps(STORED, type) }))
  return { ...model, kept, anyCase: formerly }
}

/** Since the last run that flushed all of it. */
export function isRedefined({ state }: Pick<RunContext, 'state'>, model: EventsModel): boolean {
  const record = state.models.get(model.name)
  return record === undefined || record.fingerprint === '' || isEdited(record, model)
}

type Named = Pick<Column, 'name' | 'type'>

/**
 * Lines with e (JSON), x and `others`: the columns that the event has under a name that differs in case alone, with that
 * name as `key`. Of several such names the first counts. What is read of an event once is not read for each column.
 */
function withOthers(columns: readonly Named[], lines: Sql): Sql {
  const named = columns.map(
    ({ name, type }) => sql`{name: ${sql.value(name)}, type: ${sql.value(type)}}`,
  )
  const key = sql`list_extract(keys, list_position(folded, lower(c.name)))`
  const other = sql`struct_pack(name := c.name, type := c.type,
    key := CASE WHEN NOT list_contains(keys, c.name) THEN ${key} END)`
  const others = sql`list_filter(list_transform([${sql.join(named)}], lambda c: ${other}), lambda c: c.key IS NOT NULL)`
  return sql`(
    SELECT * EXCLUDE (keys, folded), ${others} AS others
    FROM (SELECT *, list_transform(keys, lambda k: lower(k)) AS folded FROM (SELECT *, json_keys(e) AS keys FROM ${lines})))`
}

/** Whether some event has a name that differs in case alone from that of a column, which it lacks. */
export const hasOthers = (columns: readonly Named[], lines: Sql): Sql =>
  sql`SELECT 1 FROM ${withOthers(columns, lines)} WHERE len(others) > 0 LIMIT 1`

/** Lines with e (JSON) and x, both also under the names of `columns` where an event spells them otherwise. */
export function inAnyCase(columns: readonly Named[], lines: Sql): Sql {
  const path = sql`'/' || replace(replace(c.key, '~', '~0'), '/', '~1')`
  const member = sql`CAST(to_json(c.name) AS VARCHAR) || ':' || CAST(json_extract(e, ${path}) AS VARCHAR)`
  const members = sql`array_to_string(list_transform(others, lambda c: ${member}), ',')`
  const isText = sql`pair.key IN (c.key || ' ' || c.type, c.key || ' ' || ${sql.value(columnType('JSON'))})`
  const spelled = sql`list_transform(list_filter(others, lambda c: ${isText}), lambda c: c.name || substr(pair.key, len(c.key) + 1))`
  const pair = sql`struct_pack(k := coalesce(list_extract(${spelled}, 1), pair.key), v := pair.value)`
  return sql`(
    SELECT * EXCLUDE (others) REPLACE (
      CASE WHEN len(others) = 0 THEN e ELSE CAST('{' || ${members} || ',' || ltrim(CAST(e AS VARCHAR), '{ ') AS JSON) END AS e,
      CASE WHEN len(others) = 0 THEN x ELSE map_from_entries(list_transform(map_entries(x), lambda pair: ${pair})) END AS x)
    FROM ${withOthers(columns, lines)})`
}

/** As JSON, since no value is a mistake there. */
export const keptMembers = ({ kept = [] }: Pick<ReadModel, 'kept'>): readonly Sql[] =>
  kept.map(({ name }) => sql`${sql.ident(name)} JSON`)

/** Of each that some event has; none where the model lists all. `lines` gives e with the kept columns as JSON. */
export async function countKept(
  connection: Connection,
  { kept = [] }: ReadModel,
  lines: (e: Sql) => Sql,
): Promise<readonly KeptCount[]> {
  if (kept.length === 0) return []
  const counts = kept.map(({ name }, i) => {
    const value = sql`struct_extract(e, ${sql.value(name)})`
    return sql`count(*) FILTER (WHERE json_type(${value}) <> 'NULL') AS ${sql.ident(`n${i}`)}`
  })
  const row = await connection.row(
    sql`SELECT ${sql.join(counts)} FROM ${lines(sql`STRUCT(${sql.join(keptMembers({ kept }))})`)}`,
  )
  return kept
    .map(({ name }, i) => ({ column: name, events: numberOf(row![`n${i}`]) }))
    .filter(({ events }) => events > 0)
}
