// `eider mv` of a column: the table gets it under another name at once. The model is edited by its author, and the next run
// finds the table as the SELECT has it.

import { UsageError } from '../../core/failures.ts'
import { hashOf } from '../../core/hash.ts'
import { kinds } from '../../core/kinds.ts'
import type { ColumnRename } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import { describe } from '../../duckdb/catalog.ts'
import { relationType } from '../build/materialize/relation.ts'
import type { Opened } from '../orphans.ts'

/** The run that the record of a model names where no run has changed its table. */
const BY_HAND = 'mv'

/** Under the lease of the target. Throws UsageError where the table cannot have it. Returns the column as it was spelled. */
export async function renameColumn(
  { connection, state, tables }: Opened,
  name: ModelName,
  { from, to }: ColumnRename,
): Promise<string> {
  const known = await state.begin(connection, [name])
  const record = known.state.models.get(name)
  if (record === undefined || relationType(known.catalog, name) !== 'table')
    throw new UsageError(`no run has made a table ${name}`, {
      hint: 'rename the column in the model; the first run makes the table with it',
    })
  const { kind, fingerprint, version, definition, removed } = record
  if (!kinds[kind].keepsRows)
    throw new UsageError(`${name} is of kind ${kind}, whose columns are made again by each run`, {
      hint: 'rename the column in the model',
    })
  if (kind === 'events')
    throw new UsageError(`${name} takes events, which are sent and buffered with that column`, {
      hint: `write -- @renamed_from ${to}: ${from} in the model: a run then reads such events under both names`,
    })
  const columns = await describe(connection, sql`FROM ${sql.relation(name)}`)
  const named = (one: string) => columns.find((column) => sameName(column.name, one))?.name
  const spelled = named(from)
  const other = named(to)
  if (spelled === undefined) {
    const names = columns.map((column) => column.name)
    throw new UsageError(`the table ${name} has no column "${from}"`, {
      hint:
        other === undefined
          ? (didYouMean(from, names) ?? `its columns are ${names.join(', ')}`)
          : `it has "${other}" already`,
    })
  }
  if (kinds[kind].addedColumns.some((added) => sameName(added.name, from)))
    throw new UsageError(`a run adds the column "${spelled}" to ${name}, under that name`, {
      hint: `let a model that reads ${name} give it the new name`,
    })
  if (other !== undefined && !sameName(from, to))
    throw new UsageError(`the table ${name} already has a column "${other}"`, {
      hint: `give that one another name first: eider mv ${name}.${other} ${name}.NAME`,
    })
  await state.change(connection, async () => {
    await tables.renameColumn(connection, name, { from: spelled, to })
    await state.changes.forgotten.renameColumn(connection, name, { from: spelled, to })
    // What is published of it has the old name, so it is another content; and no SELECT has made a table with the new one yet.
    const part = [spelled, to]
    const model = { name, kind, definition: hashOf(32, [definition, ...part]) }
    const changed = { model, fingerprint, version: hashOf(16, [version, ...part]), removed }
    await state.recordModels(connection, BY_HAND, [changed])
  })
  return spelled
}
