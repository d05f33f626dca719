import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { parseManifest, type Snapshot } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import { csdlJson, csdlXml } from '../../src/odata/answer/make/csdl.ts'
import { buildEntityModel } from '../../src/odata/edm/entity-model.ts'
import type { Retention } from '../../src/store/snapshots.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { compileTexts } from '../support/compile-texts.ts'
import { FakeClaims } from '../support/fake-claims.ts'
import { events, query } from '../support/handmade-models.ts'
import {
  openProject,
  type TestProject,
  recordProgress,
  resultOf,
} from '../support/pipeline-project.ts'

const manifestOf = async (space: TestProject): Promise<Snapshot> =>
  parseManifest(await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'))

async function publishedRows(space: TestProject, model: string): Promise<readonly Row[]> {
  const { relations } = await manifestOf(space)
  const relation = relations.find((candidate) => candidate.model === model)
  if (relation === undefined) throw new Error(`${model} is not published`)
  const path = space.path('.eider/snapshots', relation.file)
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  return await connection.rows(sql`FROM main.rows`)
}

const expose = ['id']

test('what is said of a column is published, and anew when only the text changes', async () => {
  await using space = await openProject()
  const model = async (text: string) => {
    const header = `-- @expose id\n-- @column amount: ${text}\n`
    const { models } = await compileTexts({ 'mart.t': `${header}select 1 as id, 2 as amount` })
    return [...models.values()]
  }
  for (const text of ['of the order', 'with "tax" & <more>']) {
    await space.ok(await model(text))
    const snapshot = await manifestOf(space)
    const [relation] = snapshot.relations
    assert.equal(
      relation?.columns.map(({ description }) => description),
      [undefined, text],
    )
    const entities = buildEntityModel(snapshot, {
      stored: fileRows,
      signedTinyints: new Map(),
      clampedTimes: new Map(),
    })
    const escaped = text.replaceAll('"', '&quot;').replace('& <more>', '&amp; &lt;more&gt;')
    assert.ok(
      [...csdlXml(entities, '4.0')]
        .join('')
        .includes(
          `<Property Name="amount" Type="Edm.Int32"><Annotation Term="Org.OData.Core.V1.Description" String="${escaped}"/><Annotation Term="com.sap.vocabularies.Common.v1.Label" String="Amount"/></Property>`,
        ),
    )
    const json = JSON.parse([...csdlJson(entities, '4.01')].join('')) as Record<
      string,
      Record<string, object>
    >
    assert.equal(json['eider']?.['mart_t'], {
      ...json['eider']?.['mart_t'],
      amount: {
        $Type: 'Edm.Int32',
        $Nullable: true,
        '@Org.OData.Core.V1.Description': text,
        '@com.sap.vocabularies.Common.v1.Label': 'Amount',
      },
    })
  }
})

test('an exposed model is a file with its rows in the order of the key', async () => {
  await using space = await openProject()
  const summary = await space.ok([
    query('mart.t', "select * from (values (3, 'c'), (1, null), (2, 'b')) t(id, v)", { expose }),
    query('mart.v', 'select id, v from mart.t where id > 1', {
      kind: 'view',
      expose,
      reads: ['mart.t'],
    }),
    query('mart.keyless', 'select 1 as x', { expose: [] }),
    query('mart.hidden', 'select 1 as x'),
  ])
  const manifest = await manifestOf(space)
  assert.is(manifest.id, summary.snapshot?.id)
  assert.is(manifest.runId, summary.runId)
  assert.equal(
    manifest.relations.map(({ model, rows, key }) => ({ model, rows, key })),
    [
      { model: 'mart.t', rows: 3, key: ['id'] },
      { model: 'mart.v', rows: 2, key: ['id'] },
      { model: 'mart.keyless', rows: 1, key: [] },
    ],
  )
  assert.equal(manifest.relations[0]?.columns, [
    { name: 'id', type: 'INTEGER', nullable: false },
    { name: 'v', type: 'VARCHAR', nullable: true },
  ])
  assert.equal(await publishedRows(space, 'mart.t'), [
    { id: 1, v: null },
    { id: 2, v: 'b' },
    { id: 3, v: 'c' },
  ])
})

test('an INTERVAL that no answer could contain is not published, and the column is named', async () => {
  await using space = await openProject()
  const model = (value: string) =>
    query('mart.t', `select * from (values (1, null), (2, ${value})) t(id, v)`, { expose })
  await space.ok([model("interval '2 days'")])
  const before = await manifestOf(space)
  const refused: Readonly<Record<string, string>> = {
    "interval '300000 years'": '300000 years',
    "interval '-300000 years'": '-300000 years',
    'to_days(2147483647)': '2147483647 days',
    'to_microseconds(9223372036854775807) + to_days(1)': '1 day 2562047788:00:54.775807',
    "[null, interval '300000 years']": '[NULL, 300000 years]',
    "{'a': [{'b c': interval '300000 years'}]}": "{'a': [{'b c': 300000 years}]}",
  }
  for (const [value, text] of Object.entries(refused)) {
    const { because } = resultOf(await space.run([model(value)]), 'mart.t')
    assert.ok(because?.includes(`the column "v" has the INTERVAL ${text}, and`), because)
    assert.equal(await manifestOf(space), before)
  }
  const served = [
    "interval '290000 years'",
    'to_microseconds(9223372036854775807)',
    "[interval '1 day', null]",
    "map {'k': interval '300000 years'}",
    "{'a': null::interval}",
  ]
  for (const value of served) await space.ok([model(value)])
})

test('what is unchanged keeps its file, and without a change the manifest is left alone', async () => {
  await using space = await openProject()
  const same = query('mart.same', 'select 1 as id', { expose })
  const other = (v: number) => query('mart.other', `select ${v} as id`, { expose })
  await space.ok([same, other(1)])
  const first = await manifestOf(space)
  const writtenAt = (await stat(space.path('.eider/snapshots/manifest.json'))).mtimeMs
  const { seen, progress } = recordProgress()
  const idle = await space.ok([same, other(1)], { progress })
  assert.equal(idle.snapshot, { id: first.id, changed: false })
  assert.not(seen.some(({ event }) => event === 'published'))
  assert.is((await stat(space.path('.eider/snapshots/manifest.json'))).mtimeMs, writtenAt)

  const changed = await space.ok([same, other(2)])
  const second = await manifestOf(space)
  assert.equal(changed.snapshot, { id: second.id, changed: true })
  assert.is(second.relations[0]?.file, first.relations[0]?.file)
  assert.is.not(second.relations[1]?.file, first.relations[1]?.file)
})

test('a model that failed keeps what was published, one that left the project does not', async () => {
  await using space = await openProject()
  await space.ok([
    query('mart.a', 'select 1 as id', { expose }),
    query('mart.b', 'select 1 as id', { expose }),
    query('mart.c', 'select 1 as id', { expose }),
  ])
  await space.run([
    query('mart.a', "select error('no') as id", { expose }),
    query('mart.b', 'select 2 as id', { expose }),
  ])
  const { relations } = await manifestOf(space)
  assert.equal(
    relations.map(({ model }) => model),
    ['mart.a', 'mart.b'],
  )
  assert.equal(await publishedRows(space, 'mart.a'), [{ id: 1 }])
  assert.equal(await publishedRows(space, 'mart.b'), [{ id: 2 }])
})

test('collected events with a duplicate key are not published; what reads them is', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const models = [
    events('raw.e', { id: 'INTEGER!', v: 'INTEGER!', w: 'INTEGER' }, expose),
    query('mart.n', 'select count(*)::int as id from raw.e', { expose, reads: ['raw.e'] }),
  ]
  const run = () => space.run(models, { openClaims: () => Promise.resolve(claims) })
  await claims.add('raw.e', [{ id: 1, v: 1 }])
  assert.is((await run()).ok, true)
  const nullable = (await manifestOf(space)).relations[0]?.columns.map((column) => column.nullable)
  assert.equal(nullable, [false, false, true])
  await claims.add('raw.e', [{ id: 1, v: 2 }])
  const failed = await run()
  assert.match(resultOf(failed, 'raw.e').because, /duplicate keys: id = 1 \(2 rows\)/)
  assert.equal(await publishedRows(space, 'raw.e'), [{ id: 1, v: 1, w: null }])
  assert.equal(await publishedRows(space, 'mart.n'), [{ id: 2 }])
  assert.is((await run()).ok, false)
})

test('a manifest or a file that is lost is written again', async () => {
  await using space = await openProject()
  const models = [query('mart.a', 'select 1 as id', { expose })]
  await space.ok(models)
  const { relations } = await manifestOf(space)
  await rm(space.path('.eider/snapshots', relations[0]!.file))
  await writeFile(space.path('.eider/snapshots/manifest.json'), '{"format":')
  await space.ok(models)
  assert.equal(await publishedRows(space, 'mart.a'), [{ id: 1 }])
})

test('old snapshots and orphans are deleted, young and current ones kept', async () => {
  await using space = await openProject()
  const hour = 3_600_000
  const start = Date.now()
  const run = (round: number) =>
    space.ok([query('mart.a', `select ${round} as id`, { expose })], {
      now: () => new Date(start + round * hour),
    })
  for (let round = 0; round < 6; round++) await run(round)
  await writeFile(space.path('.eider/snapshots/m-0123456789abcdef.duckdb'), '')
  await writeFile(space.path('.eider/snapshots/m-1.duckdb.tmp.wal'), '')
  await writeFile(space.path('.eider/snapshots/notes.txt'), '')
  await run(6)
  const names = await readdir(space.path('.eider/snapshots'))
  const count = (pattern: RegExp) => names.filter((name) => pattern.test(name)).length
  // The third youngest was replaced an hour ago; a snapshot replaced just now would be kept whatever its number.
  assert.is(count(/^m-.*\.duckdb$/), limits.retainedSnapshots)
  assert.is(count(/^manifest-.*\.json$/), limits.retainedSnapshots)
  assert.is(count(/\.tmp/), 0)
  assert.ok(names.includes('notes.txt'))
  assert.equal(await publishedRows(space, 'mart.a'), [{ id: 6 }])
})

test('snapshots are kept as long, and as many of them, as the settings say', async () => {
  await using space = await openProject()
  const minute = 60_000
  const start = Date.now()
  const run = async (round: number, retention: Retention) => {
    const now = () => new Date(start + round * minute)
    await space.ok([query('mart.a', `select ${round} as id`, { expose })], { now, retention })
    const names = await readdir(space.path('.eider/snapshots'))
    return names.filter((name) => /^manifest-.*\.json$/.test(name)).length
  }
  for (let round = 0; round < 5; round++)
    assert.is(await run(round, { snapshots: 1, ms: 60 * minute }), round + 1)
  assert.is(await run(5, { snapshots: 4, ms: 0 }), 4)
  // Replaced one and two minutes ago; the third was replaced three minutes ago.
  assert.is(await run(6, { snapshots: 1, ms: 2.5 * minute }), 4)
  assert.is(await run(7, { snapshots: 1, ms: 0 }), 1)
})

test('current.sql gives analysts a view of each model without the warehouse', async () => {
  await using space = await openProject()
  await space.ok([query('mart."odd"', "select 7 as id, 'x' as v", { expose })])
  const script = await readFile(space.path('.eider/snapshots/current.sql'), 'utf8')
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.driver.run(script)
  assert.equal(await connection.rows(sql`FROM ${sql.ident('mart', '"odd"')}`), [{ id: 7, v: 'x' }])
})

test('killed at any moment of publishing, the manifest names whole files of one state', async () => {
  await using space = await openProject()
  const script = fileURLToPath(new URL('../support/endless-runs-child.js', import.meta.url))
  let generations = 0
  for (let round = 0; round < 8; round++) {
    const child = fork(script, [space.dir, String(1 + round * 1000)])
    await once(child, 'message') // one state is published, the next is under way
    await sleep(round * 37)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const rows = await Promise.all(['mart.a', 'mart.b'].map((name) => publishedRows(space, name)))
    assert.is(rows[0]?.length, 5000)
    assert.equal(rows[0]?.[0]?.['generation'], rows[1]?.[0]?.['generation'])
    generations = Math.max(generations, Number(rows[0]?.[0]?.['generation']))
  }
  assert.ok(generations > 7000, 'runs went on after kills')
})

test.run()
