// Columns that get another name: the rows stay, with keys, watermarks and histories. And columns that are gone.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, resultOf } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

const source = (columns: string, ...rows: readonly string[]) =>
  query('raw.s', `select * from (values ${rows.join(', ')}) t(${columns})`)

const model = (options: QueryModelOptions) =>
  query('mart.t', 'from raw.s', { reads: ['raw.s'], ...options })

const kinds: Readonly<Record<string, QueryModelOptions>> = {
  merge: { kind: 'merge', key: ['id'] },
  append: { kind: 'append', key: ['id'], incremental: 'id' },
  period: { kind: 'period', key: ['id'], period: '2 of id' },
  scd2: { kind: 'scd2', key: ['id'] },
}

for (const [kind, options] of Object.entries(kinds))
  test(`${kind}: a renamed column keeps its values, and its readers and what is published follow`, async () => {
    await using space = await openProject()
    const exposed = { ...options, expose: kind === 'scd2' ? ['id', 'valid_from'] : ['id'] }
    await space.ok([source('id, v', '(1, 10)', '(2, 20)'), model(exposed)])
    const reader = query('mart.r', 'select sum(w)::int as w from mart.t', { reads: ['mart.t'] })
    const renamed = model({ ...exposed, renames: [{ from: 'V', to: 'w' }] })
    const run = await space.ok([source('id, w', '(2, 20)', '(3, 30)'), renamed, reader])
    assert.is(resultOf(run, 'mart.t').status, 'built')
    assert.equal(await space.rows(sql`SELECT id, w FROM mart.t ORDER BY id`), [
      { id: 1, w: 10 },
      { id: 2, w: 20 },
      { id: 3, w: 30 },
    ])
    assert.equal(await space.rows(sql`FROM mart.r`), [{ w: 60 }])
    const [ends] = await space.rows(sql`SELECT min(w) AS least, max(w) AS most FROM mart.t`)
    assert.equal(ends, { least: 10, most: 30 })
    const [relation] = (await space.published()).relations
    assert.ok(relation!.columns.some(({ name }) => name === 'w'))
    assert.not(relation!.columns.some(({ name }) => name === 'v'))
    // The line may stay.
    const again = await space.ok([source('id, w', '(2, 20)', '(3, 31)'), renamed, reader])
    assert.is(resultOf(again, 'mart.t').status, 'built')
  })

test('a column of a type that a lake stores under another one', async () => {
  await using space = await openProject()
  const mood = (word: string) => `'${word}'::ENUM('sad', 'glad')`
  await space.ok([source('id, v', `(1, ${mood('sad')})`), model(kinds['merge']!)])
  const renamed = model({ ...kinds['merge'], renames: [{ from: 'v', to: 'w' }] })
  await space.ok([source('id, w', `(2, ${mood('glad')})`), renamed])
  assert.equal(await space.rows(sql`SELECT id, w FROM mart.t ORDER BY id`), [
    { id: 1, w: 'sad' },
    { id: 2, w: 'glad' },
  ])
})

test('a rename alone changes the table: what reads it is built', async () => {
  await using space = await openProject()
  const rows = ['(1, 10)', '(2, 20)']
  const reader = (name: string) =>
    query('mart.r', `select ${name} from mart.t`, { reads: ['mart.t'] })
  await space.ok([source('id, v', ...rows), model(kinds['merge']!), reader('v')])
  const renamed = model({ ...kinds['merge'], renames: [{ from: 'v', to: 'w' }] })
  const run = await space.ok([source('id, w', ...rows), renamed, reader('w')])
  assert.equal(
    run.models.map(({ model: name, status, rows: n = null }) => [name, status, n]),
    [
      ['raw.s', 'built', 2],
      ['mart.t', 'built', 0],
      ['mart.r', 'built', 2],
    ],
  )
})

test('the key and the watermark may be renamed, and two columns may change their names in one run', async () => {
  await using space = await openProject()
  const first = model({ kind: 'merge', key: ['id'], incremental: 'ts' })
  await space.ok([source('id, ts, v', '(1, 1, 10)', '(2, 5, 20)'), first])
  const renames = [
    { from: 'id', to: 'order_id' },
    { from: 'ts', to: 'at_ts' },
  ]
  const second = model({ kind: 'merge', key: ['order_id'], incremental: 'at_ts', renames })
  // The row before the watermark is not read, so the table keeps 10.
  await space.ok([source('order_id, at_ts, v', '(1, 1, 11)', '(2, 6, 21)'), second])
  assert.equal(await space.rows(sql`SELECT order_id, at_ts, v FROM mart.t ORDER BY 1`), [
    { order_id: 1, at_ts: 1, v: 10 },
    { order_id: 2, at_ts: 6, v: 21 },
  ])
})

test('back and forth, through a third name, and with the type made wider', async () => {
  await using space = await openProject()
  const step = (name: string, renames: QueryModelOptions['renames'], value = '10') =>
    space.ok([
      source(`id, ${name}`, `(1, ${value})`),
      model({ ...kinds['merge'], ...(renames && { renames }) }),
    ])
  await step('a', undefined)
  await step('b', [{ from: 'a', to: 'b' }])
  await step('a', [{ from: 'b', to: 'a' }])
  const both = [
    { from: 'a', to: 'c' },
    { from: 'b', to: 'c' },
  ]
  await step('c', both)
  await step(
    'd',
    [...both.map(({ from }) => ({ from, to: 'd' })), { from: 'c', to: 'd' }],
    '10::bigint',
  )
  const [column] = await space.rows(
    sql`SELECT d, typeof(d) AS type, count(*) OVER ()::INTEGER AS n FROM mart.t`,
  )
  assert.equal(column, { d: '10', type: 'BIGINT', n: 1 })
})

test('a column that the table has already, under the new name or another one, is not replaced', async () => {
  await using space = await openProject()
  await space.ok([source('id, v, w', '(1, 10, 11)'), model(kinds['merge']!)])
  const onto = model({ ...kinds['merge'], renames: [{ from: 'v', to: 'w' }] })
  const refused = await space.run([source('id, w', '(1, 12)'), onto])
  assert.match(
    resultOf(refused, 'mart.t').because,
    /the table has both "v" and "w", so "v" cannot become "w"; delete that line/,
  )
  const two = model({
    ...kinds['merge'],
    renames: [
      { from: 'v', to: 'x' },
      { from: 'w', to: 'x' },
    ],
  })
  const ambiguous = await space.run([source('id, x', '(1, 12)'), two])
  assert.match(resultOf(ambiguous, 'mart.t').because, /the table has both "v" and "w"/)
  assert.equal(await space.rows(sql`FROM mart.t`), [{ id: 1, v: 10, w: 11 }])
})

test('a build that fails after the rename leaves the table as it was', async () => {
  await using space = await openProject()
  await space.ok([source('id, v', '(1, 10)'), model(kinds['merge']!)])
  const renamed = model({ ...kinds['merge'], renames: [{ from: 'v', to: 'w' }] })
  const run = await space.run([source('id, w', '(1, 11)', '(1, 12)'), renamed])
  assert.match(resultOf(run, 'mart.t').because, /duplicate keys/)
  assert.equal(await space.rows(sql`FROM mart.t`), [{ id: 1, v: 10 }])
})

test('without the line the refusal names all ways, of scd2 also that its history would end', async () => {
  await using space = await openProject()
  for (const [kind, options] of Object.entries(kinds)) {
    const kept = { ...options, reads: ['raw.s'] }
    const made = (columns: string) => [
      source(columns, '(1, 10)'),
      query(`mart.${kind}`, 'from raw.s', kept),
    ]
    await space.ok(made('id, v'))
    const because = resultOf(await space.run(made('id, "w 2"')), `mart.${kind}`).because
    const name = `mart.${kind}`
    assert.match(because, `no longer has "v", which the table holds; if "v" has another name now`)
    assert.match(
      because,
      `write -- @renamed_from "w 2": v, or run eider mv ${name}.v '${name}.w 2'`,
    )
    const older = kind === 'scd2' ? 'older versions' : 'the rows that have it'
    assert.match(because, `; to keep it in ${older}, write -- @on_schema_change: keep; otherwise`)
    assert.match(
      because,
      `rebuild the table${kind === 'scd2' ? ', which ends its history' : ''}: eider run ${name} --full-refresh`,
    )
  }
})

test('scd2 with @on_schema_change: keep keeps a column that is gone, with NULL in new versions', async () => {
  await using space = await openProject()
  const kept = { ...kinds['scd2'], onSchemaChange: 'keep', expose: ['id', 'valid_from'] } as const
  await space.ok([source('id, v, w', '(1, 10, 1)', '(2, 20, 2)'), model(kept)])
  const run = await space.ok([source('id, v', '(1, 11)', '(2, 20)'), model(kept)])
  assert.is(resultOf(run, 'mart.t').rows, 2)
  const history = sql`SELECT id, v, w, is_current FROM mart.t ORDER BY id, valid_from`
  const after = [
    { id: 1, v: 10, w: 1, is_current: false },
    { id: 1, v: 11, w: null, is_current: true },
    { id: 2, v: 20, w: 2, is_current: true },
  ]
  assert.equal(await space.rows(history), after)
  const same = await space.ok([source('id, v', '(2, 20)', '(1, 11)'), model(kept)])
  assert.is(resultOf(same, 'mart.t').rows, 0)
  // It goes on where it comes back.
  await space.ok([source('id, v, w', '(1, 11, 5)', '(2, 20, 2)'), model(kept)])
  assert.equal((await space.rows(history)).slice(2), [
    { id: 1, v: 11, w: 5, is_current: true },
    { id: 2, v: 20, w: 2, is_current: true },
  ])
})

test('merge, append and period with @on_schema_change: keep keep a column that is gone where rows have it', async () => {
  const rows = {
    // The first row changes, the second is as it was, the third is new.
    merge: ['1 11 1', '2 20 2', '3 30 null'],
    append: ['1 10 1', '2 20 2', '3 30 null'],
    // Both rows of the first period are made anew.
    period: ['1 11 null', '2 20 null', '3 30 null'],
  }
  const first = source('id, v, w', '(1, 10, 1)', '(2, 20, 2)')
  const next = source('id, v', '(1, 11)', '(2, 20)', '(3, 30)')
  for (const [kind, expected] of Object.entries(rows)) {
    await using space = await openProject()
    const period = kind === 'period' ? { period: '10 of id' } : {}
    const made = model({ ...kinds[kind], ...period, onSchemaChange: 'keep' })
    await space.ok([first, made])
    await space.ok([next, made])
    const text = sql`SELECT concat_ws(' ', id, v, coalesce(w::VARCHAR, 'null')) AS t FROM mart.t ORDER BY id`
    const texts = async () => (await space.rows(text)).map(({ t }) => t)
    assert.equal(await texts(), expected, kind)
    const again = source('id, v', '(3, 30)', '(2, 20)', '(1, 11)')
    assert.is(resultOf(await space.ok([again, made]), 'mart.t').rows, 0, kind)
    assert.equal(await texts(), expected, kind)
    // It goes on where it comes back.
    await space.ok([source('id, v, w', '(3, 30, 7)', '(4, 40, 8)'), made])
    assert.is((await texts()).at(-1), '4 40 8', kind)
  }
})

test('a version that is corrected by its time keeps the column that is gone', async () => {
  await using space = await openProject()
  const kept = { ...kinds['scd2'], onSchemaChange: 'keep', validFrom: 'day' } as const
  const day = `date '2024-01-03'`
  await space.ok([source('id, v, w, day', `(1, 10, 1, ${day})`), model(kept)])
  await space.ok([source('id, v, day', `(1, 11, ${day})`), model(kept)])
  assert.equal(await space.rows(sql`SELECT id, v, w FROM mart.t`), [{ id: 1, v: 11, w: 1 }])
})

test.run()
