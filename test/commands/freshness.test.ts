// How fresh the service says its sets are, while events come and runs go on.

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readMetrics } from '../support/read-metrics.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FILES = {
  'eider.yml': 'name: shop\n',
  'data/a.csv': 'id\n1\n',
  'models/raw/a.sql': "-- @kind: table\n-- @expose: id\n\nSELECT id FROM read_csv('data/a.csv')\n",
  'models/mart/b.sql':
    '-- @kind: table\n-- @expose: id\n-- @check: id < 10\n\nSELECT id FROM raw.a\n',
}

/** Runs, and gives the interval in which it began. */
async function run(space: Workspace, exitCode = 0): Promise<readonly [number, number]> {
  const beforeMs = Date.now()
  await space.ok(['run', '--quiet'], { exitCode })
  return [beforeMs, Date.now()]
}

test('each set is as fresh as the run that left it complete', async () => {
  await using space = await workspace(FILES)
  await run(space)
  await using service = await space.start(['serve', '--port', '0', '--allow-anonymous'])
  const root = service.url.replace(/\/odata$/, '')
  const freshness = async () => {
    const samples = await readMetrics(`${root}/metrics`, 'eider_odata_')
    const of = (set: string) => Date.now() - 1_000 * samples.get(`freshness_seconds{set="${set}"}`)!
    return { a: of('raw_a'), b: of('mart_b') }
  }
  const healthOf = async () => (await (await fetch(`${root}/health`)).json()) as Health
  const isWithin = (time: number, [fromMs, toMs]: readonly [number, number]) =>
    // The metric is of the moment of its answer, and has milliseconds.
    assert.ok(time > fromMs - 50 && time < toMs + 1_000, `${time} is not in ${fromMs} to ${toMs}`)

  await sleep(1_500)
  const idle = await run(space)
  const { a, b } = await freshness()
  isWithin(a, idle)
  isWithin(b, idle)
  const { fresh_at: freshAt, published_at: publishedAt } = await healthOf()
  isWithin(Date.parse(freshAt!), idle)
  assert.ok(Date.parse(publishedAt!) < idle[0], 'the run found nothing to do')

  await sleep(1_500)
  await space.write('data/a.csv', 'id\n1\n20\n')
  const failed = await run(space, 1)
  for (const deadlineMs = Date.now() + 10_000; Date.now() < deadlineMs; await sleep(50))
    if ((await healthOf()).published_at !== publishedAt) break
  const after = await freshness()
  isWithin(after.a, failed)
  assert.ok(after.b < failed[0] - 1_000, 'the set that failed is as fresh as before')
  assert.is((await healthOf()).fresh_at, freshAt)
})

interface Health {
  readonly published_at: string | null
  readonly fresh_at: string | null
}

test.run()
