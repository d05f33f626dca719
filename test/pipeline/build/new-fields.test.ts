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

test.run()
