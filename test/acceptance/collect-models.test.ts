// Models change on disk while the daemon is running.

import { rename, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { workspace } from '../support/workspace.ts'
import { startDaemon, healthOf, queryWarehouse, runBeside } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'
import { until } from '../support/until.ts'

const project = {
  'eider.yml': 'name: reload\n',
  'models/raw/events.sql': '-- @kind: events\nid BIGINT NOT NULL',
}

test('E082 a column that is added is taken without a restart; older events flush into the wider table', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space)
  const url = `${daemon.url}/collect/raw/events`
  assert.is((await postJson(url, { id: 1 })).status, 202)
  await space.write('models/raw/events.sql', '-- @kind: events\nid BIGINT NOT NULL, price INTEGER')
  const refused = await until(
    () => postJson(url, { id: 0, price: 'x' }),
    ({ status }) => status !== 202,
  )
  assert.is(refused.status, 400)
  assert.is((await postJson(url, { id: 2, price: 5 })).status, 202)
  await runBeside(space, daemon)
  const rows = await queryWarehouse(
    space,
    sql`SELECT id, price FROM raw.events WHERE id > 0 ORDER BY id`,
  )
  assert.equal(rows, [
    { id: '1', price: null },
    { id: '2', price: 5 },
  ])
})

test('E082 a model with a mistake changes nothing, and health says since when', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space)
  const url = `${daemon.url}/collect/raw/events`
  const before = new Date().toISOString()
  await space.write('models/raw/more.sql', '-- @kind: events\nid BIGINT')
  await space.write('models/raw/events.sql', '-- @kind: events\nid BIGINTT NOT NULL')
  const health = await until(
    () => healthOf(daemon),
    ({ models }) => models === 'stale',
  )
  assert.is(health['status'], 'ok')
  assert.ok(String(health['stale_since']) >= before)
  assert.is((await postJson(url, { id: 1 })).status, 202, 'the last good model holds')
  assert.is((await postJson(url, { id: 'x' })).status, 400)
  assert.is(
    (await postJson(`${daemon.url}/collect/raw/more`, { id: 1 })).status,
    404,
    'all or nothing',
  )
  const lines = daemon.stderr().split('\n').filter(Boolean)
  const mistake = lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .find(({ event }) => event === 'model-mistake')
  assert.is(mistake?.['code'], 'invalid-column-type')
  assert.match(String(mistake?.['at']), /^models\/raw\/events\.sql:2:/)

  await space.write('models/raw/events.sql', project['models/raw/events.sql'])
  const healed = await until(
    () => healthOf(daemon),
    ({ models }) => models === 'current',
  )
  assert.is(healed['stale_since'], undefined)
  assert.is((await postJson(`${daemon.url}/collect/raw/more`, { id: 1 })).status, 202)
})

test('E082 the events of a model that is removed stay until it is back', async () => {
  await using space = await workspace({
    ...project,
    'models/raw/other.sql': '-- @kind: events\nid BIGINT',
  })
  await using daemon = await startDaemon(space)
  const url = `${daemon.url}/collect/raw/events`
  assert.is((await postJson(url, { id: 1 })).status, 202)
  const away = space.path('events.away')
  await rename(space.path('models/raw/events.sql'), away)
  await until(
    () => postJson(url, { id: 2 }),
    ({ status }) => status === 404,
  )
  await runBeside(space, daemon)
  const health = await healthOf(daemon)
  assert.ok(Number(health['events']) >= 1, 'the run has left them')
  await rename(away, space.path('models/raw/events.sql'))
  await until(
    () => postJson(url, { id: 3 }),
    ({ status }) => status === 202,
  )
  await runBeside(space, daemon)
  const ids = (
    await queryWarehouse(space, sql`SELECT DISTINCT id FROM raw.events ORDER BY id`)
  ).map(({ id }) => id)
  assert.is(ids[0], '1')
  assert.is(ids.at(-1), '3')
})

test('an eider.yml that is gone, or has mistakes, ends no daemon', async () => {
  await using space = await workspace(project)
  await using daemon = await startDaemon(space)
  await rm(space.path('eider.yml'))
  await until(
    () => healthOf(daemon),
    ({ models }) => models === 'stale',
  )
  await space.write('eider.yml', 'name: reload\ncollect:\n  port: 1\n')
  await until(
    () => healthOf(daemon),
    ({ models }) => models === 'current',
  )
  assert.is((await postJson(`${daemon.url}/collect/raw/events`, { id: 1 })).status, 202)
})

test.run()
