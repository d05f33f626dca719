// `--watch` and `odata preview`: looking at models while they are written. The project's own state stays as it is.

import { readFile, readdir, rename } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'
import { until } from '../support/until.ts'

const numbers = (rows: number) => `-- @expose n\nSELECT range AS n FROM range(${rows})`

const files = {
  'eider.yml': 'name: watched\n',
  'models/mart/numbers.sql': numbers(3),
  'models/mart/doubles.sql': '-- @expose n\nSELECT n, 2 * n AS twice FROM mart.numbers',
  'models/staging/hidden.sql': 'SELECT n, n % 2 = 0 AS even FROM mart.numbers',
}

const text = async (url: string) => (await fetch(url)).text()
const manifest = (space: Workspace) =>
  readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')

test('serve --watch serves what is saved, keeps the last good state, and leaves the project alone', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const before = await manifest(space)
  await using service = await space.start(['serve', '--watch', '--port', '0'])
  const count = () => text(`${service.url}/mart_doubles/$count`)
  assert.is(await count(), '3')

  await space.write('models/mart/numbers.sql', numbers(5))
  await until(count, (seen) => seen === '5')
  await space.write('models/mart/numbers.sql', '-- @expose n\nSELECT range AS n FROM rang(7)')
  await until(
    () => Promise.resolve(service.stderr()),
    (seen) => seen.includes('models/mart/numbers.sql:2'),
  )
  assert.is(await count(), '5')
  await space.write('models/mart/numbers.sql', numbers(7))
  await space.write('models/mart/more.sql', '-- @expose n\nFROM mart.numbers WHERE n > 1')
  await until(
    () => text(`${service.url}/mart_more/$count`),
    (seen) => seen === '5',
  )
  assert.is(await manifest(space), before)
  assert.match((await space.ok(['query', 'SELECT count(*) AS c FROM mart.numbers'])).stdout, '3')

  // What a run publishes meanwhile is taken over.
  await space.write('models/mart/more.sql', '-- @expose n\nFROM mart.numbers WHERE n > 5')
  await space.ok(['run'])
  await until(
    () => text(`${service.url}/mart_more/$count`),
    (seen) => seen === '1',
  )
  assert.is(await service.stop('SIGTERM'), 0)
})

test('what serve --watch has built is no history: another kind and other columns are served too', async () => {
  const parts = (rows: string) => `-- @kind: merge\n-- @unique_key: n\n-- @expose n\n${rows}`
  await using space = await workspace({
    ...files,
    'models/mart/parts.sql': parts('SELECT 1 AS n, 2 AS kept'),
  })
  await space.ok(['run'])
  await using service = await space.start(['serve', '--watch', '--port', '0'])
  const rows = async (set: string) => {
    const answer = (await (await fetch(`${service.url}/${set}`)).json()) as { value?: unknown }
    return JSON.stringify(answer.value ?? null)
  }
  const becomes = (set: string, expected: string) =>
    until(
      () => rows(set),
      (seen) => seen === expected,
    )
  await space.write('models/mart/draft.sql', parts('SELECT 1 AS n, 2 AS gone'))
  await becomes('mart_draft', '[{"n":1,"gone":2}]')
  await space.write('models/mart/draft.sql', parts('SELECT 1 AS n'))
  await becomes('mart_draft', '[{"n":1}]')
  await rename(space.path('models'), space.path('away'))
  await becomes('mart_draft', 'null')
  await space.write('away/mart/draft.sql', '-- @expose n\nSELECT 3 AS n')
  await rename(space.path('away'), space.path('models'))
  await becomes('mart_draft', '[{"n":3}]')

  // What a run has built is: as after it, the rows stay.
  await space.write('models/mart/parts.sql', '-- @expose n\nSELECT 3 AS n')
  await until(
    () => Promise.resolve(service.stderr()),
    (seen) => /mart\.parts holds rows .* --full-refresh/.test(seen),
  )
  await becomes('mart_draft', '[{"n":3}]')
})

test('serve --watch that cannot open its port says so before it builds anything', async () => {
  await using space = await workspace(files)
  await using other = await space.start(['serve', '--port', '0'])
  const { port } = new URL(other.url)
  const busy = await space.ok(['serve', '--watch', '--port', port], { exitCode: 3 })
  const open = ['serve', '--watch', '--host', '0.0.0.0', '--port', '0']
  const unsafe = await space.ok(open, { exitCode: 3 })
  assert.match(busy.stderr, 'in use by another process')
  assert.match(unsafe.stderr, 'token')
  for (const { stderr } of [busy, unsafe]) assert.not.match(stderr, 'models-built')
})

test('what a killed serve --watch has left goes with the next command, and only that', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  // A copy of the warehouse, and what the service of it spills.
  const scratches = async () => (await readdir(space.path('.eider/tmp'))).toSorted()
  const killed = await space.start(['serve', '--watch', '--port', '0'])
  const left = await scratches()
  assert.equal(
    left.map((name) => name.replace(/-.*/, '')),
    ['scratch', 'service'],
  )
  await space.ok(['odata', 'preview', 'staging.hidden'])
  assert.equal(await scratches(), left)
  await killed.stop('SIGKILL')
  await space.ok(['odata', 'preview', 'staging.hidden'])
  assert.equal(await scratches(), [])
})

test('run --watch runs again after each change and ends well', async () => {
  await using space = await workspace(files)
  const running = await space.start(['run', '--watch', '--project', 'models/..'], {
    ready: 'run-finished',
  })
  const printed = () => Promise.resolve(running.stdout().split('\n'))
  await space.write('models/mart/numbers.sql', '-- @unique n\nSELECT 1 AS n')
  await until(printed, (lines) => lines.some((line) => line.includes('"event":"diagnostic"')))
  await space.write('models/mart/numbers.sql', numbers(4))
  await until(printed, (lines) =>
    lines.some((line) => line.includes('"model":"mart.doubles"') && line.includes('"rows":4')),
  )
  assert.is(await running.stop('SIGINT'), 0)
})

test('odata preview answers without a server, also for models that are not exposed', async () => {
  await using space = await workspace(files)
  const preview = async (...args: readonly string[]) => {
    const { stdout } = await space.ok(['odata', 'preview', ...args])
    return JSON.parse(stdout)
  }
  const unbuilt = await space.ok(['odata', 'preview', 'staging.hidden'], { exitCode: 3 })
  assert.match(unbuilt.stderr, 'eider run +staging.hidden')
  await space.ok(['run'])
  const before = await manifest(space)
  const hidden = await preview('staging.hidden', '?$filter=even&$select=n&$orderby=n desc')
  assert.equal(hidden.value, [{ n: 2 }, { n: 0 }])
  assert.is(hidden['@odata.context'], 'http://127.0.0.1:8090/odata/$metadata#staging_hidden(n)')
  assert.equal((await preview('mart.doubles(2)')).twice, 4)
  assert.is((await preview('mart_doubles', '$count=true', '--json'))['@odata.count'], 3)
  const typo = await space.ok(['odata', 'preview', 'mart_double'], { exitCode: 2 })
  assert.match(typo.stderr, 'mart.doubles')
  const wrong = await space.ok(['odata', 'preview', 'mart_doubles', '?$filter=thrice eq 1'], {
    exitCode: 2,
  })
  assert.match(wrong.stderr, 'thrice')
  assert.is(await manifest(space), before)
})

test.run()
