// What files of sources have behind the rows and the files that a compile looks at.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { CompiledProject } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { FileFormat } from '../../core/sources.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { lateValue } from './check-csv.ts'
import { lateSheets } from './check-sheet.ts'
import { lateNumber } from './late-json.ts'
import { lateParquet } from './parquet-files.ts'
import { withoutValues } from './problems.ts'
import { isFileTable } from './rows-of-file.ts'

const lateIn: Partial<Record<FileFormat, typeof lateValue>> = {
  csv: lateValue,
  json: lateNumber,
  parquet: lateParquet,
  excel: lateSheets,
}

/**
 * Why tables of sources cannot be read after all, by their names. `names`: those that are about to be read, each of whose
 * files is read once more, whole, unless it is short.
 */
export async function lateValues(
  connection: Connection,
  dir: string,
  { external }: Pick<CompiledProject, 'external'>,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Diagnostic>> {
  const found = new Map<string, Diagnostic>()
  for (const { name: source, source: file, tables, hidden } of external?.sources ?? [])
    for (const table of tables) {
      const name = `${source}.${table.name}`
      if (!names.has(name) || !isFileTable(table)) continue
      const late = lateIn[table.format]
      if (late === undefined) continue
      const compiled = external!.tables.find((one) => sameName(one.name, name))
      if (compiled === undefined) continue
      // What is wrong with the rows themselves, the models say that read them.
      const wrong = await ifRefused(late(connection, dir, table, compiled.columns), () => null)
      if (wrong === null) continue
      const { problem, hint } = wrong
      const at = { source: file, span: table.span }
      found.set(
        name,
        withoutValues(diagnostic('invalid-source', { name, problem }, at, hint), hidden),
      )
    }
  return found
}
