// Delta links after a run that changed a hundred rows: what the first reader costs the service in a set of ten times the
// rows, and what a second reader of the same changes costs. In processor time.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Benchmark, median } from './figure.ts'
import { takenByEider } from './processor-time.ts'
import { changedAnew, rowsProject, writeSource } from './publish-apart.ts'
import { sql } from '../../src/core/sql.ts'
import { type Served, serveTable } from './served.ts'

const CHANGES = 100
const ROUNDS = 5
/** Two readers who ask for other rows each. */
const QUESTIONS = ['qty lt 3', 'qty gt 996']

interface Costs {
  readonly first: number
  readonly second: number
}

export const deltaBenchmark: Benchmark = {
  name: 'delta',
  async *run({ quick, rows = quick ? 100_000 : 1_000_000 }) {
    const large = await costsOf(rows)
    const small = await costsOf(rows / 10)
    const ms = (time: number) => `${time.toFixed(1)} ms`
    yield {
      name: `a delta link after ${CHANGES} changes of ${rows.toLocaleString('en-US')} rows / of a tenth of these`,
      ratio: large.first / small.first,
      bound: { at: 'most', ratio: 1.5 },
      measured: `${ms(large.first)} against ${ms(small.first)}`,
    }
    yield {
      name: 'the delta link of a second reader / of the first',
      ratio: large.second / large.first,
      bound: { at: 'most', ratio: 0.1 },
      measured: `${ms(large.second)} against ${ms(large.first)}`,
    }
  },
}

async function costsOf(rows: number): Promise<Costs> {
  await using space = await rowsProject('\n-- @expose id')
  await writeSource(space, sql`SELECT i FROM range(${sql.value(rows)}) AS r(i)`, 0)
  await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
  await using service = await serveTable(space.dir)
  const links = await Promise.all(
    QUESTIONS.map((question) =>
      linkIn(`${service.url}/mart_rows?$filter=${encodeURIComponent(question)}`, {
        prefer: 'track-changes',
      }),
    ),
  )
  const [first, second]: [number[], number[]] = [[], []]
  for (let round = 1; round <= ROUNDS; round++) {
    const before = await stateOf(service)
    await writeSource(space, changedAnew(rows, CHANGES, round), round)
    takenByEider(['run', '--quiet'], space.dir)
    while ((await stateOf(service)) === before) await sleep(50)
    await untilIdle(service)
    for (const [i, costs] of [first, second].entries()) {
      const { processorMs } = await service.cost()
      links[i] = await linkIn(links[i]!)
      costs.push((await service.cost()).processorMs - processorMs)
    }
  }
  return { first: median(first), second: median(second) }
}

/** A service has work of its own with a new state. Measuring alone takes a few milliseconds in half a second. */
async function untilIdle(service: Served): Promise<void> {
  for (let [idle, looks, before] = [0, 0, 0]; idle < 3 && looks < 40; looks++) {
    await sleep(500)
    const { processorMs } = await service.cost()
    idle = processorMs - before < 40 ? idle + 1 : 0
    before = processorMs
  }
}

const stateOf = async ({ url }: Served): Promise<string | null> =>
  (await fetch(url)).headers.get('eider-snapshot')

/** The link to later changes at the end of an answer. */
async function linkIn(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const response = await fetch(url, { headers })
  const json = (await response.json()) as Readonly<Record<string, string>>
  const link = json['@odata.deltaLink']
  if (link === undefined) throw new Error(`no delta link: ${JSON.stringify(json).slice(0, 300)}`)
  return link
}
