// Models that share a transaction: what fails in it hits only the model at fault.

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import { openStore } from '../../../src/store/open.ts'
import {
  openProject,
  type TestProject,
  recordProgress,
  resultOf,
  statuses,
} from '../../support/pipeline-project.ts'
import { query } from '../../support/handmade-models.ts'

const COUNT = 60

/** A chain of three in each schema: a table, a merge of it, a view of that. */
const chains = (value: number, broken: ReadonlySet<number> = new Set()): readonly Model[] =>
  Array.from({ length: COUNT / 3 }, (_, i) => {
    const wrong = broken.has(i) ? `, error('broken ${i}') as wrong` : ''
    return [
      query(`s${i}.a`, `select i as id, ${value} as v from range(3) t(i)`),
      query(`s${i}.b`, `select *${wrong} from s${i}.a`, {
        kind: 'merge',
        key: ['id'],
        reads: [`s${i}.a`],
      }),
      query(`s${i}.c`, `select id, v from s${i}.b`, { kind: 'view', reads: [`s${i}.b`] }),
    ]
  }).flat()

const values = async (space: TestProject, table: string): Promise<readonly unknown[]> => {
  const list = Array.from({ length: COUNT / 3 }, (_, i) => {
    const relation = sql.ident(`s${i}`, table)
    return sql`SELECT ${sql.value(i)}::INTEGER AS i, min(v)::INTEGER AS low, max(v)::INTEGER AS high, count(*)::INTEGER AS n FROM ${relation}`
  })
  const rows = await space.rows(sql`${sql.join(list, sql` UNION ALL `)} ORDER BY i`)
  for (const { low, high, n } of rows) assert.equal([low, n], [high, 3])
  return rows.map(({ low }) => low)
}

test('small models share transactions, with their state', async () => {
  await using space = await openProject()
  const { seen, progress } = recordProgress()
  await space.ok(chains(1), { progress })
  const [state] = await space.rows(sql`
    SELECT count(*)::INTEGER AS models, count(DISTINCT built_at)::INTEGER AS transactions FROM ${space.records}`)
  assert.is(state?.['models'], COUNT)
  // On a machine where each model takes longer than a group may, there would be one for each.
  assert.ok(Number(state?.['transactions']) < COUNT, `${Number(state?.['transactions'])}`)
  for (const name of ['model-started', 'model-finished'])
    assert.is(seen.filter(({ event }) => event === name).length, COUNT)
  for (const event of seen) if (event.event === 'model-finished') assert.ok(event.ms > 0)
  const again = await space.ok(chains(1))
  assert.ok(again.models.every(({ status }) => status === 'unchanged'))
})

test('the store says for how long further models may join a transaction', async () => {
  await using space = await openProject()
  const store = {
    ...openStore(space.paths),
    groups: { joinMs: 600_000, joinCommits: 0, heldMs: 600_000, apartMs: 0 },
  }
  await space.ok(chains(1), { store, modelsAtOnce: 1 })
  const [state] = await space.rows(sql`
    SELECT count(DISTINCT built_at)::INTEGER AS transactions FROM ${space.records}`)
  assert.is(state?.['transactions'], 1)
})

test('those before a model that fails share a transaction again', async () => {
  await using space = await openProject()
  const store = {
    ...openStore(space.paths),
    groups: { joinMs: 600_000, joinCommits: 0, heldMs: 600_000, apartMs: 0 },
  }
  const broken = new Set([7])
  await space.run(chains(1, broken), { store, modelsAtOnce: 1 })
  const [state] = await space.rows(sql`
    SELECT count(*)::INTEGER AS models, count(DISTINCT built_at)::INTEGER AS transactions FROM ${space.records}`)
  assert.is(state?.['models'], COUNT - 2)
  assert.is(state?.['transactions'], 2)
})

test('more models share a transaction where commits take long', async () => {
  await using space = await openProject()
  const groups = { joinMs: 0, joinCommits: 10, heldMs: 600_000, apartMs: 0 }
  const store = { ...openStore(space.paths), groups }
  const change = store.state.change.bind(store.state)
  store.state.change = (connection, work) =>
    change(connection, async () => {
      const result = await work()
      await sleep(200)
      return result
    })
  await space.ok(chains(1), { store, modelsAtOnce: 1 })
  const [state] = await space.rows(sql`
    SELECT count(DISTINCT built_at)::INTEGER AS transactions FROM ${space.records}`)
  assert.ok(Number(state?.['transactions']) < COUNT, `${Number(state?.['transactions'])}`)
})

test('the store says when another transaction may begin beside one', async () => {
  const eventsWith = async (models: readonly Model[], apartMs: number) => {
    await using space = await openProject()
    const groups = { joinMs: 0, joinCommits: 0, heldMs: 600_000, apartMs }
    const { seen, progress } = recordProgress()
    await space.ok(models, {
      store: { ...openStore(space.paths), groups },
      modelsAtOnce: 2,
      progress,
    })
    return seen.flatMap((event) =>
      event.event === 'model-started' || event.event === 'model-finished'
        ? [`${event.event} ${event.model}`]
        : [],
    )
  }
  const small = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => query(`s.${name}`, 'select 1 as id'))
  const inTurn = small.flatMap(({ name }) => [`model-started ${name}`, `model-finished ${name}`])
  assert.equal(await eventsWith(small, 600_000), inTurn)

  const work = 'select count(*) as n from range(30000000) t(x) where hash(x) = 0'
  const events = await eventsWith([query('s.long', work), query('s.other', 'select 1 as id')], 1)
  assert.equal(events.slice(0, 2), ['model-started s.long', 'model-started s.other'])
})

test('models that fail among others leave those as they would be without them', async () => {
  for (const modelsAtOnce of [1, 4]) {
    await using space = await openProject()
    await space.ok(chains(1), { modelsAtOnce })
    const broken = new Set([0, 7, 8, COUNT / 3 - 1])
    const { seen, progress } = recordProgress()
    const summary = await space.run(chains(2, broken), { modelsAtOnce, progress })
    for (let i = 0; i < COUNT / 3; i++) {
      assert.is(resultOf(summary, `s${i}.a`).status, 'built')
      const { status, because } = resultOf(summary, `s${i}.b`)
      const below = resultOf(summary, `s${i}.c`)
      if (!broken.has(i)) {
        // The definition of the view is what it was, and its input has changed.
        assert.equal([status, below.status], ['built', 'built'])
        continue
      }
      assert.equal([status, below.status], ['failed', 'skipped'])
      assert.match(because, new RegExp(`^models/s${i}/b\\.sql:.*broken ${i}$`))
      assert.is(below.because, `s${i}.b failed`)
    }
    for (const { name } of chains(2)) {
      const of = (kind: string) =>
        seen.filter((event) => event.event === kind && 'model' in event && event.model === name)
      assert.is(of('model-finished').length, 1, name)
      assert.ok(of('model-started').length <= 1, name)
    }
    assert.ok((await values(space, 'a')).every((value) => value === 2))
    const expected = Array.from({ length: COUNT / 3 }, (_, i) => (broken.has(i) ? 1 : 2))
    assert.equal(await values(space, 'b'), expected)
    assert.equal(await values(space, 'c'), expected)
    const mended = await space.ok(chains(2), { modelsAtOnce })
    const builtNow = mended.models.filter(({ status }) => status === 'built').length
    assert.is(builtNow, 2 * broken.size)
    assert.equal(await values(space, 'c'), expected.fill(2))
  }
})

test('a model that joins a group reads nothing older than what others have committed', async () => {
  await using space = await openProject()
  const layers = 8
  const models = (value: number): readonly Model[] =>
    Array.from({ length: layers }, (_, layer) =>
      Array.from({ length: 5 }, (_, i) => {
        const reads = [i, (i + 1) % 5].map((other) => `l.m${layer - 1}_${other}`)
        // Of unequal length, so that transactions overlap in many ways.
        const busy = `(select count(*) from range(${(i + layer) % 3} * 300000) t(x) where hash(x) = 0)`
        return layer === 0
          ? query(`l.m0_${i}`, `select ${value} + 0 * ${busy} as v`)
          : query(
              `l.m${layer}_${i}`,
              `select v + 0 * ${busy} as v from ${reads.join(' natural join ')}`,
              { reads },
            )
      }),
    ).flat()
  for (let value = 1; value <= 6; value++) {
    await space.ok(models(value), { modelsAtOnce: 4 })
    const list = models(value).map(({ name }) => {
      const [schema = '', table = ''] = name.split('.')
      return sql`SELECT ${sql.value(name)} AS name, count(*)::INTEGER AS n, min(v)::INTEGER AS v FROM ${sql.ident(schema, table)}`
    })
    for (const row of await space.rows(sql.join(list, sql` UNION ALL `)))
      assert.equal([row['n'], row['v']], [1, value], row['name'] as string)
  }
})

test('a check, a key and a watermark that fail in a group name the same place as alone', async () => {
  const good = Array.from({ length: 5 }, (_, i) => query(`g.m${i}`, `select ${i} as x`))
  const bad = [
    query('b.key', 'select 1 as id union all select 1', { expose: ['id'] }),
    query('b.merge', 'select null::int as id', { kind: 'merge', key: ['id'] }),
    query('b.append', 'select null::date as at', { kind: 'append', incremental: 'at' }),
    query('b.type', "select cast('x' || m.x as integer) as n from g.m1 m", { reads: ['g.m1'] }),
  ]
  for (const model of bad) {
    await using alone = await openProject()
    await using together = await openProject()
    await alone.ok(good)
    const expected = resultOf(await alone.run([...good, model]), model.name)
    const summary = await together.run([...good, model])
    assert.is(expected.status, 'failed')
    assert.is(resultOf(summary, model.name).because, expected.because)
    assert.is(summary.models.filter(({ status }) => status === 'built').length, good.length)
    assert.is((await together.rows(sql`FROM ${together.records}`)).length, good.length)
  }
})

test('a failure at the end of a group stops a run that is to fail fast', async () => {
  await using space = await openProject()
  const models = [
    query('a.first', 'select 1 as x'),
    query('a.bad', "select error('no') as x from a.first", { reads: ['a.first'] }),
    query('a.later', 'select 1 as x from a.bad', { reads: ['a.bad'] }),
    query('b.last', 'select x from a.first', { reads: ['a.first'] }),
  ]
  const summary = await space.run(models, { failFast: true })
  assert.equal(statuses(summary), {
    'a.first': 'built',
    'a.bad': 'failed',
    'a.later': 'skipped',
    'b.last': 'skipped',
  })
  assert.is(resultOf(summary, 'b.last').because, 'stopped after the first failure')
})

test.run()
