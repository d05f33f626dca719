// A STRUCT that gets more fields: the table goes on, and its rows have NULL in them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'
import { openProject, resultOf } from '../../support/pipeline-project.ts'

const source = (...rows: readonly string[]) =>
  query('raw.s', `select * from (values ${rows.join(', ')}) t(id, place, l)`)

const kinds: Readonly<Record<string, QueryModelOptions>> = {
  merge: { kind: 'merge', key: ['id'] },
  append: { kind: 'append', key: ['id'], incremental: 'id' },
  period: { kind: 'period', key: ['id'], period: '2 of id' },
  scd2: { kind: 'scd2', key: ['id'] },
}

for (const [kind, options] of Object.entries(kinds))
  test(`${kind}: new fields of a STRUCT, also within a list, are NULL in the rows of before`, async () => {
    await using space = await openProject()
    const expose = kind === 'scd2' ? ['id', 'valid_from'] : ['id']
    const model = query('mart.t', 'from raw.s', { reads: ['raw.s'], ...options, expose })
    await space.ok([source(`(1, {'a': 1}, [{'x': 'p'}])`, `(2, null, [])`), model])
    const more = source(
      `(2, null, [])`,
      `(3, {'b': 'new', 'a': 5_000_000_000}, [{'x': 'q', 'y': {'z': true}}])`,
    )
    const run = await space.ok([more, model])
    assert.is(resultOf(run, 'mart.t').status, 'built')
    assert.equal(await space.rows(sql`SELECT id, place.a, place.b, l FROM mart.t ORDER BY id`), [
      { id: 1, a: '1', b: null, l: [{ x: 'p', y: null }] },
      { id: 2, a: null, b: null, l: [] },
      { id: 3, a: '5000000000', b: 'new', l: [{ x: 'q', y: { z: true } }] },
    ])
    const [relation] = (await space.published()).relations
    const published = relation!.columns.find(({ name }) => name === 'place')
    assert.is(published?.type, 'STRUCT(b VARCHAR, a BIGINT)')
    assert.is(resultOf(await space.ok([more, model]), 'mart.t').status, 'unchanged')
  })

for (const [kind, options] of Object.entries(kinds))
  test(`${kind}: a STRUCT called s or t, with a field that is called as the key`, async () => {
    await using space = await openProject()
    const rows = (...ids: readonly number[]) =>
      query(
        'raw.s',
        `select id, {'id': 2, 'v': id} as s, {'id': 2} as t from (values ${ids.map((id) => `(${id})`).join(', ')}) r(id)`,
      )
    const model = query('mart.t', 'from raw.s', { reads: ['raw.s'], ...options })
    await space.ok([rows(1, 2), model])
    await space.ok([rows(1, 2, 3), model])
    assert.equal(await space.rows(sql`SELECT DISTINCT id FROM mart.t ORDER BY id`), [
      { id: 1 },
      { id: 2 },
      { id: 3 },
    ])
  })

const removing: Readonly<Record<string, QueryModelOptions>> = {
  merge: { kind: 'merge', key: ['id'], deletes: 'mirror' },
  scd2: { kind: 'scd2', key: ['id'] },
  'scd2 by time': { kind: 'scd2', key: ['id'], validFrom: 'at' },
}

for (const [kind, options] of Object.entries(removing))
  test(`${kind}: a row that is gone is found though a STRUCT is called t`, async () => {
    await using space = await openProject()
    const rows = (...ids: readonly number[]) =>
      query(
        'raw.s',
        `select id, timestamptz '2026-01-01' as at, {'id': 2} as s, {'id': 2, 'v': id} as t from (values ${ids.map((id) => `(${id})`).join(', ')}) r(id)`,
      )
    const model = query('mart.t', 'from raw.s', { reads: ['raw.s'], ...options })
    await space.ok([rows(1, 2, 3), model])
    await space.ok([rows(1, 2), model])
    const where = options.kind === 'scd2' ? sql`WHERE is_current` : sql.empty
    assert.equal(await space.rows(sql`SELECT id FROM mart.t ${where} ORDER BY id`), [
      { id: 1 },
      { id: 2 },
    ])
  })

test('rows of the rule of now are known though a STRUCT is called s', async () => {
  await using space = await openProject()
  const options = { kind: 'append', key: ['id'], incremental: 'id lookback 5' } as const
  const rows = (last: number, rule: number) => [
    query('raw.s', `select i as id, {'id': 2} as s from range(1, ${last + 1}) t(i)`),
    query('mart.t', `select *, ${rule} as v from raw.s`, { reads: ['raw.s'], ...options }),
  ]
  await space.ok(rows(3, 1))
  await space.ok(rows(4, 2), { forwardOnly: true })
  const starts = await space.rows(
    sql`SELECT range_start FROM _eider.slices WHERE range_start IS NOT NULL`,
  )
  assert.equal(starts, [{ range_start: '4' }])
})

test.run()
