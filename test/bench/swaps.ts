// The slowest answers to many clients while runs publish, beside those without runs.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Benchmark, type Figure, median } from './figure.ts'
import { getRequest, type LoadResult, measureLoad } from './load.ts'
import { publishedTable, serveTable, TABLE_FILE, tableModel } from './served.ts'

const CONNECTIONS = 16
const RUNS_OF_A_ROUND = 4

export const swapsBenchmark: Benchmark = {
  name: 'swaps',
  async *run({ quick }) {
    const rows = quick ? 200_000 : 1_000_000
    const rounds = quick ? 1 : 5
    const durationMs = quick ? 4_000 : 12_000
    await using space = await publishedTable(rows)
    await using service = await serveTable(space.dir)
    const { port } = service
    const request = getRequest('/odata/mart_rows({key})')
    // Rejects when any answer is none.
    const load = () =>
      measureLoad({
        port,
        request,
        durationMs,
        keys: rows,
        connections: CONNECTIONS,
        pipelined: 1,
        status: 200,
      })
    const [idle, beside]: [LoadResult[], LoadResult[]] = [[], []]
    let runs = 0
    for (let round = 0; round < rounds; round++) {
      idle.push(await load())
      const publishing = (async () => {
        for (let i = 0; i < RUNS_OF_A_ROUND; i++) {
          const pace = sleep(durationMs / RUNS_OF_A_ROUND)
          await space.write(TABLE_FILE, tableModel(rows, ++runs))
          await space.ok(['run', '--quiet'])
          await pace
        }
      })()
      beside.push(await load())
      await publishing
    }
    const p99 = (results: readonly LoadResult[]) => median(results.map(({ p99Ms }) => p99Ms))
    const answers = beside.reduce((sum, result) => sum + result.answers, 0)
    const figure: Figure = {
      name: `99th percentile of a lookup of ${CONNECTIONS} connections while runs publish / without`,
      ratio: p99(beside) / p99(idle),
      bound: { at: 'most', ratio: 2 },
      measured: `${p99(beside).toFixed(1)} ms against ${p99(idle).toFixed(1)} ms; ${runs} runs of ${rows.toLocaleString('en-US')} rows, ${answers.toLocaleString('en-US')} answers, none failed`,
    }
    yield figure
  },
}
