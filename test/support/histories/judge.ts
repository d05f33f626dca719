// What a model has is compared with what a full rebuild would make of the inputs that it has now. The differences that may
// be are those that somebody has announced: rows that a merge keeps though they are gone from its SELECT, rows that are
// older than they are kept, and rows of older rules, which are counted, or were accepted with --forward-only.

import type { Model } from '../../../src/core/model.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import type { Row } from '../../../src/duckdb/values.ts'
import type { History } from './history.ts'
import { below, type Shape, shapes } from './shapes.ts'

/** Rows of the table that the SELECT does not give, and rows of it that the table does not have. */
export interface Difference {
  readonly extra: readonly string[]
  readonly missing: readonly string[]
}

interface Now {
  /** When the last run was. */
  readonly today: Date
  /** How long events are kept. */
  readonly keepDays: number | null
}

/** A query of "side" and "text" for each row that differs. */
export function differing(name: string, model: Model, relation: Sql, now: Now): Sql {
  const shape = shapes[name]!
  const given = sql`(${'body' in model ? sql.body(model.body) : sql.empty}\n)`
  const body = shape.isNewest === true ? newestOf(given) : given
  const key = shape.keeps
  const there =
    key === undefined
      ? sql`true`
      : sql`${sql.ident(key)} IN (SELECT ${sql.ident(key)} FROM ${body})`
  const isKept = keptSince(name, shape, now)
  const isByRuns = model.kind === 'scd2' && shape.isTimed !== true
  const table = isByRuns
    ? sql`SELECT * EXCLUDE (valid_from, valid_to, is_current) FROM ${relation} WHERE is_current`
    : sql`FROM ${relation} WHERE ${there} AND ${isKept}`
  const made = shape.isTimed === true ? versionsOf(body) : sql`FROM ${body} WHERE ${isKept}`
  // Each side is read once: EXCEPT ALL in both directions reads it twice, and numbers its rows.
  return sql`
    SELECT CASE WHEN n > 0 THEN 'extra' ELSE 'missing' END AS side, text, unnest(range(abs(n)::BIGINT)) AS nth FROM (
      SELECT text, sum(n) AS n FROM (
        SELECT ${TEXT} AS text, 1 AS n FROM (${table}) UNION ALL SELECT ${TEXT}, -1 FROM (${made}))
      GROUP BY text HAVING sum(n) <> 0)`
}

/** Without names: a row that was announced is the same one when its columns get others. */
const TEXT = sql`CAST(row(*COLUMNS(*)) AS VARCHAR)`

/** What such queries have found, each row with its "model". */
export function byModel(found: readonly Row[]): ReadonlyMap<string, Difference> {
  const of = (name: string, side: string) =>
    found.flatMap((row) =>
      row['model'] === name && row['side'] === side ? [row['text'] as string] : [],
    )
  const names = new Set(found.map(({ model }) => model as string))
  return new Map(
    Array.from(names, (name) => [name, { extra: of(name, 'extra'), missing: of(name, 'missing') }]),
  )
}

/** No two rows of a key have the same time. */
const newestOf = (rows: Sql): Sql =>
  sql`(FROM ${rows} QUALIFY row_number() OVER (PARTITION BY id ORDER BY ts DESC) = 1)`

/** Of all rows that there are, each is valid until the next one of its key. */
const versionsOf = (body: Sql): Sql => sql`
  SELECT *, valid_to IS NULL AS is_current FROM (
    SELECT *, ts AS valid_from, lead(ts) OVER (PARTITION BY id ORDER BY ts) AS valid_to FROM ${body})`

/** What is younger than the model, and what it reads, keeps rows. */
function keptSince(name: string, { column }: Shape, { today, keepDays }: Now): Sql {
  // Where they begin, a day of another zone is two.
  const events = keepDays === null ? [] : [keepDays - 2]
  const days = [...events, ...below([name]).flatMap((input) => shapes[input]!.keepDays ?? [])]
  if (days.length === 0 || column === undefined) return sql`true`
  const oldest = new Date(today.getTime() - Math.min(...days) * DAY_MS).toISOString().slice(0, 10)
  return sql`${sql.ident(column)} >= ${sql.value(oldest)}`
}

const DAY_MS = 86_400_000

/** Tables whose rows are those of a full rebuild of all that they read, if none of these holds other ones. */
export function plainOf(
  { names, keepDays: ofEvents }: Pick<History, 'names' | 'keepDays'>,
  holdsOthers: (name: string) => boolean,
): readonly string[] {
  const isPlain = (name: string) => {
    const { keeps, keepDays, tellsRuns, header } = shapes[name]!
    const outlasts = ofEvents !== null && !/@kind: (?:view|table)|@deletes: mirror/.test(header)
    const isOther = keeps !== undefined || keepDays !== undefined || tellsRuns === true || outlasts
    return !isOther && !holdsOthers(name)
  }
  const isTable = (name: string) => !shapes[name]!.header.includes('@kind: view')
  return names.filter((name) => isTable(name) && below([name]).every(isPlain))
}

/** Of a history its newest state. */
export function rowsOfTable(name: string): Sql {
  const isHistory = name.startsWith('core.versions')
  const columns = isHistory ? sql`* EXCLUDE (valid_from, valid_to, is_current)` : sql`*`
  const table = sql`(SELECT ${columns} FROM ${sql.relation(name)}${isHistory ? sql` WHERE is_current` : sql.empty})`
  return sql`SELECT ${sql.value(name)} AS name, concat_ws(' ', *COLUMNS(*)) AS text FROM ${table}`
}

interface Announced {
  /** Rows that it may have. */
  readonly accepted: ReadonlySet<string>
  /** How many rows of older rules, or such as stay, runs have named. */
  readonly named: number
  /** How many rows somebody has deleted. */
  readonly deleted: number
}

/** null: all is as it should be, or announced. */
export function judge(
  { extra, missing }: Difference,
  { accepted, named, deleted }: Announced,
): string | null {
  const unsaid = extra.filter((row) => !accepted.has(row))
  const shown = `extra ${some(unsaid)}; missing ${some(missing)}`
  if (unsaid.length > named) return `${unsaid.length} rows differ, and ${named} are named: ${shown}`
  if (missing.length > extra.length + deleted)
    return `${missing.length - extra.length} rows are missing: ${shown}`
  return null
}

const some = (rows: readonly string[]): string => rows.toSorted().slice(0, 20).join(' | ')
