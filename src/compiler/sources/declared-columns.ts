// What `columns` of a CSV source says: names that the file has, and types that DuckDB has.

import { sameName } from '../../core/names.ts'
import { isRemote } from '../../core/sources.ts'
import { sql } from '../../core/sql.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { TYPE_HINT } from '../hints/binding.ts'
import { problemOfType } from '../seed.ts'
import { lostHeader } from './lost-lines.ts'
import { raggedRow } from './ragged-rows.ts'
import { SourceProblem } from './problems.ts'
import { ALL_TEXTS, type FileTable, pathsOf, rowsOfFile } from './rows-of-file.ts'

/** Throws SourceProblem. */
export async function refuseWrongColumns(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  const { columns = new Map<string, string>(), location, format } = table
  if (format !== 'csv' || columns.size === 0 || isRemote(location)) return
  for (const [column, type] of columns) {
    const wrong = await problemOfType(connection, type)
    if (wrong === null) continue
    const because = wrong.problem === '' ? '' : `: ${wrong.problem}`
    const problem = `columns.${column}: "${type}" is not a column type${because}`
    throw new SourceProblem({ problem, hint: wrong.hint ?? TYPE_HINT })
  }
  const undeclared: FileTable = { ...table, columns: new Map() }
  const rows = sql`SELECT * FROM ${rowsOfFile(dir, undeclared, ALL_TEXTS)}`
  // What is wrong with the file itself, the view of it says.
  const found = await ifRefused(connection.columnsOf(rows), () => null)
  const names = found?.map(({ name }) => name)
  const unknown = [...columns.keys()].find(
    (column) => names?.some((name) => sameName(name, column)) === false,
  )
  if (unknown === undefined) return
  const paths = await pathsOf(connection, dir, table)
  const ragged = await raggedRow({ connection, dir, table, paths, columns: found })
  if (ragged !== null) throw new SourceProblem(ragged)
  const lost = found && (await lostHeader({ dir, table, columns: found }))
  if (lost !== null) throw new SourceProblem(lost)
  const available = `its columns are ${names!.slice(0, 10).join(', ')}`
  throw new SourceProblem({
    problem: `columns.${unknown}: ${table.file} has no such column`,
    hint: didYouMean(unknown, names!) ?? available,
  })
}
