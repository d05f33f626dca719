// Files of a source that are something else than their names say, before DuckDB makes columns and rows of them.

import { relative, resolve } from 'node:path'
import { CONFLICT_HINT } from '../../core/source-text.ts'
import { isRemote } from '../../core/sources.ts'
import type { Connection } from '../../duckdb/database.ts'
import { conflictIn } from '../csv/conflicts.ts'
import { otherFormat } from '../csv/other-format.ts'
import { separatorOf } from '../csv/separator-line.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { isMarkedArray } from '../json/marked-array.ts'
import { SourceProblem } from './problems.ts'
import { earlyEnd, isCutOff } from './cut-off.ts'
import { type FileTable, isFile, isPacked, pathsOf } from './rows-of-file.ts'

/** Of a pattern: each compile opens them, and one program has mostly written all of them. */
const LOOKED_AT = 100

/** Of a file of this machine. Throws SourceProblem. */
export async function refuseOtherFormats(
  connection: Connection,
  dir: string,
  table: FileTable,
): Promise<void> {
  const { location, format, file } = table
  if (isRemote(location) || (format !== 'csv' && format !== 'json')) return
  const isPattern = !isFile(resolve(dir, location))
  const paths = await pathsOf(connection, dir, table)
  // Of each file: the newest is the one that is still written.
  for (const path of paths) {
    if (await isCutOff(path)) throw new SourceProblem(earlyEnd(relative(dir, path)))
  }
  for (const path of paths.slice(0, LOOKED_AT)) {
    if (isPacked(path) || !isFile(path)) continue
    const wrong =
      (await wrongIn(path, relative(dir, path), table)) ??
      (isPattern ? oneForm(path, dir, file) : null)
    if (wrong !== null) throw new SourceProblem(wrong)
  }
}

async function wrongIn(
  path: string,
  file: string,
  { format, csv }: FileTable,
): Promise<Explanation | null> {
  // Lines of JSON or of a page may be meant as they are.
  const isLines = csv?.header === false
  if (format === 'csv') {
    const other = await otherFormat(path, { file, isSeed: false, isLines })
    if (other !== null) return other
  }
  const conflict = isLines ? null : conflictIn(path, file)
  return conflict === null
    ? null
    : { problem: `${file}:${conflict.line} has an unresolved merge conflict`, hint: CONFLICT_HINT }
}

/** One file is read as it is meant; of several, the engine is told one form for all. */
function oneForm(path: string, dir: string, pattern: string): Explanation | null {
  const file = relative(dir, path)
  if (isMarkedArray(path))
    return {
      problem: `${file} begins with a byte order mark, so that its array would be one row`,
      hint: 'save it as UTF-8 without a mark (BOM)',
    }
  const separator = separatorOf(path)
  if (separator === null) return null
  return {
    problem: `${file} begins with the line sep=${separator}, which is for Excel`,
    hint: `remove it, or, if all files have it, read them in a model: FROM read_csv('${pattern}', skip = 1, delim = '${separator}')`,
  }
}
