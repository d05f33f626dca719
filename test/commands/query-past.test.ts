// `eider query --at`: published states as they stood.

import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseManifest, type Snapshot } from '../../src/core/snapshot.ts'
import { recordErasure } from '../../src/pipeline/erase/record.ts'
import { modelName } from '../support/model-name.ts'
import { flipBit } from '../support/flip-bit.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const orders = (...values: readonly string[]) =>
  `-- @expose id\nSELECT * FROM (VALUES ${values.join(', ')}) t(id, v)\n`

const files = {
  'eider.yml': 'name: shop\nodata:\n  keep_snapshots: 10\n',
  'models/core/orders.sql': orders("(1, 'first')"),
  'models/core/log.sql': 'SELECT 1 AS n\n',
  'models/mart/sales.sql': '-- @expose id\nSELECT id FROM core.orders\n',
}

/** Runs once for each of these; gives the states that were published. */
async function published(space: Workspace, texts: readonly string[]): Promise<readonly Snapshot[]> {
  const states: Snapshot[] = []
  for (const text of texts) {
    await space.write('models/core/orders.sql', orders(text))
    await space.ok(['run', '--quiet'])
    states.push(parseManifest(await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')))
  }
  return states
}

const FROM = 'SELECT v FROM core.orders'

async function at(space: Workspace, when: string, sql = FROM): Promise<unknown[]> {
  const { stdout } = await space.ok(['query', '--at', when, sql, '--json'])
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Object.values(JSON.parse(line) as object)[0] as unknown)
}

const problem = async (space: Workspace, when: string, exitCode = 3, sql = FROM) =>
  (await space.ok(['query', '--at', when, sql], { exitCode })).stderr

test('a state is named by a time, a day, a run or its id, and stderr says which it is', async () => {
  await using space = await workspace(files)
  const [first, second] = await published(space, ["(1, 'first')", "(1, 'second')"])
  assert.equal(await at(space, first!.publishedAt.toISOString()), ['first'])
  assert.equal(await at(space, first!.runId), ['first'])
  assert.equal(await at(space, first!.id), ['first'])
  assert.equal(await at(space, second!.publishedAt.toISOString()), ['second'])
  const justBefore = new Date(second!.publishedAt.getTime() - 1).toISOString()
  assert.equal(await at(space, justBefore), ['first'])
  assert.equal(await at(space, justBefore.replace('T', ' ').replace('Z', '+0000')), ['first'])
  const day = second!.publishedAt.toISOString().slice(0, 10)
  assert.equal(await at(space, day), ['second'], 'the end of the day')
  const { stderr } = await space.ok(['query', '--at', first!.runId, FROM])
  assert.is(
    stderr,
    `reading the state of ${first!.publishedAt.toISOString()}, published by run ${first!.runId}\n`,
  )
  const quiet = await space.ok(['query', '--quiet', '--at', first!.runId, FROM])
  assert.is(quiet.stderr, '')
  assert.equal(await at(space, first!.id, 'SELECT id FROM mart.sales'), [1])
  assert.equal(await at(space, first!.id, 'SELECT v FROM \'core\'."ORDERS"'.replaceAll("'", '"')), [
    'first',
  ])
  const views = 'SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1'
  const tables = await at(space, first!.id, views)
  assert.equal(tables, ['orders', 'sales'])
})

test('a run that changed nothing, or failed, left the state of the one before it', async () => {
  await using space = await workspace(files)
  const runs = async () =>
    [...(await space.ok(['history', '--json'])).stdout.matchAll(/"run_id":"([^"]+)"/g)].map(
      ([, id]) => id!,
    )
  await published(space, ["(1, 'first')", "(1, 'first')"])
  await space.write('models/core/orders.sql', "-- @expose id\nSELECT error('no') AS id, 'x' AS v\n")
  await space.ok(['run'], { exitCode: 1 })
  const [failed] = await runs()
  await published(space, ["(1, 'last')", "(1, 'last')"])
  const [idle, last] = await runs()
  assert.equal(await at(space, idle!), ['last'])
  assert.equal(await at(space, last!), ['last'])
  assert.equal(await at(space, failed!), ['first'])
})

test('a state that comes back is found at each time at which it stood', async () => {
  await using space = await workspace(files)
  const texts = ["(1, 'first')", "(1, 'second')", "(1, 'first')", "(1, 'third')"]
  const states = await published(space, texts)
  assert.is(states[0]!.id, states[2]!.id)
  const found = []
  for (const { publishedAt } of states) found.push(...(await at(space, publishedAt.toISOString())))
  assert.equal(found, ['first', 'second', 'first', 'third'])
  await space.write('eider.yml', 'name: shop\nodata:\n  keep_snapshots: 2\n  keep_minutes: 0\n')
  await published(space, ["(1, 'third')"])
  await published(space, ["(1, 'first')"])
  const gone = await problem(space, states[1]!.publishedAt.toISOString())
  assert.match(gone, /the published state of .* is gone\nhint: \d states are kept, from /)
})

test('what cannot be meant is refused with what is kept', async () => {
  await using space = await workspace(files)
  assert.match(await problem(space, '2020-01-01'), /nothing is published yet\nhint: eider run/)
  const [first] = await published(space, ["(1, 'first')", "(1, 'second')"])
  const old = await problem(space, '2020-01-01')
  assert.match(old, /no published state of 2020-01-01 is kept\nhint: 2 states are kept, from \d{4}/)
  assert.match(old, first!.runId)
  assert.match(await problem(space, '2999-01-01', 2), /--at 2999-01-01 is in the future/)
  assert.match(await problem(space, '2026-02-30', 2), /--at 2026-02-30 is not a time/)
  assert.match(await problem(space, '2026-01-01T25:00', 2), /is not a time/)
  const mistyped = `${first!.runId.slice(0, -1)}${first!.runId.endsWith('0') ? '1' : '0'}`
  assert.match(
    await problem(space, mistyped, 2),
    new RegExp(`neither a time nor a run that is recorded\nhint: did you mean "${first!.runId}"`),
  )
  assert.match(await problem(space, 'yesterday', 2), /hint: a date \(2026-11-01: the end/)
  const unexposed = await problem(space, first!.id, 1, 'FROM core.log')
  assert.match(
    unexposed,
    /hint: a published state holds exposed models only: core\.orders, mart\.s/,
  )
})

test('a file that is missing, short or damaged is named, and other sets can be read', async () => {
  await using space = await workspace(files)
  const many = `-- @expose id\nSELECT range::INTEGER AS id, 'text ' || hash(range) AS v FROM range(60000)\n`
  await space.write('models/core/orders.sql', many)
  await space.ok(['run', '--quiet'])
  const [big] = (await readdir(space.path('.eider/snapshots')))
    .filter((name) => name.startsWith('manifest-'))
    .map((name) => name.slice('manifest-'.length, -'.json'.length))
  await published(space, ["(1, 'last')"])
  const manifest = space.path('.eider/snapshots', `manifest-${big!}.json`)
  const { relations } = parseManifest(await readFile(manifest, 'utf8'))
  const file = space.path('.eider/snapshots', relations[0]!.file)
  const sum = 'SELECT max(v) FROM core.orders'
  await flipBit(file, 400_000)
  assert.match(await problem(space, big!, 3, sum), /the state of .*: rows of it are damaged/)
  await truncate(file, 5000)
  assert.match(await problem(space, big!, 3, sum), /core\.orders: .* does not have the size/)
  await rm(file)
  assert.match(await problem(space, big!, 3, sum), /core\.orders: m-\S+ is missing\nhint: ask for/)
  assert.equal(await at(space, big!, 'SELECT count(*)::INTEGER FROM mart.sales'), [60000])
  await writeFile(manifest, '{')
  const day = new Date().toISOString().slice(0, 10)
  assert.equal(await at(space, day), ['last'])
  assert.match(await problem(space, big!, 2), /neither a time nor a run/)
})

test('a damaged manifest leaves open what stood before the newest state', async () => {
  await using space = await workspace(files)
  const states = await published(space, ["(1, 'a')", "(1, 'b')", "(1, 'c')"])
  await writeFile(space.path('.eider/snapshots', `manifest-${states[1]!.id}.json`), '')
  const early = await problem(space, states[1]!.publishedAt.toISOString())
  assert.match(early, /manifest-\w+\.json is damaged, so nobody knows whether that state stood at/)
  assert.equal(await at(space, states[0]!.id), ['a'])
  assert.equal(await at(space, states[2]!.publishedAt.toISOString()), ['c'])
})

test('doctor says what is kept, since when, and what it costs', async () => {
  await using space = await workspace({
    ...files,
    'models/mart/same.sql': '-- @expose\nSELECT 1 AS id\n',
  })
  const doctor = async () => {
    const ports = { env: { COLLECT_PORT: '0', ODATA_PORT: '0' } }
    const { stdout } = await space.eider(['doctor', '--json'], ports)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding)
    return lines.find(({ check }) => check === 'states')!
  }
  const [first] = await published(space, ["(1, 'a')"])
  const since = `kept since ${first!.publishedAt.toISOString()}`
  assert.is((await doctor()).message, `1 published state ${since}, 0 bytes beyond the newest`)
  await published(space, ["(1, 'b')"])
  // The files of mart.same and of mart.sales, whose rows are the same, are those of both.
  const changed = first!.relations.filter(({ model }) => model === 'core.orders')
  const bytes = changed.reduce((sum, relation) => sum + relation.bytes, 0)
  const cost = String(bytes).replace(/\B(?=(\d{3})+$)/g, ',')
  assert.is(
    (await doctor()).message,
    `2 published states ${since}, ${cost} bytes beyond the newest`,
  )
  await writeFile(space.path('.eider/snapshots', `manifest-${first!.id}.json`), '')
  const damaged = await doctor()
  assert.is(damaged.status, 'warn')
  assert.match(damaged.message, /manifest-\w+\.json cannot be read/)
})

interface Finding {
  readonly check: string
  readonly status: string
  readonly message: string
}

test('a person who was erased is in no earlier state, nor while an erasure is unfinished', async () => {
  await using space = await workspace({
    ...files,
    'models/core/people.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, v FROM core.orders\n',
  })
  const states = await published(space, ["(1, 'person')", "(2, 'other')"])
  const before = states[0]!.publishedAt.toISOString()
  const people = 'SELECT v FROM core.people ORDER BY id'
  assert.equal(await at(space, before, people), ['person'])
  assert.equal(await at(space, states[1]!.id, people), ['person', 'other'])
  await space.ok(['erase', 'core.people', 'id = 1'])
  assert.match(await problem(space, before, 3, people), /no published state of .* is kept/)
  assert.match(await problem(space, states[1]!.runId, 3, people), /is no longer kept/)
  const day = new Date().toISOString().slice(0, 10)
  assert.equal(await at(space, day, people), ['other'])
  const erasure = { model: modelName('core.people'), begun_at: 'now', erased: [], deleting: [] }
  await recordErasure(pathsOf(space.dir), '0'.repeat(16), erasure)
  assert.match(await problem(space, day, 3, people), /an erasure in core\.people .* is unfinished/)
})

test('a model that was renamed since is named with what the state has that it may have been', async () => {
  await using space = await workspace(files)
  const [first] = await published(space, ["(1, 'first')"])
  await space.ok(['mv', 'core.orders', 'core.purchases'])
  const asked = () => problem(space, first!.id, 1, 'SELECT v FROM core.purchases')
  const NAMED =
    /1:15 error sql-binding: the state of \S+, published by run \S+ does not have core\.purchases, but core\.orders, which no file makes any more\n[^]*hint: if it was renamed since, ask for the name of then: FROM core\.orders\n/
  assert.match(await asked(), NAMED)
  const reader = 'models/mart/sales.sql'
  const text = await readFile(space.path(reader), 'utf8')
  await space.write(reader, text.replace('core.orders', 'core.purchases'))
  await space.ok(['run'])
  assert.match(await asked(), NAMED)
  assert.equal(await at(space, first!.id), ['first'])
  assert.not.match(await problem(space, first!.id, 1, 'SELECT v FROM core.sold'), 'renamed')
})

test.run()
