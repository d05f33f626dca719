// Numbers of a CSV seed that the type which DuckDB finds for their column cannot hold: a long whole number and a
// fraction make the column DOUBLE, which has 15 digits, and 1e400 is infinite there. Neither is reported.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { sameName } from '../../core/names.ts'
import type { SeedFile } from '../../core/project.ts'
import type { Column } from '../../core/relation.ts'
import { wholeFile } from '../../core/source.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import { type SeedRows, seedTexts } from '../seed.ts'

/** For the columns whose types are not declared. */
export async function lostDigits(
  connection: Connection,
  { path, types }: SeedFile,
  columns: readonly Column[],
  shape: SeedRows,
  dir: string,
): Promise<readonly Diagnostic[]> {
  const guessed = columns.filter(
    ({ name, type }) => type === 'DOUBLE' && !types.some(({ column }) => sameName(column, name)),
  )
  if (guessed.length === 0) return []
  const rows = seedTexts(shape, dir)
  const found: Diagnostic[] = []
  for (const { name } of guessed) {
    const text = sql`trim(${sql.ident(name)})`
    const exact = sql`TRY_CAST(${text} AS HUGEINT)`
    const isInfinite = sql`isinf(TRY_CAST(${text} AS DOUBLE)) AND regexp_full_match(${text}, '[-+.0-9eE]+')`
    // A double is exact up to 2^53; one step beyond that is not what was written.
    const isCut = sql`regexp_full_match(${text}, '[-+]?[0-9]+(\\.[0-9]*)?') AND abs(trunc(TRY_CAST(${text} AS DOUBLE))) >= 9007199254740992
      AND (${exact} IS NULL OR TRY_CAST(TRY_CAST(${text} AS DOUBLE) AS HUGEINT) IS DISTINCT FROM ${exact}
        OR contains(${text}, '.'))`
    const row = await connection.row(sql`
      SELECT min(${text}) FILTER (WHERE ${isInfinite}) AS infinite, min(${text}) FILTER (WHERE ${isCut}) AS cut,
        max(length(regexp_extract(${text}, '\\.([0-9]*)', 1))) AS decimals FROM (${rows})`)
    const infinite = row?.['infinite'] as string | null
    const cut = row?.['cut'] as string | null
    if (infinite === null && cut === null) continue
    const decimals = Math.min(numberOf(row?.['decimals'] ?? 0), 18)
    const type = infinite === null ? `DECIMAL(38,${decimals})` : 'VARCHAR'
    const problem =
      infinite === null
        ? `the column "${name}" has ${short(cut!)} as well as fractions, so it would be DOUBLE and lose digits`
        : `the column "${name}" has ${short(infinite)}, which is beyond DOUBLE and would be infinite`
    const hint = `declare its type in ${path.replace(/\.\w+$/, '.yml')}, under columns: ${name}: ${type}`
    found.push(diagnostic('seed-row', { problem }, wholeFile(path), hint))
  }
  return found
}

const short = (text: string) => (text.length > 40 ? `${text.slice(0, 40)}…` : text)
