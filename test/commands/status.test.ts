import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { UpStatus } from '../../src/core/report/up-status.ts'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nschedule:\n  runs:\n    - { name: often, every: 1 second }\n',
  'models/raw/e.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/all_e.sql': '-- @expose id\nselect id from raw.e\n',
}

async function statusOf(space: Workspace, exitCode: number, ...flags: readonly string[]) {
  const { stdout } = await space.ok(['status', '--json', ...flags], { exitCode })
  const status = JSON.parse(stdout) as UpStatus
  assert.equal(mistakes(schemaOf('events').$defs!['status']!, status), [])
  return status
}

test('where nothing runs it says so, and what to do', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['status'], { exitCode: 1 })
  assert.match(stdout, 'shop: nothing is running')
  assert.match(stdout, 'events    none wait')
  assert.match(stdout, 'snapshot  nothing is published yet')
  assert.match(stdout, 'problem   eider up is not running here\n  next: eider up')
  await space.ok(['run'])
  const status = await statusOf(space, 1)
  assert.ok(status.publication !== null)
  assert.equal([status.up, status.services, status.runs], [null, [], []])
})

test('where nothing runs it names a last run that failed, and the models that failed in it', async () => {
  await using space = await workspace({
    ...files,
    'models/mart/bad.sql': "select error('no') as id\n",
    'models/mart/after.sql': 'select id from mart.bad\n',
  })
  await space.ok(['run'], { exitCode: 1 })
  const { problems } = await statusOf(space, 1)
  assert.equal(problems.length, 2)
  assert.match(
    problems[1]!.message,
    /^the last run, of \d{4}-\S+Z, failed in mart\.bad, and 1 model after it skipped$/,
  )
  assert.is(problems[1]!.next, 'eider history mart.bad says why; fix it, then: eider run')
  assert.is((await statusOf(space, 1, '--live')).problems.length, 1)
  await space.write('models/mart/bad.sql', 'select 1 as id\n')
  await space.ok(['run'])
  assert.is((await statusOf(space, 1)).problems.length, 1)
})

test('it says what runs, what came of the last run, and what waits; a failed run is not healthy, but live', async () => {
  await using space = await workspace(files)
  const up = await startUp(space)
  await up.saw('scheduled-run-finished', 1)
  const status = await statusOf(space, 0)
  assert.is(status.up!.pid, up.running.pid)
  assert.equal(
    status.services.map(({ service, state, health }) => [service, state, health]),
    [
      ['collect', 'running', 'ok'],
      ['serve', 'running', 'ok'],
    ],
  )
  const [run] = status.runs
  assert.is(run!.last!.status, 'ok')
  assert.ok(run!.next !== null)
  assert.ok(status.publication !== null)
  const { stdout } = await space.ok(['status'])
  assert.match(stdout, `shop: eider up has been running since`)
  assert.match(stdout, /collect   ok since \d\d:\d\d(:\d\d)?  http:\/\/127/)
  assert.match(stdout, /runs      often \(every 1 second\): ok \d+ seconds? ago/)
  assert.match(stdout, /\nhealthy\n$/)

  await space.write('models/mart/all_e.sql', "-- @expose id\nselect error('no') as id\n")
  await until(up.state, ({ runs }) => runs[0]!.failures > 0)
  const failed = await statusOf(space, 1)
  assert.match(failed.problems[0]!.message, 'the run "often" failed: mart.all_e: ')
  assert.ok((await statusOf(space, 0, '--live')).healthy)

  await up.running.stop()
  const stopped = await statusOf(space, 1, '--live')
  assert.is(stopped.up, null)
  assert.is(stopped.runs[0]!.next, null)
  assert.is(stopped.runs[0]!.last!.status === 'ok', false)
})

test('a service that is started again, or does not answer, is not healthy', async () => {
  await using space = await workspace({ ...files, 'eider.yml': 'name: shop\n' })
  const up = await startUp(space)
  const pid = await up.pidOf('serve')
  process.kill(pid, 'SIGSTOP')
  const silent = await statusOf(space, 1, '--live')
  assert.is(silent.problems[0]!.message, 'serve does not answer')
  process.kill(pid, 'SIGKILL')
  await up.saw('service-ended', 1)
  await up.saw('service-started', 3)
  const again = await statusOf(space, 0, '--live')
  const serve = again.services.find(({ service }) => service === 'serve')!
  assert.is(serve.restarts, 1)
  assert.match(serve.last_end!, 'SIGKILL at 20')
})

test('a mistake in eider.yml changes nothing in what runs: it is a problem, but all is live', async () => {
  await using space = await workspace({ ...files, 'eider.yml': 'name: shop\n' })
  const up = await startUp(space)
  const services = (status: UpStatus) => status.services.map(({ health }) => health)
  await until(
    async () => services(await statusOf(space, 0)),
    (all) => all.every((one) => one === 'ok'),
  )
  for (const mistake of ['name: shop\nbogus: 1\n', 'name: shop\ntargets: [\n', '\x00']) {
    await space.write('eider.yml', mistake)
    const live = await statusOf(space, 0, '--live')
    assert.is(live.project, 'shop')
    assert.equal(services(live), ['ok', 'ok'])
  }
  await space.write('eider.yml', 'name: shop\nbogus: 1\n')
  const [problem] = (await statusOf(space, 1)).problems
  assert.match(problem!.message, /^the project cannot be read: eider\.yml:2:1: .*bogus/)
  await up.running.stop()
  const { stderr } = await space.ok(['status', '--live'], { exitCode: 1 })
  assert.match(stderr, /bogus/)
})

test('a collector says in its health how the last run went', async () => {
  await using space = await workspace(files)
  const up = await startUp(space)
  await up.saw('scheduled-run-finished', 1)
  const health = await until(
    async () =>
      (await (await fetch(`${up.ready.collect_url}/health`)).json()) as {
        readonly runs?: { readonly last: string; readonly at: string }
      },
    ({ runs }) => runs !== undefined,
  )
  assert.is(health.runs!.last, 'ok')
  assert.ok(Date.parse(health.runs!.at) <= Date.now())
})

test.run()
