// Rows of the warehouse from which a sample of a model was made: what a recorded test gives.
//
// Lineage says which column of a model comes from which column of what it reads; it does not say whether the value is the
// same. So a pair of columns counts where all values of the sample stand in the other one too, and so does a column that
// is an expression over one input. Among the inputs of a model the one that most columns of the key lead to comes first,
// also where the model sums its rows up. From its rows the columns that the query joins by lead to those of the others.
// Where there is no join, the columns that are passed on have to do. Some rows that the model leaves out come too, with
// their partners: without them, a condition that somebody removes would change nothing.

import {
  type JoinSide,
  type ComputedColumn,
  type RowWays,
  rowWaysOf,
  VALUE,
} from '../../compiler/lineage/row-ways.ts'
import { traceModel } from '../../compiler/lineage/trace.ts'
import { tokenize, isWord, nameOf } from '../../compiler/sql/tokens.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { isReceivedAt } from '../../core/relation.ts'
import { type ModelBody, type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import { countRows } from '../build/materialize/relation.ts'
import { ModelFailure } from '../failure.ts'
import {
  type ColumnPair,
  hasAllValues,
  pairsWith,
  pairsInOneRow,
  wayBy,
  wayTo,
} from './column-pairs.ts'
import { textRows } from './expected.ts'
import { leftOutRows } from './left-out-rows.ts'
import { inputsOf, type TestInput, testedKey, type TestedModel } from './inputs.ts'
import type { TextRow } from '../../core/report/row-difference.ts'

export interface RecordedTable {
  readonly relation: string
  readonly columns: readonly string[]
  readonly rows: readonly TextRow[]
  /** There are more than limits.recordedRows. */
  readonly isCut: boolean
  /** No column leads to it, so its first rows are taken. */
  readonly isUnrelated: boolean
}

export interface Recorded {
  readonly sample: readonly TextRow[]
  readonly tables: readonly RecordedTable[]
}

/** `connection`: to the warehouse. `query`: rows of the model. `withLeftOut`: and rows that it leaves out. Throws ModelFailure. */
export async function recordRows(
  connection: Connection,
  project: CompiledProject,
  model: TestedModel,
  query: ModelBody,
  withLeftOut: boolean,
): Promise<Recorded> {
  const { tables, built } = inputsOf(project, model, [])
  const most = limits.recordedRows
  const leads = new Map<string, Sql[] | null>()
  const samples = new Map<ModelName, Sql>()
  const nearest = new Map<string, Sql>()
  let taken = 0
  const take = async (name: string, rows: Sql): Promise<Sql> => {
    const sample = sql.ident('temp', 'main', `_eider_sample_${taken++}_${name}`)
    const refusal = await refusalOf(
      connection.run(
        sql`CREATE OR REPLACE TEMP TABLE ${sample} AS (${rows} LIMIT ${sql.value(most + 1)})`,
      ),
    )
    if (refusal === null) return sample
    if (refusal.details.type !== 'Catalog') throw refusal
    throw new ModelFailure(
      `${name} is not in the warehouse, so there is nothing to record; "eider run" builds it`,
      'placed',
    )
  }
  const related = (name: string): Sql => {
    const ways = leads.get(foldCase(name))
    const from = sql`SELECT * FROM ${sql.relation(name)} AS d`
    if (ways === null || ways === undefined) return from
    return sql`${from} WHERE ${sql.any(ways)}`
  }
  for (const one of built.toReversed()) {
    const isTarget = one.name === model.name
    const sample = await take(one.name, isTarget ? sql.body(query) : related(one.name))
    samples.set(one.name, sample)
    const keys = isTarget ? [...testedKey(one), ...wordsOf(query.text)] : testedKey(one)
    if (!nearest.has(one.name)) nearest.set(one.name, sample)
    const search = { connection, project, take, withLeftOut, nearest }
    const ways = await waysOf(search, one, sample, keys)
    for (const [input, way] of ways) {
      const known = leads.get(foldCase(input))
      leads.set(foldCase(input), way === null || known === null ? null : [...(known ?? []), way])
    }
  }
  const recorded: RecordedTable[] = []
  for (const table of tables) {
    const rows = await take(table.name, related(table.name))
    recorded.push(await readTable(connection, project, built, table, rows, leads))
  }
  const names = model.columns.map(({ name }) => name)
  const sample = sql`(FROM ${samples.get(model.name)!} ORDER BY ALL)`
  return { sample: await textRows(connection, names, sample), tables: recorded }
}

interface Search {
  readonly connection: Connection
  readonly project: CompiledProject
  /** Rows as a table that lasts. */
  readonly take: (name: string, rows: Sql) => Promise<Sql>
  readonly withLeftOut: boolean
  /** By model: of its sample, rows that come from those that are asked for by their values, and nothing besides. */
  readonly nearest: Map<string, Sql>
}

/** Finds a condition for each input, on those of its rows `d` that lead to the sample. null: nothing tells. */
async function waysOf(
  search: Search,
  model: Model,
  sample: Sql,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Sql | null>> {
  const { connection, project, take, withLeftOut } = search
  const { joins, computed } =
    'body' in model ? await rowWaysOf(connection, project, model.body) : { joins: [], computed: [] }
  const traced = traceModel(project, model.name)
  const folded = new Set(keys.map(foldCase))
  const isKey = ({ own }: Pick<ColumnPair, 'own'>) => folded.has(foldCase(own))
  const found: Lead[] = []
  for (const input of [...model.dependsOn, ...model.sources]) {
    const pairs: ColumnPair[] = []
    for (const pair of pairsWith(traced, input))
      if (await hasAllValues(connection, sample, sql.relation(input), [pair])) pairs.push(pair)
    const made = computed.filter((one) => sameName(one.input, input))
    found.push(await leadTo(search, sample, { input, made, pairs, isKey }))
  }
  const ways = new Map<string, Sql | null>()
  const byKey = found.toSorted((a, b) => b.keys - a.keys || a.rows - b.rows)
  for (const lead of byKey) {
    const { input } = lead
    if (ways.has(input)) continue
    const way = withLeftOut ? await wayToLeftOut(search, model.name, lead) : lead.way
    ways.set(input, way)
    if (way === null) continue
    // Its rows lead to those of all inputs that it is joined with, through others too.
    for (const [from, known] of ways)
      for (const { mine, theirs } of joinsFrom(from, joins)) {
        const next = found.find((one) => sameName(one.input, inputOf(theirs)))?.input
        if (known === null || next === undefined || (next !== from && ways.has(next))) continue
        const { rows, value } = valuesOf(mine)
        const values = await take(
          from,
          sql`SELECT DISTINCT ${value} FROM ${rows} AS d WHERE ${known}`,
        )
        const partners = await partnersBy(search, theirs, values)
        ways.set(next, next === from ? sql`(${ways.get(from)!} OR ${partners})` : partners)
      }
  }
  return ways
}

const joinsFrom = (from: string, joins: RowWays['joins']) =>
  joins
    .flatMap(([l, r]) => [
      { mine: l, theirs: r },
      { mine: r, theirs: l },
    ])
    .filter(({ mine }) => sameName(inputOf(mine), from))

const inputOf = (one: JoinSide): string => ('query' in one ? one.input : one.model)

/** `value`: of rows `d`. */
const valuesOf = (one: JoinSide): { readonly rows: Sql; readonly value: Sql } =>
  'query' in one
    ? { rows: rowsOf(one), value: sql`d.${sql.ident(VALUE)}` }
    : { rows: sql.relation(one.model), value: sql`d.${sql.ident(one.column)}` }

const rowsOf = ({ query }: Pick<ComputedColumn, 'query'>): Sql =>
  sql`json_execute_serialized_sql(${sql.value(query)})`

/** True of rows `d` of the input that have one of the values. */
async function partnersBy({ connection, take }: Search, one: JoinSide, values: Sql): Promise<Sql> {
  const { rows, value } = valuesOf(one)
  const isAmong = sql`${value} IN (FROM ${values})`
  return 'query' in one
    ? wayTo(connection, await take(one.input, withoutValue(rows, isAmong)))
    : isAmong
}

const withoutValue = (rows: Sql, condition: Sql): Sql =>
  sql`SELECT d.* EXCLUDE (${sql.ident(VALUE)}) FROM ${rows} AS d WHERE ${condition}`

/** Also true of some rows `d` of the input from which no row of the model is made. */
async function wayToLeftOut(
  { connection, take, nearest }: Search,
  model: ModelName,
  { input, way, by, passed }: Lead,
): Promise<Sql | null> {
  if (way === null || by.length === 0) return way
  const asked = nearest.get(model)!
  const own = sql`SELECT d.* FROM ${sql.relation(input)} AS d WHERE ${wayBy(asked, by)}`
  nearest.set(input, await take(input, own))
  const left = await take(input, leftOutRows({ model, input, by, passed, asked }))
  if ((await countRows(connection, left)) === 0) return way
  return sql`(${way} OR ${await wayTo(connection, left)})`
}

/** How far the columns of the sample lead to an input. */
interface Lead {
  readonly input: string
  readonly way: Sql | null
  /** Columns that stand in the input as they are: of the key or, where none of it leads there, all that are passed on. */
  readonly by: readonly ColumnPair[]
  /** All columns that are passed on. */
  readonly passed: readonly ColumnPair[]
  /** How many columns of the key lead there. */
  readonly keys: number
  /** How many rows are led to, no further than a little beyond the bound. */
  readonly rows: number
}

async function leadTo(
  { connection, take }: Search,
  sample: Sql,
  given: {
    readonly input: string
    readonly pairs: readonly ColumnPair[]
    readonly made: readonly ComputedColumn[]
    readonly isKey: (pair: Pick<ColumnPair, 'own'>) => boolean
  },
): Promise<Lead> {
  const { input, pairs, made, isKey } = given
  const byValue: ComputedColumn[] = []
  for (const one of made.filter(({ column: own }) => isKey({ own })))
    if (await hasAllValues(connection, sample, rowsOf(one), [{ own: one.column, theirs: VALUE }]))
      byValue.push(one)
  // A day that begins a month may be one of the days, by chance.
  const isMade = ({ own }: ColumnPair) => byValue.some(({ column }) => sameName(column, own))
  const others = pairs.filter((pair) => isKey(pair) && !isMade(pair))
  const ofKey = await pairsInOneRow(connection, sample, input, others)
  const keys = ofKey.length + byValue.length
  let way = ofKey.length > 0 ? wayBy(sample, ofKey) : null
  for (const one of byValue) {
    const isIts = wayBy(sample, [{ own: one.column, theirs: VALUE }])
    const all = sql.all([isIts, ...(way === null ? [] : [way])])
    way = await wayTo(connection, await take(input, withoutValue(rowsOf(one), all)))
  }
  let by = ofKey
  if (way === null && pairs.length > 0) {
    by = await pairsInOneRow(connection, sample, input, pairs)
    way = wayBy(sample, by)
  }
  const led = sql`(SELECT 1 FROM ${sql.relation(input)} AS d WHERE ${way ?? sql`true`}
    LIMIT ${sql.value(limits.recordedRows + 1)})`
  return { input, way, by, passed: pairs, keys, rows: await countRows(connection, led) }
}

async function readTable(
  connection: Connection,
  { macros, lineage }: CompiledProject,
  built: readonly Model[],
  { name, columns, model }: TestInput,
  rows: Sql,
  leads: ReadonlyMap<string, readonly Sql[] | null>,
): Promise<RecordedTable> {
  const readers = built.filter((one) =>
    [...one.dependsOn, ...one.sources].includes(name as ModelName),
  )
  const bodies = [
    ...readers.flatMap((one) => ('body' in one ? [one.body.text] : [])),
    ...macros.map(({ body }) => body.text),
  ]
  const words = new Set(bodies.flatMap(wordsOf).map(foldCase))
  const traced = new Set(
    readers
      .flatMap((one) => (lineage().get(one.name) ?? []).flatMap((origins) => origins ?? []))
      .filter((origin) => sameName(origin.model, name))
      .map(({ column }) => foldCase(column)),
  )
  const isAll = bodies.some(takesAllColumns)
  const isKept = (column: (typeof columns)[number]) =>
    isAll ||
    words.has(foldCase(column.name)) ||
    traced.has(foldCase(column.name)) ||
    (model?.kind === 'events' && !column.nullable && !isReceivedAt(column))
  const kept = columns.filter(isKept).map((column) => column.name)
  const named = kept.length === 0 ? columns.slice(0, 1).map((column) => column.name) : kept
  const most = sql.value(limits.recordedRows)
  const list = sql.idents(named)
  return {
    relation: name,
    columns: named,
    rows: await textRows(
      connection,
      named,
      sql`(SELECT ${list} FROM (FROM ${rows} LIMIT ${most}) ORDER BY ALL)`,
    ),
    isCut: (await countRows(connection, rows)) > limits.recordedRows,
    isUnrelated: (leads.get(foldCase(name)) ?? null) === null,
  }
}

const wordsOf = (text: string): readonly string[] =>
  tokenize(text).flatMap((token) => nameOf(token) ?? [])

/** `SELECT *`, or a table without a SELECT; too often rather than too seldom. */
function takesAllColumns(text: string): boolean {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const count = (word: string) => tokens.filter((token) => isWord(token, word)).length
  const isStar = tokens.some(
    ({ text: star }, i) =>
      star === '*' &&
      (/^(?:select|,|\.|distinct|all)$/i.test(tokens[i - 1]?.text ?? '') ||
        (tokens[i - 1]?.text === '(' && !isWord(tokens[i - 2], 'count'))),
  )
  return isStar || count('from') > count('select')
}
