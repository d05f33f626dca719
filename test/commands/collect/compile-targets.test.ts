import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileTargets } from '../../../src/wiring/collect/compile-targets.ts'
import { compile } from '../../../src/compiler/compile.ts'
import { DiagnosticsError } from '../../../src/core/diagnostics.ts'
import { loadProject } from '../../../src/project/load.ts'
import { workspace } from '../../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nvars:\n  largest: 9007199254740993\n',
  'models/raw/orders.sql': '-- @kind: events\nid BIGINT NOT NULL, at TIMESTAMPTZ, tags VARCHAR[]',
  'models/raw/refunds.sql': '-- @kind: events\nid BIGINT NOT NULL, amount DECIMAL(18,4)',
  'models/mart/few.sql': 'SELECT id FROM raw.orders WHERE id < ${largest}',
}
const never = new AbortController().signal
const load = (dir: string) => loadProject(dir, { env: {}, flags: {} })

test('another process compiles the events models as this one does', async () => {
  await using space = await workspace(files)
  const project = await load(space.dir)
  const { models } = await compile(project.files, { dir: space.dir })
  const { targets } = await compileTargets(project, never)
  assert.equal([...targets.keys()], ['raw.orders', 'raw.refunds'])
  for (const [name, target] of targets) assert.equal(target, models.get(name))
})

test('all mistakes come back with their places', async () => {
  await using space = await workspace({
    ...files,
    'models/raw/orders.sql': '-- @kind: events\nid BIGINTT NOT NULL',
    'models/mart/few.sql': 'SELECT idd FROM raw.refunds',
  })
  const project = await load(space.dir)
  const mistakesOf = (work: Promise<unknown>) =>
    work.then(
      () => assert.unreachable('there are mistakes'),
      (error: unknown) => {
        assert.instance(error, DiagnosticsError)
        return (error as DiagnosticsError).diagnostics
      },
    )
  const mistakes = await mistakesOf(compileTargets(project, never))
  assert.is(mistakes?.length, 2)
  assert.equal(mistakes, await mistakesOf(compile(project.files, { dir: space.dir })))
})

test('a stop ends the process that compiles', async () => {
  await using space = await workspace(files)
  const stop = new AbortController()
  const compiling = compileTargets(await load(space.dir), stop.signal)
  stop.abort()
  const error = await compiling.then(
    () => null,
    (reason: unknown) => reason,
  )
  assert.is((error as Error | null)?.name, 'AbortError')
})

if (process.platform === 'linux') {
  test('the engine is not loaded into the daemon', async () => {
    await using space = await workspace(files)
    await using daemon = await space.start('collect daemon --port 0 --admin-port 0'.split(' '))
    const mapped = await readFile(`/proc/${daemon.pid}/maps`, 'utf8')
    assert.match(mapped, 'node')
    assert.not.match(mapped, 'duckdb')
  })
}

test.run()
