// A table of ten columns over HTTP: one row by its key, the first 100 of a filter and an order, a count, sums by a column,
// and all of it. Answers are compared value by value first.

import { writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import type { Workspace } from '../../support/workspace.ts'
import { processorMsOf } from '../../support/processor-time.ts'
import type { Took } from '../processor-time.ts'
import { publishedTable, untilRowFile } from '../served.ts'
import { compareRows, csvRows, type Row } from './equal-rows.ts'
import { inTurn, type PeerBenchmark, type PeerFigure, SHARED } from './peer.ts'

const works = ['lookup', 'page', 'count', 'sums', 'export'] as const
type Work = (typeof works)[number]

interface Question {
  readonly path: string
  /** With it, the request is a POST. */
  readonly body?: string
}

export interface ServedTable extends AsyncDisposable {
  readonly pid: number
  readonly url: string
  /** `n` makes each question another one; for a lookup it is the key. */
  readonly ask: Readonly<Record<Work, (n: number) => Question>>
  /** Rows of an answer: their columns by name; of a count `n`, of sums `flag` and `total`. */
  read(work: Exclude<Work, 'export'>, answer: string): readonly Row[]
  /** All rows of an export, in any order. */
  exported(answer: string): readonly Row[]
}

interface ServedPeer extends Pick<
  PeerBenchmark,
  'name' | 'title' | 'settings' | 'durability' | 'missing'
> {
  readonly goals: Partial<Readonly<Record<Work, number>>>
  readonly exportFormat: 'csv' | 'json'
  /** The rows are in `rows.csv` and `rows.parquet` of the directory of the project. */
  start(space: Workspace, rows: number): Promise<ServedTable>
}

const names: Readonly<Record<Work, string>> = {
  lookup: 'a row by its key',
  page: 'filter, order, the first 100',
  count: 'count of a filter',
  sums: 'sums by a column',
  export: 'all rows',
}

export const servedComparison = (peer: ServedPeer): PeerBenchmark => ({
  ...peer,
  async run({ quick }) {
    const rows = quick ? 100_000 : 1_000_000
    await using space = await publishedTable(rows)
    const settings = `odata:\n  page_size: ${rows}\n  cache_bytes: 0\n`
    await space.write('eider.yml', `name: bench\n${settings}`)
    await using eider = await serveEider(space, peer.exportFormat)
    for (const format of ['csv', 'parquet']) {
      const answer = await fetch(`${eider.url}/odata/mart_rows?$format=${format}`)
      if (answer.status !== 200) throw new Error(`${format}: ${await answer.text()}`)
      await writeFile(space.path(`rows.${format}`), Buffer.from(await answer.arrayBuffer()))
    }
    await using other = await peer.start(space, rows)
    await compareAnswers(eider, other, rows)
    await untilRowFile(eider.url, rows)
    const figures: PeerFigure[] = []
    for (const work of works) {
      const whole = work === 'export'
      for (const connections of whole ? [1] : [1, 16]) {
        const seconds = whole ? 0 : quick ? 1 : 2
        const cost = (table: ServedTable) => () =>
          costOf(table, work, { rows, connections, durationMs: seconds * 1_000 })
        const rounds = quick ? 1 : work === 'lookup' ? 5 : 3
        const costs = await inTurn(rounds, cost(eider), cost(other))
        const clients = connections === 1 ? '' : SHARED
        const goal = connections === 1 ? (peer.goals[work] ?? null) : null
        figures.push({ work: names[work] + clients, ...costs, unit: 'ms', goal })
      }
    }
    return figures
  },
})

async function serveEider(
  space: Workspace,
  exportFormat: ServedPeer['exportFormat'],
): Promise<ServedTable> {
  const service = await space.start(['serve', '--port', '0', '--quiet'])
  const set = (rest: string) => ({ path: `/odata/mart_rows${rest.replaceAll(' ', '%20')}` })
  return {
    pid: service.pid,
    url: new URL(service.url).origin,
    ask: odataQuestions(set, exportFormat === 'csv' ? '?$format=csv' : ''),
    read(work, answer) {
      const value = JSON.parse(answer) as Row & { readonly value?: readonly Row[] }
      return work === 'lookup' ? [withoutNotes(value)] : value.value!.map(withoutNotes)
    },
    exported: (answer) =>
      exportFormat === 'csv'
        ? csvRows(answer)
        : (JSON.parse(answer) as { readonly value: readonly Row[] }).value,
    async [Symbol.asyncDispose]() {
      await service.stop()
    },
  }
}

/** In OData; `set` makes a request of what follows the address of the set. */
export const odataQuestions = (
  set: (rest: string) => Question,
  all: string,
): ServedTable['ask'] => ({
  lookup: (n) => set(`(${n})`),
  page: (n) => set(`?$filter=flag eq true and other gt ${n}&$orderby=ratio desc&$top=100`),
  count: (n) => set(`?$apply=filter(other gt ${n} and flag eq true)/aggregate($count as n)`),
  sums: (n) =>
    set(`?$apply=filter(other gt ${n})/groupby((flag),aggregate(big with sum as total))`),
  export: () => set(all),
})

const withoutNotes = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('@')))

async function compareAnswers(eider: ServedTable, other: ServedTable, rows: number): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const answer = (table: ServedTable, work: Work, n: number) =>
    answerTo(agent, table, table.ask[work](n), true)
  for (const work of works) {
    if (work === 'export') continue
    for (const n of [0, 7, 8, Math.floor(rows / 3), rows - 1]) {
      const [ours, theirs] = [eider, other].map(async (table) =>
        table.read(work, await answer(table, work, n)).toSorted(byFlag),
      )
      compareRows(`${work} ${n}`, await ours!, await theirs!)
    }
  }
  const [ours, theirs] = [eider, other].map(async (table) =>
    table.exported(await answer(table, 'export', 0)).toSorted(byId),
  )
  compareRows('export', await ours!, await theirs!)
  if ((await ours!).length !== rows) throw new Error(`an export has not all of ${rows} rows`)
  agent.destroy()
}

const byFlag = (a: Row, b: Row) =>
  'total' in a ? Number(Boolean(a['flag'])) - Number(Boolean(b['flag'])) : 0

const byId = (a: Row, b: Row) => Number(a['id']) - Number(b['id'])

interface Load {
  readonly rows: number
  readonly connections: number
  /** At least one answer for each connection. */
  readonly durationMs: number
}

const KEY_STEP = 7_919

async function costOf(
  table: ServedTable,
  work: Work,
  { rows, connections, durationMs }: Load,
): Promise<Took> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let [asked, answers] = [0, 0]
  const next = () => table.ask[work]((++asked * KEY_STEP) % rows)
  if (durationMs > 0) await answerTo(agent, table, next(), false)
  const before = await processorMsOf(table.pid)
  const startedAt = performance.now()
  const client = async () => {
    do {
      await answerTo(agent, table, next(), false)
      answers++
    } while (performance.now() - startedAt < durationMs)
  }
  await Promise.all(Array.from({ length: connections }, client))
  const ms = performance.now() - startedAt
  const processorMs = (await processorMsOf(table.pid)) - before
  agent.destroy()
  return { ms: ms / answers, processorMs: processorMs / answers }
}

function answerTo(
  agent: Agent,
  { url }: ServedTable,
  { path, body }: Question,
  keep: boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(url + path, { agent, method }, (response) => {
      const chunks: Buffer[] = []
      const isGood = response.statusCode === 200
      response.on('data', (chunk: Buffer) => (keep || !isGood) && chunks.push(chunk))
      response.once('end', () => {
        const answer = Buffer.concat(chunks).toString()
        if (isGood) resolve(answer)
        else reject(new Error(`${response.statusCode} for ${path} ${body ?? ''}: ${answer}`))
      })
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
