import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { openProject, resultOf } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

const source = (values: string) => query('raw.s', `select * from (values ${values}) t(id, v)`)

const tracked = (options: QueryModelOptions = {}) =>
  query('mart.t', 'from raw.s', { kind: 'scd2', key: ['id'], reads: ['raw.s'], ...options })

const at = (time: string) => ({ now: () => new Date(`2024-01-01T${time}Z`) })

test('a change, a deletion and a return; the end of a version is the beginning of the next', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 10), (2, 20)'), tracked()], at('01:00:00'))
  await space.ok([source('(1, 11)'), tracked()], at('02:00:00'))
  const third = await space.ok([source('(1, 11), (2, 20)'), tracked()], at('03:00:00'))
  assert.is(resultOf(third, 'mart.t').rows, 1)
  const rows = await space.rows(sql`
    SELECT id, v, hour(valid_from)::INTEGER AS "from", hour(valid_to)::INTEGER AS "to", is_current
    FROM mart.t ORDER BY id, valid_from`)
  assert.equal(rows, [
    { id: 1, v: 10, from: 1, to: 2, is_current: false },
    { id: 1, v: 11, from: 2, to: null, is_current: true },
    { id: 2, v: 20, from: 1, to: 2, is_current: false },
    { id: 2, v: 20, from: 3, to: null, is_current: true },
  ])
})

test('the same rows again are no new version; NULL is a value like any other', async () => {
  await using space = await openProject()
  const reader = query('mart.r', 'from mart.t', { reads: ['mart.t'] })
  await space.ok([source('(1, null::int), (2, 5)'), tracked(), reader])
  const same = await space.ok([source('(2, 5), (1, null::int)'), tracked(), reader])
  assert.is(resultOf(same, 'mart.t').rows, 0)
  assert.is(resultOf(same, 'mart.r').status, 'unchanged')
  const changed = await space.ok([source('(2, null::int), (1, 5)'), tracked(), reader])
  assert.is(resultOf(changed, 'mart.t').rows, 4)
})

test('duplicate and NULL keys fail and leave the history as it was; latest() takes one of them', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), tracked()])
  const twice = await space.run([source('(1, 2), (1, 3)'), tracked()])
  assert.match(resultOf(twice, 'mart.t').because, /duplicate keys: id = 1 \(2 rows\)/)
  const none = await space.run([source('(null::int, 2)'), tracked()])
  assert.match(resultOf(none, 'mart.t').because, /NULL or duplicate keys/)
  assert.equal(await space.rows(sql`SELECT v, is_current FROM mart.t`), [
    { v: 1, is_current: true },
  ])
  await space.ok([source('(1, 2), (1, 3), (1, null)'), tracked({ latest: 'v' })])
  assert.equal(await space.rows(sql`SELECT v FROM mart.t WHERE is_current`), [{ v: 3 }])
})

test('a clock that goes back does not turn time round', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), tracked()], at('05:00:00'))
  await space.ok([source('(1, 2)'), tracked()], at('04:00:00'))
  await space.ok([source('(1, 3)'), tracked()], at('04:00:00'))
  const rows = await space.rows(sql`
    SELECT v, valid_from < coalesce(valid_to, 'infinity') AS forward FROM mart.t ORDER BY valid_from`)
  assert.equal(rows, [
    { v: 1, forward: true },
    { v: 2, forward: true },
    { v: 3, forward: true },
  ])
})

test('after a clock that was ahead, a run says that what changes now counts from the future on', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1)'), tracked()], at('01:00:00'))
  const ahead = { now: () => new Date('2030-01-05T00:00:00Z') }
  await space.ok([source('(1, 2)'), tracked()], ahead)
  const warningsOf = async (rows: string, time: string) =>
    resultOf(await space.ok([source(rows), tracked()], at(time)), 'mart.t').warnings ?? []
  assert.equal(await warningsOf('(1, 2)', '02:00:00'), [], 'nothing changes')
  const [warning = ''] = await warningsOf('(1, 3)', '03:00:00')
  assert.match(
    warning,
    /^the history has times up to 2030-01-05 00:00:00\+00, which is in the future, .* eider publish mart\.t$/,
  )
})

test.run()
