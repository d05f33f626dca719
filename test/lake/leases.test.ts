// The lease of a lake: who waits for whom, and a run that loses its lock while it works.

// Its commands are processes: two of them work at once.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import type { ModelName } from '../../src/core/names.ts'
import { openStore } from '../../src/store/open.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { until } from '../support/until.ts'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

lakeTest(
  'runs of other models go on beside each other, and a run of all waits for them',
  async () => {
    await using lake = await withLake()
    const take = (name: string, ...models: readonly string[]) => takeLease(lake, name, models)
    {
      await using _orders = await take('first', 'core.orders', 'core.lines')
      await using _sales = await take('second', 'mart.sales')
      const overlapping = await refusal(take('third', 'core.lines', 'mart.other'))
      assert.is(overlapping.code, 'run-locked')
      assert.match(overlapping.message, /another run is in progress: .*first/)
      assert.is((await refusal(take('all'))).code, 'run-locked')
    }
    await using _all = await take('all')
    const late = await refusal(take('late', 'mart.sales'))
    assert.match(late.message, /another run is in progress: all \(process \d+ on [\w.-]+\)$/)
    const holder = await openStore(pathsWith(lake)).lease.holder()
    assert.match(holder?.name ?? '', /^all /)
    const heldMs = Date.now() - holder!.since!.getTime()
    assert.ok(heldMs > -60_000 && heldMs < 600_000, `${heldMs} ms`)
  },
)

function takeLease(lake: TestLake, name: string, models: readonly string[]) {
  return openStore(pathsWith(lake)).lease.take({
    waitMs: 0,
    signal: new AbortController().signal,
    name,
    models: models.length === 0 ? null : (models as ModelName[]),
  })
}

const pathsWith = (lake: TestLake) => ({ ...pathsOf('/nowhere'), lake: lakeSettingsOf(lake) })

async function refusal(work: Promise<AsyncDisposable>): Promise<EnvironmentError> {
  try {
    await (await work)[Symbol.asyncDispose]()
  } catch (error) {
    if (error instanceof EnvironmentError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

lakeTest('a frozen run that thaws after another one adds nothing a second time', async () => {
  await using lake = await withLake()
  await using space = await project(lake)
  const given = { env: lake.env, timeoutMs: 180_000 }
  await space.ok(['run'], given)
  await space.write('rows.csv', 'id\n1\n2\n')
  // It has written its rows and goes on to commit them: not in the middle of a request, which would time out.
  lake.store.forget()
  const frozen = startRun(space, lake)
  await until(() => lake.store.requests.some(({ method }) => method === 'PUT'))
  lake.catalog.delayMs = 5000
  const { length: before } = lake.catalog.queries
  await until(() => lake.catalog.queries.length > before)
  frozen.kill('SIGSTOP')
  lake.catalog.delayMs = 0
  // As PostgreSQL does when the keepalives of a machine are not answered.
  const killed = await lake.postgres(
    `SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_database d ON d.oid = database
     WHERE locktype = 'advisory' AND datname = current_database()`,
  )
  assert.ok(killed.length > 0)
  const other = await space.ok(['run'], given)
  assert.match(other.stdout, /built +a\.log +1 row/)
  frozen.kill('SIGCONT')
  const { code, stdout } = await frozen.ended
  assert.is(code, 3, stdout)
  assert.match(stdout, /"code":"run-lock-lost"/)
  const counted = await space.ok(
    ['query', 'SELECT count(*)::INTEGER AS n FROM a.log', '--json'],
    given,
  )
  assert.equal(JSON.parse(counted.stdout), { n: 2 })
})

lakeTest('a run with nothing to do sends few messages to the catalog', async () => {
  await using lake = await withLake()
  await using space = await project(lake)
  const given = { env: lake.env, timeoutMs: 180_000 }
  const messagesOf = async (models: number) => {
    await space.ok(['run'], given)
    lake.catalog.forget()
    const { stdout } = await space.ok(['run'], given)
    assert.match(stdout, new RegExp(` ${models} unchanged`))
    return lake.catalog.queries.length
  }
  const one = await messagesOf(1)
  for (let i = 0; i < 7; i++) await space.write(`models/b/t${i}.sql`, `SELECT ${i} AS id\n`)
  await space.write('models/b/shown.sql', '-- @expose id\nSELECT 1 AS id\n')
  await space.write('models/b/seen.sql', '-- @kind: view\nSELECT 1 AS id\n')
  const ten = await messagesOf(10)
  assert.ok(ten > 10 && ten <= 60 + 2 * 10, `${ten} messages`)
  for (let i = 7; i < 97; i++) await space.write(`models/b/t${i}.sql`, `SELECT ${i} AS id\n`)
  const hundred = await messagesOf(100)
  assert.ok(hundred - one <= 2 * 99, `${one} messages of one model, ${hundred} of a hundred`)
})

const project = (lake: TestLake): Promise<Workspace> => {
  const settings = Object.entries(lake.settings).map(([name, value]) => `  ${name}: '${value}'\n`)
  return workspace({
    'eider.yml': `name: shop\nlake:\n${settings.join('')}`,
    'rows.csv': 'id\n1\n',
    'models/a/log.sql':
      "-- @kind: append\n-- @incremental: id\nSELECT id FROM read_csv('rows.csv')\n",
  })
}

function startRun({ dir }: Workspace, { env }: TestLake) {
  const program = join(repository, 'bin', 'run.js')
  const child = spawn(process.execPath, [program, 'run', '--json'], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = Promise.all([text(child.stdout), once(child, 'exit')]).then(([stdout, [code]]) => ({
    stdout,
    code: code as number | null,
  }))
  return { kill: (signal: NodeJS.Signals) => child.kill(signal), ended }
}

test.run()
