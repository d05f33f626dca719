import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, recordProgress, resultOf, statuses } from '../../support/pipeline-project.ts'
import { query } from '../../support/handmade-models.ts'

test('models are built in order and read each other', async () => {
  await using space = await openProject()
  const models = [
    query('raw.s', 'select * from (values (1, 10)) t(id, v)'),
    query('mid.v', 'select id, v * 2 as v from raw.s -- doubled', {
      kind: 'view',
      reads: ['raw.s'],
    }),
    query('mart.t', 'select id, v + 1 as v from mid.v', { reads: ['mid.v'] }),
  ]
  const first = await space.ok(models)
  assert.equal(statuses(first), { 'raw.s': 'built', 'mid.v': 'built', 'mart.t': 'built' })
  assert.is(resultOf(first, 'raw.s').rows, 1)
  assert.equal(await space.rows(sql`SELECT v::INTEGER AS v FROM mart.t`), [{ v: 21 }])

  const second = await space.ok(models)
  assert.equal(statuses(second), {
    'raw.s': 'unchanged',
    'mid.v': 'unchanged',
    'mart.t': 'unchanged',
  })

  models[0] = query('raw.s', 'select * from (values (1, 50)) t(id, v)')
  const third = await space.ok(models)
  assert.is(resultOf(third, 'raw.s').because, 'definition changed')
  assert.is(resultOf(third, 'mart.t').because, 'upstream mid.v changed')
  assert.equal(await space.rows(sql`SELECT v::INTEGER AS v FROM mart.t`), [{ v: 101 }])
})

test('a table that someone dropped, a volatile query and a changed file are built again', async () => {
  await using space = await openProject()
  await space.write('data/a.csv', 'id\n1\n')
  const models = [
    query('a.file', "select * from read_csv('data/*.csv', header = true)", {
      files: ['data/*.csv'],
    }),
    query('a.random', 'select random() as r', { volatile: true }),
    query('a.still', 'select 1 as x'),
  ]
  await space.ok(models)
  await space.write('data/a.csv', 'id\n2\n')
  const changed = await space.ok(models)
  assert.equal(statuses(changed), {
    'a.file': 'built',
    'a.random': 'built',
    'a.still': 'unchanged',
  })
  assert.is(resultOf(changed, 'a.file').because, 'file data/*.csv changed')
  assert.equal(await space.rows(sql`SELECT id::INTEGER AS id FROM a.file`), [{ id: 2 }])

  await space.alter(sql`DROP TABLE a.still`)
  assert.is(resultOf(await space.ok(models), 'a.still').because, 'missing in the warehouse')
})

test('a failed model keeps its last good version, its readers are skipped, its siblings go on', async () => {
  await using space = await openProject()
  const down = query('b.down', 'select v from b.bad', { reads: ['b.bad'] })
  const further = query('b.further', 'select v from b.down', { reads: ['b.down'] })
  await space.ok([
    query('b.bad', 'select 1 as v'),
    down,
    further,
    query('b.other', 'select 1 as x'),
  ])
  const broken = query(
    'b.bad',
    "select 1 as w,\n  cast(x as integer) as v\nfrom (values ('1'), ('x')) t(x)",
  )
  const models = [broken, down, further, query('b.other', 'select 2 as x')]
  const { seen, progress } = recordProgress()
  const failed = await space.run(models, { progress })
  assert.is(failed.ok, false)
  assert.equal(statuses(failed), {
    'b.bad': 'failed',
    'b.down': 'skipped',
    'b.further': 'skipped',
    'b.other': 'built',
  })
  assert.match(resultOf(failed, 'b.bad').because, /^models\/b\/bad\.sql:3:3: 'x.*' is not an? /)
  assert.is(resultOf(failed, 'b.further').because, 'b.bad failed')
  assert.is(seen.filter(({ event }) => event === 'model-finished').length, 4)
  assert.equal(await space.rows(sql`FROM b.bad`), [{ v: 1 }])
  assert.equal(await space.rows(sql`FROM b.other`), [{ x: 2 }])

  assert.is(resultOf(await space.run(models), 'b.bad').status, 'failed')
  const mended = await space.ok([query('b.bad', 'select 3 as v'), down, further])
  assert.is(resultOf(mended, 'b.further').status, 'built')
  assert.equal(await space.rows(sql`FROM b.further`), [{ v: 3 }])
})

test('a view becomes a table and a table a view', async () => {
  await using space = await openProject()
  await space.ok([query('c.x', 'select 1 as v'), query('c.y', 'select 1 as v', { kind: 'view' })])
  await space.ok([query('c.x', 'select 2 as v', { kind: 'view' }), query('c.y', 'select 2 as v')])
  const types = await space.rows(sql`
    SELECT table_name AS name, table_type AS type FROM information_schema.tables
    WHERE table_schema = 'c' ORDER BY name`)
  assert.equal(types, [
    { name: 'x', type: 'VIEW' },
    { name: 'y', type: 'BASE TABLE' },
  ])
})

test('a table that no run made is not replaced, unless it is asked for', async () => {
  await using space = await openProject()
  await space.ok([])
  await space.alter(sql`CREATE SCHEMA d`)
  await space.alter(sql`CREATE TABLE d.mine AS SELECT 42 AS v`)
  const models = [query('d.mine', 'select 1 as v')]
  const refused = await space.run(models)
  assert.match(resultOf(refused, 'd.mine').because, /no run created.*--full-refresh/)
  assert.equal(await space.rows(sql`FROM d.mine`), [{ v: 42 }])
  await space.ok(models, { fullRefresh: true })
  assert.equal(await space.rows(sql`FROM d.mine`), [{ v: 1 }])
})

test('an exposed key that is NULL or duplicate fails the build and names the values', async () => {
  await using space = await openProject()
  const options = { expose: ['id'] }
  const good = query('e.t', 'select 1 as id', options)
  await space.ok([good])
  for (const kind of ['table', 'view'] as const) {
    const values = "('a'), ('a'), ('b'), (null)"
    const bad = query('e.t', `select id from (values ${values}) t(id)`, { ...options, kind })
    const failed = resultOf(await space.run([bad]), 'e.t')
    assert.is(failed.status, 'failed')
    assert.match(failed.because, /NULL or duplicate keys: id = NULL \(1 rows\); id = a \(2 rows\)/)
    assert.equal(await space.rows(sql`FROM e.t`), [{ id: 1 }])
  }
})

test('a model that left the project leaves its rows behind', async () => {
  await using space = await openProject()
  await space.ok([query('f.a', 'select 1 as v'), query('f.b', 'select 1 as v')])
  await space.ok([query('f.b', 'select 1 as v')])
  assert.equal(await space.rows(sql`FROM f.a`), [{ v: 1 }])
  const removed = sql`SELECT model FROM ${space.records} WHERE removed`
  assert.equal(await space.rows(removed), [{ model: 'f.a' }])
  const back = await space.ok([query('f.a', 'select 2 as v'), query('f.b', 'select 1 as v')])
  assert.equal(statuses(back), { 'f.a': 'built', 'f.b': 'unchanged' })
  assert.equal(await space.rows(removed), [])
})

test('schemas that cannot be used are refused by name', async () => {
  await using space = await openProject()
  const summary = await space.run([
    query('_eider.models', 'select 1 as v'),
    query('Warehouse.t', 'select 1 as v'),
  ])
  assert.match(resultOf(summary, '_eider.models').because, /is reserved for eider/)
  assert.match(resultOf(summary, 'Warehouse.t').because, /same name as the database file/)
})

test('an abort rolls the running model back and skips the rest', async () => {
  await using space = await openProject()
  const slow = 'select count(*) as n from range(1000000000000) t(i) where i % 7 = 3'
  const models = [query('g.a', 'select 1 as v'), query('g.b', slow), query('g.c', 'select 1 as v')]
  const abort = new AbortController()
  const summary = await space.run(models, {
    signal: abort.signal,
    progress: (event) => {
      // The commit of the first comes although the second, which joined it, has not ended.
      if (event.event === 'model-finished' && event.model === 'g.a')
        setTimeout(() => abort.abort(), 100)
    },
  })
  assert.is(summary.ok, false)
  assert.is(summary.snapshot, null)
  assert.equal(statuses(summary), { 'g.a': 'built', 'g.b': 'skipped', 'g.c': 'skipped' })
  assert.is(resultOf(summary, 'g.b').because, 'interrupted')
  models[1] = query('g.b', 'select 2 as n')
  assert.equal(statuses(await space.ok(models)), {
    'g.a': 'unchanged',
    'g.b': 'built',
    'g.c': 'built',
  })
})

test.run()
