// A project that an earlier version left is opened, planned, run and served as if this one had made it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { unpackProject } from './old-project.ts'

const VERSIONS = ['0.1.0']

async function oldProject(version: string): Promise<Workspace> {
  const space = await workspace()
  await unpackProject(version, space.dir)
  return space
}

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

for (const version of VERSIONS) {
  test(`${version}: what there is is planned as it was left, and history goes on`, async () => {
    await using space = await oldProject(version)
    const { stdout } = await space.ok(['plan', '--json'])
    const steps = linesOf(stdout).filter(({ event }) => event === 'step')
    assert.equal(Object.fromEntries(steps.map(({ model, action }) => [model, action])), {
      'core.prices': 'unchanged',
      'core.history': 'unchanged',
      'core.log': 'unchanged',
      'raw.orders': 'build',
      'raw.visits': 'unchanged',
      'core.orders': 'build',
      'ref.countries': 'unchanged',
      'mart.countries': 'build',
      'mart.busy': 'build',
    })
    const runs = linesOf((await space.ok(['history', '--json'])).stdout)
    assert.equal(runs.at(-1), { event: 'history-finished', runs: 6 })
    const macro = await space.ok(['query', 'SELECT twice(4) AS eight', '--format', 'csv'])
    assert.is(macro.stdout, 'eight\r\n8\r\n')
  })

  test(`${version}: what waits is flushed once, and nothing else is built`, async () => {
    await using space = await oldProject(version)
    const run = await space.ok(['run', '--json'])
    const finished = linesOf(run.stdout).filter(({ event }) => event === 'model-finished')
    const built = finished
      .filter(({ status }) => status === 'built')
      .map(({ model }) => String(model))
    assert.equal(built.toSorted(), ['core.orders', 'mart.busy', 'mart.countries', 'raw.orders'])
    const rows = await space.ok(['query', 'FROM mart.countries ORDER BY ALL', '--format', 'csv'])
    assert.is(
      rows.stdout,
      'country,name,orders,amount\r\nNO,Norway,1,10.25\r\nSE,Sweden,2,10.50\r\n',
    )
    const again = await space.ok(['run'])
    assert.match(again.stdout, / 9 unchanged/)
  })

  test(`${version}: a change is built, and histories keep their rows`, async () => {
    await using space = await oldProject(version)
    await space.write(
      'models/core/prices.sql',
      '-- @kind: table\n\nSELECT i::INTEGER AS id, twice(i) + 1 AS price FROM range(5) AS t(i)\n',
    )
    await space.ok(['run'])
    const query = async (text: string) =>
      (await space.ok(['query', text, '--format', 'csv'])).stdout.split('\r\n')[1]
    assert.is(await query('SELECT count(*) FROM core.log'), '5')
    assert.is(await query('SELECT count(*) FROM core.history'), '9')
    await space.ok(['mv', 'core.log', 'core.entries'])
    assert.is(await query('SELECT count(*) FROM core.entries'), '5')
  })

  test(`${version}: it is served, and takes events, before the first run`, async () => {
    await using space = await oldProject(version)
    await using service = await space.start(['odata', 'serve', '--port', '0'])
    const get = async () => {
      const answer = await fetch(`${service.url}/mart_countries?$orderby=country`)
      return ((await answer.json()) as { value: unknown }).value
    }
    const before = [
      { country: 'NO', name: 'Norway', orders: 1, amount: 10.25 },
      { country: 'SE', name: 'Sweden', orders: 1, amount: 3 },
    ]
    assert.equal(await get(), before)
    await using daemon = await startDaemon(space)
    const answer = await fetch(`${daemon.url}/collect/raw/visits`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"page":"/"}',
    })
    assert.is(answer.status, 202)
  })
}

test.run()
