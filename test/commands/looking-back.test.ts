import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/a.sql': '-- @tags: nightly\nselect 1 as id, \'x, "y"\' as v, null as n\n',
  'models/mart/c.sql': '-- @description: All\n-- @expose id\nselect id, v from raw.a\n',
}

const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('history lists runs, and what they did to a model', async () => {
  await using space = await workspace(files)
  assert.match((await space.ok(['history'])).stdout, /no run is recorded/)
  await space.ok(['run'])
  await space.write('models/raw/a.sql', "select error('no') as id, 'v' as v\n")
  await space.ok(['run'], { exitCode: 1 })
  const runs = jsonLines((await space.ok(['history', '--json'])).stdout)
  assert.equal(
    runs.map(({ ok, built, failed, skipped }) => [ok, built, failed, skipped]),
    [
      [false, 0, 1, 1],
      [true, 2, 0, 0],
    ],
  )
  const model = jsonLines((await space.ok(['history', 'MART.c', '--json'])).stdout)
  assert.equal(
    model.map(({ status, rows, because }) => [status, rows, because]),
    [
      ['skipped', null, 'raw.a failed'],
      ['built', 1, 'never built'],
    ],
  )
})

test('doctor says what is amiss and what to do', async () => {
  await using space = await workspace(files)
  const ports = { env: { COLLECT_PORT: '0', ODATA_PORT: '0' } }
  const fresh = await space.ok(['doctor'], ports)
  assert.match(fresh.stdout, /warn +warehouse .*not exist yet\n +next: eider run/)
  await space.ok(['run'])
  const well = jsonLines((await space.ok(['doctor', '--json'], ports)).stdout)
  assert.equal([...new Set(well.map(({ status }) => status))], ['ok'])

  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  const port = new URL(daemon.url).port
  const busy = await space.ok(['doctor'], { env: { COLLECT_PORT: port, ODATA_PORT: '0' } })
  assert.match(busy.stdout, new RegExp(`ok +buffer +held by process ${daemon.pid}`))
  assert.match(busy.stdout, new RegExp(`ok +collect +eider answers on port ${port}`))

  await space.write('.eider/warehouse.duckdb', 'this is no database')
  await rm(space.path('.eider', 'warehouse.duckdb.wal'), { force: true })
  const broken = await space.ok(['doctor'], { ...ports, exitCode: 1 })
  assert.match(broken.stdout, /fail +warehouse .*damaged[^]*next: restore it from a backup/)
})

test.run()
