// What comes into a table of events, recorded in the transaction in which it comes.

import type { EventsModel } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { ChangeTables, TouchedColumn } from '../../store/changes.ts'
import type { WrittenTable } from '../../store/table-storage.ts'
import { isKey, recordAddedKeys } from './keys.ts'
import { valuesIn } from './notes.ts'
import { rangesIn } from './ranges.ts'
import { eventsVersion, eventsGone } from './touched.ts'

interface Recording {
  readonly connection: Connection
  readonly changes: ChangeTables
}

/** Does `insert`, which adds rows to the table and changes no others. */
export async function recordAdded<T>(
  recording: Recording,
  model: EventsModel,
  target: WrittenTable,
  insert: () => Promise<T>,
): Promise<T> {
  const { changes } = recording
  if (changes.columnsOf(model.name).length === 0) return insert()
  await leaveTakenVersions(recording, model)
  const added = target.isAdded ?? sql`true`
  return recordAddedKeys(recording, model, valuesIn(target, added), () =>
    recordRanges(recording, model, valuesIn(target, added), insert),
  )
}

async function recordRanges<T>(
  { connection, changes }: Recording,
  model: EventsModel,
  rows: (column: string) => Sql,
  insert: () => Promise<T>,
): Promise<T> {
  const followed = changes.columnsOf(model.name).filter((column) => !isKey(column))
  if (followed.length === 0) return insert()
  const before = await eventsVersion(connection, changes, model.name)
  const result = await insert()
  const after = await eventsVersion(connection, changes, model.name)
  if (before === after) return result
  const said: TouchedColumn[] = []
  for (const column of followed) {
    const type = model.columns.find(({ name }) => sameName(name, column))?.type
    const ranges = type === undefined ? null : await rangesIn(connection, rows(column), type)
    said.push({ column, ranges })
  }
  await changes.record(connection, model.name, { before, after }, said)
  return result
}

/**
 * With rows that somebody else has deleted the table has versions again that it had before, and whoever has read one of
 * them would take what comes now for what it has read. So it gets one that it never had, to which nothing leads.
 */
async function leaveTakenVersions(
  { connection, changes }: Recording,
  { name }: EventsModel,
): Promise<void> {
  const gone = await eventsGone(connection, changes, name)
  if (gone > 0) await changes.noteRemoved(connection, name, gone + 1)
}
