// Random questions of numbers, asked by each way that there is: of the set by the names of its measures, of a rollup that
// can answer, by an assistant, by the request of a chart of the explorer, and in SQL of the table that is written by hand.
//
// EIDER_QUESTIONS=500 asks so many, and EIDER_QUESTIONS_SEED=2 begins elsewhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Connection, Database } from '../../../src/duckdb/database.ts'
import { createCatalogReader } from '../../../src/explorer/catalog.ts'
import { type AnswerRow, chartRequest } from '../../../src/explorer/page/chart/chart-data.ts'
import { type ChartState, readChartState } from '../../../src/explorer/page/chart/chart-state.ts'
import type { TimeUnit } from '../../../src/explorer/page/chart/time-units.ts'
import { openDoor } from '../../../src/mcp/over-http.ts'
import { writeFiles } from '../../support/golden.ts'
import { ask, type Served, serveSnapshots } from '../../support/odata-service.ts'
import { runProject } from '../../support/pipeline-project.ts'
import {
  dimensions,
  fits,
  measures,
  moment,
  ORDERS,
  type Question,
  randomQuestion,
  rollups,
  units,
} from '../../support/random-questions.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

const QUESTIONS = Number(process.env['EIDER_QUESTIONS'] ?? 40)
const SEED = Number(process.env['EIDER_QUESTIONS_SEED'] ?? 1)

/** How $apply asks for a unit of time, and the number of it by what it computes. */
function timeOf(unit: TimeUnit, path: string) {
  const day = (text: unknown) => Date.parse(String(text)) / 86_400_000
  const forms: Readonly<Record<TimeUnit, readonly [string[], (parts: unknown[]) => number]>> = {
    hour: [[`date(${path})`, `hour(${path})`], ([d, h]) => day(d) * 24 + Number(h)],
    day: [[path === 'ordered_at' ? `date(${path})` : path], ([d]) => day(d)],
    week: [
      [`floor(totalseconds(${path} sub ${moment(path, '1970-01-05')}) divby 604800)`],
      ([week]) => Number(week),
    ],
    month: [[`year(${path})`, `month(${path})`], ([y, m]) => (+y! - 1970) * 12 + +m! - 1],
    quarter: [
      [`year(${path})`, `(month(${path}) sub 1) div 3`],
      ([y, q]) => (+y! - 1970) * 4 + +q!,
    ],
    year: [[`year(${path})`], ([y]) => +y! - 1970],
  }
  const [expressions, indexOf] = forms[unit]
  return { expressions, indexOf }
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Groups and measures of each row as a line, in no order: numbers with all of their digits, without zeros at their ends. */
const linesOf = (rows: readonly (readonly unknown[])[]): readonly string[] =>
  rows.map((row) => row.map(textOf).join(' | ')).toSorted()

function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  const text = `${value as string | number | bigint}`
  if (/^-?\d+\.\d+$/.test(text)) return text.replace(/\.?0+$/, '')
  return text.replace(/^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.0+)?Z?$/, '$1 $2')
}

/** JSON in which numbers are texts, since a number of JavaScript has not all of the digits. */
const parsed = (text: string) =>
  JSON.parse(text.replaceAll(/(?<=":)-?\d[\d.eE+-]*(?=[,}])/g, '"$&"'))

function applyOf({ measures: names, by, unit, filter }: Question, time: string): string {
  const total = `aggregate(${names.join()})`
  const expressions = unit === null ? [] : timeOf(unit, time).expressions
  const keys = [...expressions.map((_, i) => `t${i}`), ...by]
  return [
    ...(filter === null ? [] : [`filter(${filter.text(time)})`]),
    ...(expressions.length === 0
      ? []
      : [`compute(${expressions.map((one, i) => `${one} as t${i}`).join()})`]),
    keys.length === 0 ? total : `groupby((${keys.join()}),${total})`,
  ].join('/')
}

function readApplied({ measures: names, by, unit }: Question, rows: Rows): readonly string[] {
  const time = unit === null ? null : timeOf(unit, 'x')
  return linesOf(
    rows.map((row) => {
      const parts = time?.expressions.map((_, i) => row[`t${i}`])
      const index = parts?.some((part) => part === null) ? null : time?.indexOf(parts!)
      return [...(time === null ? [] : [index]), ...[...by, ...names].map((name) => row[name])]
    }),
  )
}

class Asker {
  readonly #served: Served
  readonly #connection: Connection

  constructor(served: Served, connection: Connection) {
    this.#served = served
    this.#connection = connection
  }

  async sql({ measures: names, by, unit, filter }: Question): Promise<readonly string[]> {
    const keys = [...(unit === null ? [] : [units[unit]]), ...by.map((name) => sql.ident(name))]
    const columns = [...keys, ...names.map((name) => measures[name]!)]
    const texts = columns.map((one, i) => sql`CAST(${one} AS VARCHAR) AS ${sql.ident(`c${i}`)}`)
    const where = filter === null ? sql.empty : sql` WHERE ${filter.sql}`
    const groups = keys.length === 0 ? sql.empty : sql` GROUP BY ${sql.join(keys)}`
    const rows = await this.#connection.rows(
      sql`SELECT ${sql.join(texts)} FROM core.orders${where}${groups}`,
    )
    return linesOf(rows.map((row) => Object.values(row)))
  }

  async odata(asked: Question, set: string, time: string): Promise<readonly string[]> {
    return readApplied(asked, await this.#rows(set, applyOf(asked, time)))
  }

  async #rows(set: string, apply: string): Promise<Rows> {
    const target = `${set}?$apply=${encodeURIComponent(apply)}`
    const { status, text } = await this.#served.get(target)
    assert.is(status, 200, `${set}?$apply=${apply}: ${text}`)
    return parsed(text).value
  }

  async assistant(asked: Question): Promise<readonly string[]> {
    const rows: Rows[] = []
    let args: object | null = { set: 'core_orders', apply: applyOf(asked, 'ordered_at') }
    while (args !== null) {
      const { text } = await ask(new URL('/mcp', this.#served.url).href, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'query', arguments: args },
        }),
      })
      const { content, isError } = JSON.parse(text).result
      assert.not(isError, content[0].text)
      const answer = parsed(content[0].text)
      rows.push(answer.rows)
      assert.is(answer.cut === undefined, answer.next === undefined, answer.cut)
      args = answer.next === undefined ? null : { request: answer.next }
    }
    return readApplied(asked, rows.flat())
  }

  /** A chart has one measure, along one dimension or a time, and one more dimension as colours. */
  async chart({ measures: names, by, unit, filter }: Question): Promise<readonly string[]> {
    const [x, colour = null] = unit === null ? by : ['ordered_at', ...by]
    const state: ChartState = {
      ...readChartState(new URLSearchParams()),
      x: x!,
      y: names[0]!,
      method: 'measure',
      by: colour,
      first: Infinity,
      filter: filter?.text('ordered_at') ?? null,
    }
    const edm = unit === null ? 'Edm.String' : 'Edm.DateTimeOffset'
    const column = { name: x!, edm, isList: false, scale: undefined }
    const grouping = unit === null ? ({ by: 'value' } as const) : ({ by: 'time', unit } as const)
    const properties = ['order_id', ...dimensions, 'ordered_at', ...Object.keys(measures)]
    const request = chartRequest(state, grouping, { x: column, names: properties })
    const rows = (await this.#rows('core_orders', request.apply)) as readonly AnswerRow[]
    return linesOf(
      request
        .read(rows)
        .map(({ group, colour: of, value }) => [group, ...(colour === null ? [] : [of]), value]),
    )
  }
}

test('random questions have one answer to the digit, whoever is asked', async () => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'questions' }))
  await writeFiles(dir, [{ path: 'models/core/orders.sql', content: Buffer.from(ORDERS) }])
  await runProject(paths)
  const failures: unknown[] = []
  const door = openDoor({
    version: '1',
    origins: [],
    catalogOf: createCatalogReader({ project: 'p', shows: 'project', find: async () => null }),
    onFailure: (error) => failures.push(error),
  })
  const served = await serveSnapshots(resources, paths.snapshots, { door })
  const database = resources.use(await Database.open({ path: paths.database, readOnly: true }))
  const asker = new Asker(served, resources.use(await database.connect()))
  const random = seededRandom(SEED)
  const asked = { rows: 0, rollups: 0, charts: 0 }
  for (let n = 0; n < QUESTIONS; n++) {
    const one = randomQuestion(random)
    const about = `seed ${SEED}, question ${n}: ${applyOf(one, 'ordered_at')}`
    const right = await asker.sql(one)
    asked.rows += right.length
    assert.equal(await asker.odata(one, 'core_orders', 'ordered_at'), right, about)
    assert.equal(await asker.assistant(one), right, `assistant, ${about}`)
    for (const rollup of rollups.filter((each) => fits(each, one))) {
      const rolled = await asker.odata(one, rollup.set, rollup.time)
      assert.equal(rolled, right, `${rollup.set}, ${about}`)
      asked.rollups++
    }
    const groups = one.by.length + (one.unit === null ? 0 : 1)
    if (groups === 0 || groups > 2) continue
    const drawn = { ...one, measures: one.measures.slice(0, 1) }
    assert.equal(await asker.chart(drawn), await asker.sql(drawn), `chart, ${about}`)
    asked.charts++
  }
  assert.equal(failures, [])
  assert.ok(asked.rollups >= QUESTIONS / 10 && asked.charts >= QUESTIONS / 4, JSON.stringify(asked))
  if (process.env['EIDER_QUESTIONS'] !== undefined)
    process.stdout.write(`${JSON.stringify(asked)}\n`)
})

test.run()
