// A plan with a diff builds in memory what a run builds on disk: both must come to the same rows.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import type { RunPlan } from '../../../src/pipeline/plan/show-changes.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import { openProject, resultOf } from '../../support/pipeline-project.ts'
import { diffOf, planned, stepOf } from '../../support/plans.ts'

interface Item {
  readonly id: number
  readonly v: number | null
  readonly ts: number
}

const source = (items: readonly Item[]) =>
  items.length === 0
    ? 'select 1 as id, 1 as v, 1 as ts where false'
    : `select id, v::int as v, ts from (values ${items
        .map(({ id, v, ts }) => `(${id}, ${v ?? 'null'}, ${ts})`)
        .join(', ')}) t(id, v, ts)`

const readers = {
  'mart.keep': '-- @kind: merge\n-- @unique_key: id\nselect id, v from raw.s',
  'mart.mirror':
    '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\nselect id, v from raw.s',
  'mart.hist': '-- @kind: scd2\n-- @unique_key: id\nselect id, v from raw.s',
  'mart.log': '-- @kind: append\n-- @incremental: ts\nselect id, v, ts from raw.s',
  'mart.keyed': '-- @expose id\nselect id, v from mart.keep',
  'mart.bare': 'select v from mart.hist',
  'mart.open': '-- @kind: view\nselect id, v from mart.hist where is_current',
  'mart.total': 'select count(*) as n from mart.open',
}

async function shop(text: string, more: Texts = {}): Promise<readonly Model[]> {
  const { models } = await compileTexts({ 'raw.s': text, ...readers, ...more })
  return [...models.values()]
}

const tables = ['keep', 'mirror', 'log', 'keyed', 'bare', 'open', 'total'] as const

/** Without the times of versions, which are those of the run. */
const contents: readonly Sql[] = [
  ...tables.map(
    (name) => sql`SELECT row_to_json(t)::VARCHAR AS row FROM ${sql.ident('mart', name)} t`,
  ),
  sql`SELECT row_to_json(t)::VARCHAR AS row FROM (
    SELECT id, v, is_current, valid_to IS NULL AS open FROM mart.hist) t`,
]

async function rowsBy(
  rows: (query: Sql) => Promise<readonly object[]>,
): Promise<readonly string[][]> {
  const all: string[][] = []
  for (const content of contents)
    all.push((await rows(content)).map((row) => JSON.stringify(row)).toSorted())
  return all
}

test('random edits: the rehearsal comes to the rows of the run, and says how many they are', async () => {
  const random = seededRandom(71)
  const below = (n: number) => Math.floor(random() * n)
  await using space = await openProject()
  let items: readonly Item[] = [{ id: 1, v: 1, ts: 1 }]
  for (let round = 1; round <= 7; round++) {
    const models = await shop(source(items))
    const plan = await diffOf(space, models, {}, (c) => rowsBy((text) => c.rows(text)))
    const before = round === 1 ? null : await rowsBy((text) => space.rows(text))
    const ran = await space.ok(models)
    const label = `round ${round}: ${JSON.stringify(items)}`
    assert.equal(plan.seen, await rowsBy((text) => space.rows(text)), label)
    for (const { model, action, problem, diff } of plan.steps) {
      assert.is(problem, null, label)
      const { status } = resultOf(ran, model.name)
      assert.is(action, status === 'built' ? 'build' : 'unchanged', `${label} ${model.name}`)
      if (diff === null || model.kind === 'view') continue
      const [count] = await space.rows(
        sql`SELECT count(*)::INTEGER AS n FROM ${sql.ident(...(model.name.split('.') as [string, string]))}`,
      )
      assert.is(diff.rowsAfter, count?.['n'], `${label} ${model.name}`)
    }
    if (before !== null) checkCounts(plan, before, label)
    const edited = items
      .filter(() => below(4) > 0)
      .map((item) => (below(3) === 0 ? { ...item, v: below(3) } : item))
    const next = { id: 10 + round, v: below(2) === 0 ? null : below(3), ts: below(2) + round }
    items = [...edited, ...(below(3) > 0 ? [next] : [{ id: round * 100, v: 0, ts: 1 }])]
  }
})

/** The counts of merges against the rows before and after. */
function checkCounts(
  plan: RunPlan & { readonly seen: readonly string[][] },
  before: readonly string[][],
  label: string,
) {
  for (const [i, name] of (['keep', 'mirror'] as const).entries()) {
    const changes = stepOf(plan, `mart.${name}`).diff?.changes
    if (changes === undefined || changes === null) continue
    const [was, now] = [before[i]!, plan.seen[i]!]
    const gone = was.filter((row) => !now.includes(row)).length
    const come = now.filter((row) => !was.includes(row)).length
    assert.is(changes.inserted + changes.changed, come, `${label} ${name}`)
    assert.is(changes.removed + changes.changed, gone, `${label} ${name}`)
  }
}

test('old and new values of what changes; an empty delta stops what comes after', async () => {
  await using space = await openProject()
  const item = (v: number) =>
    shop(
      source([
        { id: 1, v, ts: 1 },
        { id: 2, v: 2, ts: 2 },
      ]),
    )
  await space.ok(await item(1))
  const plan = await planned(space, await item(5))
  assert.equal(stepOf(plan, 'mart.keep').diff, {
    rowsBefore: 2,
    rowsAfter: 2,
    changes: {
      inserted: 0,
      changed: 1,
      removed: 0,
      key: ['id'],
      sample: [{ change: 'changed', key: { id: '1' }, columns: { v: { from: '1', to: '5' } } }],
    },
    warnings: [],
  })
  // Without a key a row with another value is another row.
  assert.equal(stepOf(plan, 'mart.bare').diff?.changes?.sample, [
    { change: 'inserted', row: { v: '5' } },
  ])
  const same = await shop('select 1 as id, 1 as v, 1 as ts union all select 2, 2, 2')
  const touched = await planned(space, same)
  assert.is(stepOf(touched, 'mart.keep').action, 'build')
  assert.equal(stepOf(touched, 'mart.keep').diff?.changes?.sample, [])
  assert.is(stepOf(touched, 'mart.keyed').action, 'unchanged')
})

test('what the run refuses for its rows is told before, and what reads the model is skipped', async () => {
  await using space = await openProject()
  await space.ok(await shop(source([{ id: 1, v: 1, ts: 1 }])))
  const twice = [
    { id: 7, v: 1, ts: 2 },
    { id: 7, v: 2, ts: 2 },
  ]
  for (const items of [twice, []]) {
    const models = await shop(source(items))
    const plan = await planned(space, models)
    const ran = await space.run(models)
    for (const { model, action, problem } of plan.steps) {
      const { status, because } = resultOf(ran, model.name)
      const told = problem !== null ? 'failed' : action === 'skip' ? 'skipped' : action
      assert.is(told === 'build' ? 'built' : told, status, model.name)
      if (problem !== null) assert.is(problem, because)
    }
    assert.is(ran.ok, false)
    assert.ok(plan.steps.some(({ problem }) => problem !== null))
  }
  const emptied = await planned(space, await shop(source([])), { allowEmpty: true })
  assert.is(stepOf(emptied, 'mart.mirror').diff?.changes?.removed, 1)
})

test('a range, a full refresh, a new column of rows that are read again', async () => {
  await using space = await openProject()
  const items = [1, 2, 3].map((id) => ({ id, v: id, ts: id }))
  await space.ok(await shop(source(items)))
  const range = { start: '2', end: '3' }
  const other = await shop(source(items.map((item) => ({ ...item, v: 9 }))))
  const backfill = stepOf(await planned(space, other, { range }), 'mart.log')
  assert.is(backfill.because, 'backfill')
  assert.equal(backfill.losses, ['replaces 1 row whose ts is at least 2 and below 3'])
  assert.is(backfill.diff?.rowsAfter, 3)
  assert.equal(backfill.diff?.changes?.sample, [
    { change: 'inserted', row: { id: '2', v: '9', ts: '2' } },
    { change: 'removed', row: { id: '2', v: '2', ts: '2' } },
  ])
  const fresh = stepOf(
    await planned(space, await shop(source([])), { fullRefresh: true }),
    'mart.log',
  )
  assert.equal(fresh.losses, ['--full-refresh drops 3 rows of the table'])
  assert.is(fresh.diff?.rowsAfter, 0)
  const wider =
    '-- @kind: append\n-- @incremental: ts lookback 1\nselect id, v, ts, id * 2 as w from raw.s'
  const all = await shop(source(items), { 'mart.log': wider })
  const rows = sql`SELECT id, w FROM mart.log ORDER BY id`
  const plan = await diffOf(space, all, {}, (connection) => connection.rows(rows))
  assert.equal(stepOf(plan, 'mart.log').columns, [{ column: 'w', from: null, to: 'INTEGER' }])
  await space.ok(all)
  assert.equal(plan.seen, await space.rows(rows))
})

test('an events table that would change stands with its new columns', async () => {
  await using space = await openProject()
  const texts = (columns: string, query: string) => ({
    'raw.e': `-- @kind: events\n${columns}`,
    'mart.r': query,
  })
  const modelsOf = async (given: Texts) => [...(await compileTexts(given)).models.values()]
  await space.ok(await modelsOf(texts('id integer', 'select id from raw.e')))
  const after = await modelsOf(texts('id bigint, note varchar', 'select id, note from raw.e'))
  const plan = await planned(space, after)
  assert.equal(stepOf(plan, 'mart.r').columns, [
    { column: 'id', from: 'INTEGER', to: 'BIGINT' },
    { column: 'note', from: null, to: 'VARCHAR' },
  ])
  assert.is(stepOf(plan, 'mart.r').diff?.rowsAfter, 0)
})

test.run()
