// `eider up` as a user starts it: real processes, killed and stopped.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { queryWarehouse } from '../support/daemon-process.ts'
import { receiver } from '../support/notified.ts'
import { until } from '../support/until.ts'
import { freePorts, lives, seen, startUp } from '../support/up-process.ts'
import { workspace } from '../support/workspace.ts'

const project = (more = '') => ({
  'eider.yml': `name: shop\n${more}`,
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/all_e.sql': '-- @expose id\nselect id from raw.e\n',
})
const EVERY_SECOND = 'schedule:\n  runs:\n    - { name: often, every: 1 second }\n'

/** Posts until it is accepted: a daemon that is started again refuses connections for a while. */
async function post(collectUrl: string, id: number): Promise<void> {
  await until(() =>
    fetch(`${collectUrl}/collect/raw/e`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ id }),
    }).then(
      ({ status }) => status === 202,
      () => false,
    ),
  )
}

const rowsOf = async (odataUrl: string): Promise<readonly number[]> => {
  const answer = await fetch(`${odataUrl}/mart_all_e?$orderby=id`).catch(() => null)
  if (answer?.status !== 200) return []
  return ((await answer.json()) as { value: readonly { id: number }[] }).value.map(({ id }) => id)
}

test('events come in, runs go by the schedule, and the service shows them; SIGTERM ends all', async () => {
  await using space = await workspace(project(EVERY_SECOND))
  const up = await startUp(space)
  await post(up.ready.collect_url!, 1)
  await until(
    () => rowsOf(up.ready.odata_url!),
    (rows) => rows.length === 1,
  )
  const finished = await up.saw('scheduled-run-finished', 1)
  assert.is(finished.status, 'ok')
  assert.is(finished.name, 'often')
  assert.ok(finished.run_id !== null && finished.ms > 0)
  const pids = (await up.state()).services.map(({ pid }) => pid!)
  assert.is(pids.length, 2)
  assert.is(await up.running.stop(), 0)
  assert.equal(pids.filter(lives), [])
  const after = await up.state()
  assert.equal(
    after.services.map(({ state, pid }) => [state, pid]),
    [
      ['stopped', null],
      ['stopped', null],
    ],
  )
  assert.equal(
    after.runs.map(({ working }) => working),
    [null],
  )
})

test('a run that is due while one works starts after it, once, and the times between are counted', async () => {
  // A first run longer than the time between two is there on any machine.
  const slow = { 'models/mart/slow.sql': 'select sleep_ms(3_000) as waited\n' }
  await using space = await workspace({ ...project(EVERY_SECOND), ...slow })
  const up = await startUp(space)
  await up.saw('scheduled-run-skipped', 2)
  await up.saw('scheduled-run-finished', 2)
  assert.is(await up.running.stop(), 0)
  const order = up.running
    .stdout()
    .split('\n')
    .flatMap((line) => /"event":"scheduled-run-(started|finished)"/.exec(line)?.[1] ?? [])
  for (const [i, step] of order.entries())
    assert.is(step, i % 2 === 0 ? 'started' : 'finished', order.join(' '))
  const skipped = up.all('scheduled-run-skipped')
  assert.equal(
    skipped.map((event) => event.skipped),
    skipped.map((_, i) => i + 1),
  )
  assert.is((await up.state()).runs[0]!.skipped, skipped.length)
})

test('a killed child is started again on its port, takes no other along, and no accepted event is lost', async () => {
  await using space = await workspace(project(EVERY_SECOND))
  const up = await startUp(space)
  const { collect_url: collect, odata_url: odata } = up.ready
  const serve = await up.pidOf('serve')
  await post(collect!, 1)
  process.kill(await up.pidOf('collect'), 'SIGKILL')
  await post(collect!, 2)
  assert.is(await up.pidOf('serve'), serve)
  const ended = await up.saw('service-ended', 1)
  assert.equal([ended.service, ended.because, ended.again_in_ms], ['collect', 'SIGKILL', 1000])
  const working = await until(up.state, ({ runs }) => runs[0]!.working !== null)
  process.kill(working.runs[0]!.working!.pid, 'SIGKILL')
  await post(collect!, 3)
  const collected = await up.pidOf('collect')
  process.kill(serve, 'SIGKILL')
  await post(collect!, 4)
  await until(
    () => rowsOf(odata!),
    (rows) => rows.length >= 4,
  )
  assert.equal(await rowsOf(odata!), [1, 2, 3, 4])
  assert.is(await up.pidOf('collect'), collected)
  assert.is(await up.running.stop(), 0)
  const failed = up.all('scheduled-run-finished').filter(({ status }) => status === 'failed')
  assert.ok(failed.some(({ reason }) => reason === 'SIGKILL'))
})

test('children of a killed supervisor end, and the next one starts beside nobody', async () => {
  await using space = await workspace(project())
  const ports = { COLLECT_PORT: '0', COLLECT_ADMIN_PORT: '0', ODATA_PORT: '0' }
  const first = await startUp(space, [], { env: ports })
  const [collect, serve] = [await first.pidOf('collect'), await first.pidOf('serve')]
  await post(first.ready.collect_url!, 1)
  await first.running.stop('SIGKILL')
  const port = (url: string | null) => new URL(url!).port
  const same = {
    COLLECT_PORT: port(first.ready.collect_url),
    COLLECT_ADMIN_PORT: port(first.ready.admin_url),
    ODATA_PORT: port(first.ready.odata_url),
  }
  const second = await startUp(space, ['--run-now'], { env: same })
  await until(() => !lives(collect) && !lives(serve))
  await until(
    () => rowsOf(second.ready.odata_url!),
    (rows) => rows.length === 1,
  )
  assert.is(await second.running.stop('SIGINT'), 0)
})

test('a second supervisor of the same project is refused', async () => {
  await using space = await workspace(project())
  const up = await startUp(space)
  const refused = await space.ok(['up'], { env: freePorts, exitCode: 3 })
  assert.match(refused.stderr, `eider up is already running here: process ${up.running.pid}`)
  assert.match(refused.stderr, 'hint: eider status')
  assert.ok(lives(await up.pidOf('collect')))
})

test('a service that cannot start ends all, and says why', async () => {
  await using space = await workspace(project())
  await using taken = await receiver()
  const env = { ...freePorts, ODATA_PORT: String(taken.port) }
  const { stderr } = await space.ok(['up'], { env, exitCode: 3 })
  assert.match(stderr, `port ${taken.port}`)
  assert.match(stderr, 'error: serve does not start: exit code 3')
})

test('a mistake in the schedule is refused before anything starts', async () => {
  await using space = await workspace(
    project('schedule:\n  runs:\n    - { every: 1 minute, select: [mart.al_e] }\n'),
  )
  const { stderr, stdout } = await space.ok(['up'], { env: freePorts, exitCode: 1 })
  assert.match(stderr, 'eider.yml:4:35 error schedule-selector: the scheduled run "every 1 minute"')
  assert.match(stderr, 'did you mean "mart.all_e"?')
  assert.is(stdout, '')
  assert.match((await space.ok(['check'], { exitCode: 1 })).stdout, 'error schedule-selector')
})

test('notify tells of the first failure, of recovery and of lateness, once each', async () => {
  await using hook = await receiver()
  await using space = await workspace(
    project(
      `${EVERY_SECOND}notify:\n  webhook: http://127.0.0.1:\${HOOK_PORT}/\${HOOK_TOKEN}\n  late_after: 1 second\n  command: cat >> told.ndjson\n`,
    ),
  )
  await space.write('models/mart/bad.sql', "select error('not today') as id\n")
  const env = { HOOK_PORT: String(hook.port), HOOK_TOKEN: 'sesame' }
  hook.answers.push(503)
  const up = await startUp(space, [], { env })
  const of = (event: string) => hook.received.filter((one) => one.event === event)
  // The first answer was 503.
  await until(() => of('failed').length + of('late').length === 3)
  await until(
    () => up.all('scheduled-run-finished').filter(({ status }) => status === 'failed').length >= 2,
  )
  await space.write('models/mart/bad.sql', 'select 1 as id\n')
  await until(() => of('recovered').length === 1)
  await until(() => up.all('notified').length === 6)
  assert.is(await up.running.stop(), 0)
  const [failed] = of('failed')
  assert.match(failed!.text, 'shop: the run "often" failed: mart.bad: ')
  assert.match(failed!.run!.failing[0]!.because, 'not today')
  assert.equal(
    [failed!.project, failed!.failures, failed!.schedule?.when],
    ['shop', 1, 'every 1 second'],
  )
  assert.match(of('recovered')[0]!.text, /recovered after [2-9] failures/)
  assert.match(of('late')[0]!.text, 'is late: it was due at 20')
  const told = up.all('notified').map(({ on, by, ok }) => `${on} ${by} ${ok}`)
  assert.equal(told.toSorted(), [
    'failed command true',
    'failed webhook true',
    'late command true',
    'late webhook true',
    'recovered command true',
    'recovered webhook true',
  ])
  const said = [up.running.stdout(), up.running.stderr(), JSON.stringify(await up.state())].join()
  assert.not.match(said, 'sesame')
})

test('a set that is further behind than it promises is told of once, and once when it is fresh again', async () => {
  await using hook = await receiver()
  await using space = await workspace(
    project(`${EVERY_SECOND}notify:\n  webhook: http://127.0.0.1:\${HOOK_PORT}\n`),
  )
  await space.write(
    'models/mart/bad.sql',
    "-- @expose\n-- @fresh: 2 s\nselect error('not today') as id\n",
  )
  const up = await startUp(space, [], { env: { HOOK_PORT: String(hook.port) } })
  const behind = await up.saw('set-behind', 1)
  assert.equal([behind.name, behind.fresh_at, behind.fresh_within], ['mart_bad', null, 2])
  const { stdout } = await space.ok(['status'], { exitCode: 1 })
  assert.match(stdout, /mart_bad is behind: no run has left it complete, and @fresh allows 2 s/)
  await space.write('models/mart/bad.sql', '-- @expose\n-- @fresh: 30 s\nselect 1 as id\n')
  assert.is((await up.saw('set-fresh', 1)).name, 'mart_bad')
  const of = (event: string) => hook.received.filter((one) => one.event === event)
  await until(() => of('recovered').some(({ set }) => set !== undefined))
  assert.is(of('behind').length, 1)
  assert.match(of('behind')[0]!.text, /^shop: mart_bad is behind: /)
  assert.equal(of('behind')[0]!.schedule, null)
  assert.is(of('behind')[0]!.set?.fresh_within, 2)
  assert.is(await up.running.stop(), 0)
  assert.not.match((await space.eider(['status'])).stdout, /is behind/)
})

test('a webhook whose variable is not set is refused at its place, by up alone', async () => {
  await using space = await workspace(
    project('notify:\n  webhook: https://x.example/${HOOK_TOKEN}\n'),
  )
  const { stderr } = await space.ok(['up'], { env: freePorts, exitCode: 1 })
  assert.match(stderr, 'eider.yml:3:12 error secret-not-set: "notify.webhook" needs HOOK_TOKEN')
  await space.ok(['run'])
  await space.ok(['check'])
})

test('a time that passed while nobody was there is made up for once', async () => {
  await using space = await workspace(
    project("schedule:\n  timezone: UTC\n  runs:\n    - { name: nightly, cron: '0 3 * * *' }\n"),
  )
  const first = await startUp(space)
  assert.equal(first.all('scheduled-run-started'), [])
  await first.running.stop()
  const state = await first.state()
  const threeDaysAgo = new Date(Date.parse(state.runs[0]!.next!) - 3 * 86_400_000).toISOString()
  const runs = [{ ...state.runs[0], next: threeDaysAgo }]
  await space.write('.eider/up.json', JSON.stringify({ ...state, runs }))
  const second = await startUp(space)
  const finished = await second.saw('scheduled-run-finished', 1)
  assert.is(finished.status, 'ok')
  assert.is(second.all('scheduled-runs-missed')[0]!.missed, 2)
  assert.is(await second.running.stop(), 0)
  assert.is(second.all('scheduled-run-started').length, 1)
})

test('a second Ctrl-C ends all at once', async () => {
  await using space = await workspace(project())
  const up = await startUp(space)
  const pids = [await up.pidOf('collect'), await up.pidOf('serve')]
  // It does not answer SIGTERM.
  process.kill(pids[1]!, 'SIGSTOP')
  process.kill(up.running.pid, 'SIGINT')
  await up.saw('up-stopping', 1)
  assert.is(await up.running.stop('SIGINT'), 130)
  await until(() => !pids.some(lives))
})

test('a run is stopped whole', async () => {
  await using space = await workspace({
    ...project(EVERY_SECOND),
    'models/mart/slow.sql':
      'select sum(a.range * b.range) as id from range(1000000) a, range(1000000) b\n',
  })
  const up = await startUp(space)
  await post(up.ready.collect_url!, 1)
  const { runs } = await until(up.state, (state) => state.runs[0]!.working !== null)
  await up.saw('scheduled-run-skipped', 2)
  assert.is(await up.running.stop(), 0)
  assert.not.ok(lives(runs[0]!.working!.pid))
  assert.is(up.all('scheduled-run-finished')[0]!.status, 'stopped')
  await space.write('models/mart/slow.sql', 'select 1 as id\n')
  await space.ok(['run'])
  assert.equal(await queryWarehouse(space, sql`SELECT id::INTEGER AS id FROM raw.e`), [{ id: 1 }])
})

test('every event of up was looked at', () => {
  assert.equal([...seen].toSorted(), [
    'notified',
    'run-late',
    'scheduled-run-finished',
    'scheduled-run-skipped',
    'scheduled-run-started',
    'scheduled-runs-missed',
    'service-ended',
    'service-started',
    'set-behind',
    'set-fresh',
    'up-ready',
    'up-stopping',
  ])
})

test.run()
