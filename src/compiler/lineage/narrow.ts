// The SELECT of a model, reading only the rows of its inputs that lead to a range of one of its columns. The engine does
// so itself where the column is one of a table; through `CAST(ts AS DATE)` or date_trunc it reads every row, since the
// statistics of stored rows say nothing of an expression. So a filter on the column that it comes from is put where the
// table is named.

import type { Trail, TrailStep } from '../../core/addresses.ts'
import type { CompiledProject, PeriodModel } from '../../core/model.ts'
import { type ModelName, sameName, splitModelName } from '../../core/names.ts'
import { type ColumnType, columnType, isWholeNumber } from '../../core/relation.ts'
import { offsetOfByte } from '../../core/source-text.ts'
import { type ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { ValueRange } from '../../core/step.ts'
import { isSymbol, isWord, nameOf, tokenize } from '../sql/tokens.ts'
import { describe } from '../../duckdb/catalog.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError, ifRefused } from '../../duckdb/errors.ts'

interface Narrowing {
  readonly project: CompiledProject
  readonly connection: Connection
}

/** The rows without a value. */
export const NULLS = 'nulls'

/** The body reads all rows that lead to the range, and maybe more. null: nothing tells which those are. */
export async function narrowed(
  { project, connection }: Narrowing,
  { name, columns, body, period }: PeriodModel,
  range: ValueRange | typeof NULLS,
): Promise<ModelBody | null> {
  const trails = project.trails().get(name)
  const index = columns.findIndex((column) => sameName(column.name, period.column))
  const type = columns[index]?.type
  if (trails === undefined || trails.looksAround || type === undefined) return null
  let found: ModelBody | null = null
  for (const trail of trails.columns[index] ?? []) {
    const use = trails.uses[trail.use]!
    const isOnce = trails.uses.filter((one) => sameName(one.name, use.name)).length === 1
    const origin = project.models
      .get(use.name as ModelName)
      ?.columns.find((column) => sameName(column.name, trail.column))
    if (!isOnce || use.isShared || origin === undefined) continue
    const filter = filterOf(trail, origin.type, type, range)
    const place = filter === null ? null : placeOf(body, use.name)
    if (filter === null || place === null) continue
    const rows = sql`(FROM ${sql.relation(use.name)} WHERE ${filter})`
    const alias = sql.ident(splitModelName(use.name as ModelName).table)
    // With a name of its own, or where columns name the schema too, the one or the other is no query.
    for (const table of [sql`${rows} AS ${alias}`, rows]) {
      const tried: ModelBody = (found ?? body).with({ ...place, sql: table })
      const works = describe(connection, sql`FROM (${sql.body(tried)}\n)`)
      if ((await ifRefused(works, () => null)) === null) continue
      found = tried
      break
    }
  }
  return found
}

/** A statement with a narrowed body that has failed, and the one that it stands for. */
interface Failed {
  readonly statement: Sql
  readonly body: ModelBody
  readonly original: Sql
  readonly own: ModelBody
}

/** The error with the position that it has in the original statement. */
export function asWritten(error: DatabaseError, failed: Failed): DatabaseError {
  const { statement, body, original, own } = failed
  const [text, written] = [statement.inline(), original.inline()]
  const { position } = error.details
  const at = position === null ? -1 : offsetOfByte(text, position) - text.indexOf(body.text)
  const isKnown = own.inserts.length === 0 && at >= 0 && at <= body.text.length
  const offset = isKnown ? body.spanInFile({ start: at, end: at }).start - body.span.start : 0
  const before = written.slice(0, written.indexOf(own.text) + offset)
  const moved = isKnown ? Buffer.byteLength(before) : null
  return new DatabaseError({ ...error.details, position: moved }, error.cause)
}

/** Where the table is named, if that is in one place only. */
function placeOf(body: ModelBody, table: string): { start: number; end: number } | null {
  const { schema, table: last } = splitModelName(table as ModelName)
  const tokens = tokenize(body.text).filter(({ kind }) => kind !== 'comment')
  const found = tokens.flatMap((token, i) => {
    const [before, dot, next, after] = [tokens[i - 1], ...tokens.slice(i + 1, i + 4)]
    const [first, second] = [nameOf(token), nameOf(next)]
    const isNamed = first !== null && second !== null && isSymbol(dot, '.')
    if (!isNamed || !sameName(first, schema) || !sameName(second, last)) return []
    const isTable = isWord(before, 'from') || isWord(before, 'join') || isSymbol(before, ',')
    return [isTable && !isSymbol(after, '.') ? { start: token.start, end: next!.end } : null]
  })
  const [only] = found
  return found.length === 1 && only != null ? body.spanInFile(only) : null
}

/** What is true of all rows whose value leads into the range. */
function filterOf(
  { column, steps }: Trail,
  from: ColumnType,
  to: ColumnType,
  range: ValueRange | typeof NULLS,
): Sql | null {
  const types = [from, ...steps.flatMap((step) => ('cast' in step ? [step.cast] : [])), to]
  const isTimes = types.every((type) => TIME.test(type))
  const isNumbers = types.every((type) => isWholeNumber(type))
  if (!isTimes && !isNumbers) return null
  const value = sql.ident(column)
  if (range === NULLS) return sql`${value} IS NULL`
  const { start, end } = range
  if (isNumbers)
    return sql`${start === null ? sql`true` : sql`${value} >= ${sql.value(BigInt(start))}`}
      AND ${end === null ? sql`true` : sql`${value} < ${sql.value(BigInt(end))}`}`
  // A zone moves a time by less than a day, a type of fewer digits rounds it; what cuts a time off gives one that is earlier by less than its unit.
  const moved = steps.flatMap(movedBy)
  const cut = [...steps.flatMap(lengthOf), ...(to === 'DATE' || from === 'DATE' ? ['1 day'] : [])]
  const bound = (text: string, sign: Sql, lengths: readonly string[]) => {
    const parts = lengths.map((length) => sql` ${sign} ${sql.value(length, INTERVAL)}`)
    return sql`CAST(CAST(${sql.value(text)} AS TIMESTAMP)${sql.join(parts, sql.empty)} AS ${sql.type(from)})`
  }
  return sql`${start === null ? sql`true` : sql`${value} >= ${bound(start, sql`-`, moved)}`}
    AND ${end === null ? sql`true` : sql`${value} < ${bound(end, sql`+`, [...moved, ...cut])}`}`
}

const TIME = /^(?:DATE$|TIMESTAMP)/
const INTERVAL = columnType('INTERVAL')

function movedBy(step: TrailStep): readonly string[] {
  if ('zone' in step) return ['1 day']
  return 'cast' in step && step.cast !== 'DATE' ? ['1 second'] : []
}

function lengthOf(step: TrailStep): readonly string[] {
  if ('cast' in step) return step.cast === 'DATE' ? ['1 day'] : []
  if ('trunc' in step) return [`1 ${step.trunc}`]
  return 'bucket' in step ? [step.bucket] : []
}
