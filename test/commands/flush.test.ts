// `eider flush`: the first part of a run, alone.

import { startDaemon } from '../support/daemon-process.ts'
import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: t\n',
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null,\namount bigint\n',
  'models/raw/visits.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/total.sql':
    '-- @expose id\nSELECT 1 AS id, sum(amount)::BIGINT AS total FROM raw.orders\n',
}

async function post(url: string, target: string, body: string): Promise<void> {
  const headers = { 'Content-Type': 'application/json' }
  const answer = await fetch(`${url}/collect/${target}`, { method: 'POST', headers, body })
  assert.is(answer.status, 202)
}

async function collect(space: Workspace, events: readonly (readonly [string, string])[]) {
  await using daemon = await startDaemon(space)
  for (const [target, body] of events) await post(daemon.url, target, body)
}

const query = async (space: Workspace, text: string): Promise<unknown> =>
  JSON.parse((await space.ok(['query', text, '--json'])).stdout || 'null')

test('what waits moves into the tables; nothing is built or published until the next run', async () => {
  await using space = await workspace(files)
  await collect(space, [
    ['raw/orders', '{"id":1,"amount":5}'],
    ['raw/orders', '{"id":2,"amount":7}'],
    ['raw/visits', '{"id":1}'],
  ])
  const { stdout } = await space.ok(['flush'])
  assert.match(
    stdout,
    /^flushed +raw\.orders +2 events\nflushed +raw\.visits +1 event\n3 events in /,
  )
  assert.equal(await query(space, 'SELECT count(*)::INT AS n FROM raw.orders'), { n: 2 })
  assert.not(existsSync(space.path('.eider/snapshots/manifest.json')))
  assert.not(existsSync(space.path('target/run_results.json')))
  assert.match((await space.ok(['flush'])).stdout, /^nothing to flush\n$/)
  await space.ok(['run'])
  assert.equal(await query(space, 'FROM mart.total'), { id: 1, total: '12' })

  await collect(space, [['raw/orders', '{"id":3,"amount":30}']])
  await space.ok(['flush'])
  assert.equal(await query(space, 'FROM mart.total'), { id: 1, total: '12' })
  await space.ok(['run'])
  assert.equal(await query(space, 'FROM mart.total'), { id: 1, total: '42' })
  const { stdout: history } = await space.ok(['history', '--json'])
  assert.is(history.match(/"event":"run"/g)?.length, 2)
})

test('a selector takes some of the events models; others, and models without events, are refused', async () => {
  await using space = await workspace(files)
  await collect(space, [
    ['raw/orders', '{"id":1}'],
    ['raw/visits', '{"id":1}'],
  ])
  const { stdout } = await space.ok(['flush', 'raw.visits', '--json'])
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string })
  assert.equal(
    lines.map(({ event }) => event),
    ['flush-started', 'flush-finished', 'buffer-flushed'],
  )
  assert.match(
    stdout,
    /"flushed":\[\{"model":"raw\.visits","events":1,"rejected":0\}\],"failed":\[\]/,
  )
  const none = await space.ok(['flush', 'mart.total'], { exitCode: 2 })
  assert.match(none.stderr, /none of the selected models takes events/)
  await space.ok(['flush', 'raw.order'], { exitCode: 2 })
  const every = await space.ok(['flush', '--every', '10'], { exitCode: 2 })
  assert.match(every.stderr, /--every takes a time from 100ms to 1d, not "10"/)
  assert.match((await space.ok(['flush'])).stdout, /^flushed +raw\.orders +1 event\n/)
})

test('a model that does not compile is said, and the others are flushed', async () => {
  await using space = await workspace(files)
  await collect(space, [
    ['raw/orders', '{"id":1}'],
    ['raw/visits', '{"id":1}'],
  ])
  await space.write('models/raw/visits.sql', '-- @kind: events\nid bigin not null\n')
  const { stdout } = await space.ok(['flush'], { exitCode: 1 })
  assert.match(
    stdout,
    /^flushed +raw\.orders +1 event\nfailed +raw\.visits +models\/raw\/visits\.sql:2:/,
  )
  assert.match((await space.ok(['collect', 'status'])).stdout, /raw\.visits +1/)
})

test('with --every it goes on beside the daemon until it is told to stop', async () => {
  await using space = await workspace(files)
  await using daemon = await startDaemon(space)
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  await post(daemon.url, 'raw/orders', '{"id":1}')
  await using flush = await space.start(['flush', '--every', '100ms'], {
    env,
    ready: 'buffer-flushed',
  })
  await post(daemon.url, 'raw/orders', '{"id":2}')
  await until(() => flush.stdout().match(/"event":"buffer-flushed"/g)?.length === 2)
  await space.write('eider.yml', 'name: [\n')
  await until(() => flush.stderr().includes('YAML'))
  await space.write('eider.yml', 'name: t\n')
  await post(daemon.url, 'raw/visits', '{"id":1}')
  await until(() => flush.stdout().includes('{"model":"raw.visits","events":1,"rejected":0}'))
  assert.is(flush.stderr().match(/not valid YAML/g)?.length, 1)
  assert.is(await flush.stop('SIGTERM'), 0)
  assert.equal(await query(space, 'SELECT count(*)::INT AS n FROM raw.orders'), { n: 2 })
})

test.run()
