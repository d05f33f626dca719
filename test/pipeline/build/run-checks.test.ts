import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import type { Connection } from '../../../src/duckdb/database.ts'
import { toDatabaseError } from '../../../src/duckdb/errors.ts'
import { judgeRows } from '../../../src/pipeline/build/run-checks.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { openProject, resultOf, statuses } from '../../support/pipeline-project.ts'

const compiled = async (texts: Readonly<Record<string, string>>): Promise<readonly Model[]> => [
  ...(await compileTexts(texts)).models.values(),
]

const rows = (values: string) => `select * from (values ${values}) t(id, status, amount)`
const good = "(1, 'open', 5), (2, 'done', null)"

/** A check, rows that fail it, and what is said of them. */
const cases: readonly (readonly [string, string, RegExp])[] = [
  ['not_null(id, amount)', "(1, 'open', 1), (2, 'x', null)", /for 1 row: \{'id': 2, .*NULL\}$/],
  ['unique(id, status)', "(1, 'a', 1), (1, 'a', 2), (null, 'a', 1)", /for 1 row: .*'rows': 2/],
  [
    "accepted(status, 'open', 'it''s')",
    "(1, 'it''s', 1), (2, 'no', 1)",
    /for 1 row: .*'status': no/,
  ],
  ['accepted(amount, 1, -2)', "(1, 'a', 1), (2, 'a', -2), (3, 'a', 3), (4, 'a', null)", /'id': 3/],
  ['row_count(< 2)', good, /row_count\(< 2\) does not hold: mart\.t has 2 rows$/],
  [
    'row_count(> 1) where amount > 1',
    good,
    /where amount > 1 does not hold: mart\.t has 1 such row$/,
  ],
  ["amount > 0 OR status = 'gift'", "(1, 'a', 0), (2, 'gift', 0), (3, 'b', null)", /'id': 1/],
  ['amount > 0', "(1, repeat('x', 300), 0)", /: \{'id': 1, 'status': x{180}…$/],
  ["status LIKE '%)%' -- not the end", "(1, 'a', 0)", /for 1 row/],
]

for (const [check, values, expected] of cases)
  test(`@check: ${check}`, async () => {
    await using space = await openProject()
    const models = (kind: string) =>
      compiled({ 'mart.t': `-- @kind: ${kind}\n-- @check: ${check}\n${rows(values)}` })
    for (const kind of ['table', 'view']) {
      const failed = resultOf(await space.run(await models(kind)), 'mart.t')
      assert.is(failed.status, 'failed', kind)
      assert.match(failed.because, /^models\/mart\/t\.sql:2:4: /)
      assert.ok(failed.because.includes(` ${check} does not hold`), failed.because)
      assert.match(failed.because, expected)
    }
  })

test('a check that fails keeps the last good version; all that fail are said; three rows are shown', async () => {
  await using space = await openProject()
  const text = (values: string) =>
    `-- @check: amount > 0\n-- @check not_null(amount)\n-- @check: unique(id)\n${rows(values)}`
  await space.ok(await compiled({ 'mart.t': text("(1, 'a', 1)") }))
  const bad = Array.from({ length: 9 }, (_, i) => `(${i}, 'a', 0)`).join(', ')
  const failed = await space.run(await compiled({ 'mart.t': text(`${bad}, (10, 'b', null)`) }))
  const { because } = resultOf(failed, 'mart.t')
  assert.match(
    because,
    /:1:4: amount > 0 does not hold for 9 rows: .*'id': 0.*'id': 1.*'id': 2.*; and more; /,
  )
  assert.match(because, /:2:4: not_null\(amount\) does not hold for 1 row/)
  assert.not.match(because, /unique/)
  assert.equal(await space.rows(sql`SELECT id FROM mart.t`), [{ id: 1 }])
})

test('a check that cannot be evaluated is named, and not the SELECT', async () => {
  await using space = await openProject()
  const text = `-- @check: CAST(status AS INTEGER) > 0\n${rows("(1, 'a', 1)")}`
  const failed = resultOf(await space.run(await compiled({ 'mart.t': text })), 'mart.t')
  assert.match(
    failed.because,
    /^models\/mart\/t\.sql:1:4: CAST\(status AS INTEGER\) > 0: 'a' is not an INTEGER/,
  )
})

test('a disk that is full while a check runs is called that, with the place of the check', async () => {
  const [model] = await compiled({ 'mart.t': `-- @check: amount > 0\n${rows(good)}` })
  const full = toDatabaseError(
    new Error('IO Error: Could not write file "/tmp/d": No space left on device'),
  )
  const connection = { row: () => Promise.reject(full) } as unknown as Connection
  const { problem } = await judgeRows(connection, model!)
  assert.match(
    String(problem),
    /^models\/mart\/t\.sql:1:4: amount > 0: the disk is full: .*No space left on device/,
  )
})

test('@warn reports and builds', async () => {
  await using space = await openProject()
  const models = await compiled({
    'mart.t': `-- @warn: amount > 9\n-- @warn: not_null(id)\n${rows(good)}`,
    'mart.r': 'from mart.t',
  })
  const summary = await space.ok(models)
  assert.equal(statuses(summary), { 'mart.t': 'built', 'mart.r': 'built' })
  const { warnings } = resultOf(summary, 'mart.t')
  assert.is(warnings?.length, 1)
  assert.match(warnings?.[0] ?? '', /^models\/mart\/t\.sql:1:4: amount > 9 does not hold for 1 row/)
})

test('references: an edge of the graph, checked after the other model; NULL refers to nothing', async () => {
  await using space = await openProject()
  const texts = (values: string) => ({
    'a.orders': `-- @check: references(customer, z.customers.id)\nselect * from (values ${values}) t(customer)`,
    'z.customers': 'select * from (values (1, null), (2, 1)) t(id, parent) -- no check',
    'z.tree': '-- @check: references(parent, z.tree.id)\nfrom z.customers',
  })
  const summary = await space.ok(await compiled(texts('(1), (2), (null)')))
  assert.equal(
    summary.models.map(({ model }) => model),
    ['z.customers', 'a.orders', 'z.tree'],
  )
  const failed = await space.run(await compiled(texts('(1), (7)')))
  assert.match(resultOf(failed, 'a.orders').because, /for 1 row: \{'customer': 7\}/)
})

test('checks see the whole table of a merge, not only what came in', async () => {
  await using space = await openProject()
  const text = (values: string) =>
    `-- @kind: merge\n-- @unique_key: id\n-- @check: unique(status)\n${rows(values)}`
  await space.ok(await compiled({ 'mart.t': text("(1, 'a', 1)") }))
  const failed = await space.run(await compiled({ 'mart.t': text("(2, 'a', 1)") }))
  assert.match(resultOf(failed, 'mart.t').because, /unique\(status\) does not hold/)
  assert.equal(await space.rows(sql`SELECT id FROM mart.t`), [{ id: 1 }])
})

test('a check that is changed runs again; a comment in its line counts as part of it', async () => {
  const definition = async (check: string) =>
    (await compiled({ 'a.t': `-- @check: ${check}\nselect 1 as x` }))[0]?.definition
  assert.is.not(await definition('x > 0'), await definition('x > 1'))
  assert.is(await definition('x > 0'), await definition('x > 0'))
})

test.run()
