// One client whose requests go to two services in turn, as behind a load balancer, while states are published: with
// `odata.take_up_seconds` both have a state before either shows it, so that each next link is honoured by both.
//
// EIDER_LAKE_STATES=20 publishes so many.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { withLake } from '../support/lake/with-lake.ts'
import type { Workspace } from '../support/workspace.ts'

const STATES = Number(process.env['EIDER_LAKE_STATES'] ?? 2)
const ROWS = 40
const given = { timeoutMs: 180_000 }
const env = { ODATA_SECRET: 'ab'.repeat(32) }

const model = (state: number) =>
  `-- @expose id\nSELECT i AS id, ${state} AS state FROM range(${ROWS}) AS r(i)\n`

interface Page {
  readonly '@odata.nextLink'?: string
  readonly value: readonly { readonly state: number }[]
}

lakeTest('two services behind one client show no state that the other does not have', async () => {
  await using lake = await withLake()
  const files = { 'models/mart/rows.sql': model(0) }
  await using runner = await lakeProject(lake, files)
  const settings = `odata:\n  page_size: 5\n  keep_snapshots: ${STATES + 2}\n  take_up_seconds: 8\n`
  const withSettings = async (space: Workspace) =>
    space.write('eider.yml', (await readFile(space.path('eider.yml'), 'utf8')) + settings)
  await using one = await lakeProject(lake, files)
  await using other = await lakeProject(lake, files)
  for (const space of [runner, one, other]) await withSettings(space)
  await runner.ok(['run'], given)
  for (const space of [one, other]) await space.ok(['pull'], given)
  await using a = await one.start(['serve', '--port', '0'], { env })
  await using b = await other.start(['serve', '--port', '0'], { env })
  let isOver = false
  const pulling = [one, other].map(async (space) => {
    while (!isOver) await space.ok(['pull'], given)
  })
  const seen = new Set<number>()
  const reading = (async () => {
    for (let turn = 0; !isOver || !seen.has(STATES); turn++) {
      const states: number[] = []
      let next: string | undefined = `${a.url}/mart_rows`
      for (let page = turn; next !== undefined; page++) {
        const answer: Response = await fetch(next.replace(a.url, [a.url, b.url][page % 2]!))
        assert.is(answer.status, 200, `${next}: ${answer.status}`)
        const body = (await answer.json()) as Page
        states.push(...body.value.map(({ state }) => state))
        next = body['@odata.nextLink']?.replace(b.url, a.url)
      }
      assert.is(states.length, ROWS)
      assert.is(new Set(states).size, 1, `rows of the states ${[...new Set(states)].join(', ')}`)
      seen.add(states[0]!)
    }
  })()
  const publishing = (async () => {
    for (let state = 1; state <= STATES; state++) {
      await runner.write('models/mart/rows.sql', model(state))
      await runner.ok(['run'], given)
    }
    // The last is shown when its time has come.
    while (!seen.has(STATES)) await new Promise((resolve) => setTimeout(resolve, 100))
  })()
  const first = await Promise.race([reading, publishing, ...pulling].map(settled))
  isOver = true
  const all = [first, ...(await Promise.all([reading, publishing, ...pulling].map(settled)))]
  assert.equal(all.filter((problem) => problem !== null).map(String), [])
  assert.ok(seen.has(0) && seen.has(STATES))
})

const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

test.run()
