// A run after one that found nothing to do does not start the engine. Whatever is touched in between, the run sees it: one
// that has lost its note, and so looks at everything, then finds nothing that was left.

import { existsSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { DuckDBInstance } from '@duckdb/node-api'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const SHOP = {
  'eider.yml': [
    'name: shop',
    'vars:',
    '  least: 1',
    'odata:',
    '  keep_minutes: 0', // what is kept for its age alone is deleted by a run, so nothing is noted until then
    'targets:',
    '  other: {}',
    '',
  ].join('\n'),
  '.env': '',
  'seeds/ref/countries.csv': 'country,name\nNO,Norway\nSE,Sweden\n',
  'data/rates.csv': 'country,rate\nNO,1\nSE,2\n',
  'macros/twice.sql': 'CREATE MACRO twice(x) AS x * 2\n',
  'models/raw/orders.sql': '-- @kind: events\n\norder_id INTEGER NOT NULL,\ncountry VARCHAR\n',
  'models/core/rates.sql':
    "-- @kind: table\n-- @expose country\n\nSELECT country, twice(rate) AS rate FROM read_csv('data/rates.csv') WHERE rate >= ${least}\n",
  'models/mart/named.sql':
    '-- @kind: table\n-- @expose country\n\nSELECT name, rate, country FROM core.rates JOIN ref.countries USING (country)\n',
  'models/mart/ordered.sql':
    '-- @kind: view\n\nSELECT country, count(*) AS orders FROM raw.orders GROUP BY country\n',
}

interface Edit {
  readonly what: string
  readonly make: (space: Workspace) => Promise<void>
  /** The next run has more to do than to say that there is nothing. */
  readonly isWork: boolean
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
}

/** With other content of the same size, and its time set back. */
async function overwrite(space: Workspace, path: string, from: string, to: string): Promise<void> {
  const { atime, mtime } = statSync(space.path(path))
  const text = await readFile(space.path(path), 'utf8')
  assert.ok(text.includes(from), `${path} has ${from}`)
  await writeFile(space.path(path), text.replace(from, to))
  utimesSync(space.path(path), atime, mtime)
}

async function inWarehouse(space: Workspace, statement: string): Promise<void> {
  const instance = await DuckDBInstance.create(space.path('.eider/warehouse.duckdb'))
  const connection = await instance.connect()
  await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

async function collect(space: Workspace): Promise<void> {
  const args = ['collect', 'daemon', '--port', '0', '--admin-port', '0']
  await using daemon = await space.start(args)
  const body = '{"order_id":1,"country":"NO"}'
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${daemon.url}/collect/raw/orders`, { method: 'POST', headers, body })
  assert.is(answer.status, 202)
  await daemon.stop('SIGTERM')
}

const snapshotFile = async (space: Workspace, pattern: RegExp): Promise<string> => {
  const names = await readdir(space.path('.eider/snapshots'))
  return space.path(
    '.eider/snapshots',
    names.find((name) => pattern.test(name))!,
  )
}

const edits: readonly Edit[] = [
  {
    what: 'a model of the same size and time',
    make: (space) => overwrite(space, 'models/mart/named.sql', 'name, rate', 'rate, name'),
    isWork: true,
  },
  {
    what: 'a seed of the same size and time',
    make: (space) => overwrite(space, 'seeds/ref/countries.csv', 'Norway', 'NORWAY'),
    isWork: true,
  },
  {
    what: 'a data file of the same size and time',
    make: (space) => overwrite(space, 'data/rates.csv', 'NO,1', 'NO,3'),
    isWork: true,
  },
  {
    what: 'a data file that takes the place of another',
    async make(space) {
      const path = space.path('data/rates.csv')
      const { atime, mtime } = statSync(path)
      const text = readFileSync(path, 'utf8').replace('SE,2', 'SE,7')
      await writeFile(`${path}.new`, text)
      utimesSync(`${path}.new`, atime, mtime)
      await rename(`${path}.new`, path)
    },
    isWork: true,
  },
  {
    what: 'a macro',
    make: (space) => overwrite(space, 'macros/twice.sql', 'x * 2', 'x * 4'),
    isWork: true,
  },
  { what: '.env', make: (space) => space.write('.env', 'EIDER_VAR_LEAST=2\n'), isWork: true },
  { what: 'the environment', make: async () => {}, env: { EIDER_VAR_LEAST: '0' }, isWork: true },
  { what: '--vars', make: async () => {}, args: ['--vars', 'least=3'], isWork: true },
  { what: 'events that wait', make: collect, isWork: true },
  {
    what: 'a table dropped by another program',
    make: (space) => inWarehouse(space, 'DROP TABLE mart.named'),
    isWork: true,
  },
  {
    what: 'a published file that is gone',
    make: async (space) => rm(await snapshotFile(space, /^m-/)),
    isWork: false, // it is written again, which is no work on a model
  },
  {
    what: 'the manifest gone',
    make: (space) => rm(space.path('.eider/snapshots/manifest.json')),
    isWork: false,
  },
  {
    what: 'a mark of damage',
    make: async (space) => writeFile(`${await snapshotFile(space, /^m-.*duckdb$/)}.damaged`, ''),
    isWork: false,
  },
  {
    what: 'a new model',
    make: (space) => space.write('models/mart/late.sql', '-- @kind: table\n\nSELECT 1 AS one\n'),
    isWork: true,
  },
  { what: 'another target', make: async () => {}, args: ['--target', 'other'], isWork: true },
  {
    what: 'a comment in eider.yml',
    make: (space) => overwrite(space, 'eider.yml', 'name: shop', 'name: shop # a shop'),
    isWork: false,
  },
]

const note = (space: Workspace) => space.path('.eider/idle.json')
const waiting = (space: Workspace) => {
  const path = space.path('.eider/idle-runs.ndjson')
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean).length : 0
}

interface Result {
  readonly event: string
  readonly model?: string
  readonly status?: string
  readonly because?: string
  readonly run_id?: string
}

async function run(space: Workspace, { env = {}, args = [] }: Partial<Edit> = {}) {
  const { stdout } = await space.ok(['run', '--json', ...args], { env })
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  return events.filter(({ event }) => event === 'model-finished')
}

const isIdle = (results: readonly Result[]) => results.every(({ status }) => status === 'unchanged')

/** So that the next run finds a note. */
async function settle(space: Workspace, asked: Partial<Edit> = {}): Promise<void> {
  await sleep(limits.racyMs + 100)
  await rm(note(space), { force: true })
  const results = await run(space, asked)
  assert.ok(isIdle(results), `something was left: ${JSON.stringify(results)}`)
}

async function historyOf(space: Workspace): Promise<readonly string[]> {
  const { stdout } = await space.ok(['history', '--json', '--limit', '1000'])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  return events.flatMap(({ event, run_id: id }) => (event === 'run' ? [id!] : []))
}

test('a run sees whatever was touched since one that found nothing to do', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  const random = seededRandom(7)
  const order = edits
    .map((edit) => ({ edit, place: random() }))
    .toSorted((a, b) => a.place - b.place)
  await settle(space)
  for (const {
    edit: { what, make, isWork, ...asked },
  } of order) {
    assert.ok(existsSync(note(space)), `nothing was noted before ${what}`)
    const before = waiting(space)
    assert.ok(isIdle(await run(space)), what)
    assert.is(waiting(space), before + 1, `the engine was started before ${what}`)
    await make(space)
    assert.is(isIdle(await run(space, asked)), !isWork, what)
    await settle(space, asked)
    if (asked.args === undefined && asked.env === undefined) continue
    await space.ok(['run'])
    await settle(space)
  }
})

test('a run without the engine leaves what one with it leaves', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  const left = async (isNoted: boolean) => {
    const forget = () => (isNoted ? undefined : rm(note(space), { force: true }))
    await forget()
    const { stdout } = await space.ok(['run', '--json'])
    await forget()
    const shown = await space.ok(['run'])
    const [id] = await historyOf(space)
    const read = (path: string) => readFileSync(space.path(path), 'utf8')
    const snapshots = await readdir(space.path('.eider/snapshots'))
    const catalog = snapshots.find((name) => name.startsWith('catalog-'))!
    const [newest] = (JSON.parse(read(`.eider/snapshots/${catalog}`)) as { runs: Result[] }).runs
    const texts = [stdout, shown.stdout, read('target/run_results.json'), JSON.stringify(newest)]
    assert.is(newest!.run_id, id)
    assert.is((JSON.parse(texts[2]!) as Result).run_id, id)
    assert.ok(existsSync(space.path(`.eider/last/runs/${id}.json`)))
    return texts.map((text) =>
      text
        .replaceAll(/\d{8}T\d{6}Z-\w+/g, 'ID')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/"ms": ?\d+|in \d[\d.]* m?s/g, 'MS'),
    )
  }
  await settle(space)
  const short = await left(true)
  assert.is(waiting(space), 2)
  assert.equal(await left(false), short)
  assert.is(waiting(space), 0)
})

test('runs without the engine are recorded once, by the next one with it', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  await run(space)
  await run(space)
  const saved = readFileSync(space.path('.eider/idle-runs.ndjson'), 'utf8')
  const before = await historyOf(space)
  assert.is(before.length, 4)
  await overwrite(space, 'data/rates.csv', 'NO,1', 'NO,5')
  await run(space)
  assert.equal((await historyOf(space)).slice(1), before)
  // As after a power cut that brings the file back, with a line that was being written.
  await writeFile(space.path('.eider/idle-runs.ndjson'), `${saved}\n{"run_id":"cut`)
  assert.equal((await historyOf(space)).slice(1), before)
  await overwrite(space, 'data/rates.csv', 'NO,5', 'NO,6')
  await run(space)
  assert.equal((await historyOf(space)).slice(2), before)
})

test('a run without the engine that is killed leaves nothing that the next one stumbles over', async () => {
  await using space = await workspace(SHOP)
  await space.ok(['run'])
  await settle(space)
  for (const timeoutMs of [60, 90, 120, 150, 180, 210, 240])
    await space.eider(['run'], { timeoutMs }).catch(() => null)
  const ids = await historyOf(space)
  assert.is(new Set(ids).size, ids.length)
  assert.ok(isIdle(await run(space)))
  await rm(note(space), { force: true })
  assert.ok(isIdle(await run(space)))
})

test.run()
