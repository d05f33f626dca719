// A small table of small inputs is made anew and compared: what a run says of it, and what others hear of the change, is what
// an update would say.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'
import { setSmallTables } from '../../support/small-tables.ts'

const TEXTS = {
  'raw.o': '-- @kind: events\nid INTEGER,\ncust INTEGER,\namount DOUBLE,\nlasts INTERVAL',
  'core.o': '-- @kind: table\nSELECT id, cust, amount, lasts FROM raw.o WHERE amount < 100',
  'mart.o': '-- @kind: table\n-- @expose: id\nSELECT id, amount, lasts FROM core.o',
  'mart.c': '-- @kind: table\nSELECT cust, count(*) AS n FROM core.o GROUP BY cust',
}

const NAMES = ['core.o', 'mart.o', 'mart.c']

type Order = readonly [id: number, cust: number, amount: number, lasts?: string]

async function shop() {
  const space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const project = await compileTexts(TEXTS)
  const run = async (...orders: readonly Order[]) => {
    const events = orders.map(([id, cust, amount, lasts = '1 day']) => ({
      id,
      cust,
      amount,
      lasts,
    }))
    if (events.length > 0) await claims.add('raw.o', events)
    const openClaims = () => Promise.resolve(claims)
    const { models } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
    return NAMES.map((name) => {
      const { status, changes, because } = models.find(({ model }) => model === name)!
      if (status === 'failed') throw new Error(because)
      if (changes === undefined) return status
      return `${changes.way} +${changes.rows_in} -${changes.rows_out}`
    })
  }
  return { space, run, [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() }
}

for (const are of ['updated', 'compared'] as const)
  test(`small tables that are ${are} say the same of a change`, async () => {
    setSmallTables(are)
    await using its = await shop()
    await its.run([1, 1, 5], [2, 1, 6], [3, 2, 7])
    const before = await its.space.published()
    const same = await its.run([4, 9, 500])
    assert.equal(same, ['update +0 -0', 'unchanged', 'unchanged'], 'no row of core.o is new')
    assert.equal((await its.space.published()).relations, before.relations)
    assert.equal(await its.run([5, 2, 8]), ['update +1 -0', 'update +1 -0', 'update +1 -1'])
    assert.equal(await its.run([6, 3, 8, '1 month']), [
      'update +1 -0',
      'update +1 -0',
      'update +1 -0',
    ])
    const rows = await its.space.rows(sql`SELECT cust, n FROM mart.c ORDER BY cust`)
    assert.equal(rows.map(Object.values), [
      [1, '2'],
      [2, '2'],
      [3, '1'],
    ])
  })

const NAMED = 'SELECT id, name COLLATE NOCASE AS name FROM core.n'

const NAMES_OF = {
  'raw.n': '-- @kind: events\nid INTEGER,\nseq INTEGER,\nname VARCHAR',
  'core.n':
    '-- @kind: merge\n-- @unique_key: id\n-- @on_duplicate: latest(seq)\nSELECT id, seq, name FROM raw.n',
  'mart.t': `-- @kind: table\n${NAMED}`,
  'mart.m': `-- @kind: merge\n-- @unique_key: id\n${NAMED}`,
  'mart.s': `-- @kind: scd2\n-- @unique_key: id\n${NAMED}`,
  'mart.p': `-- @kind: period\n-- @period: 10 of id\n${NAMED}`,
  'mart.a': `-- @kind: append\n-- @incremental: id\n${NAMED}`,
}

for (const are of ['updated', 'compared'] as const)
  test(`a name that is written in capitals arrives behind a collation, in tables that are ${are}`, async () => {
    setSmallTables(are)
    await using space = await openProject()
    const claims = new FakeClaims(space.path('buffer'))
    const project = await compileTexts(NAMES_OF)
    const run = async (seq: number, name: string) => {
      await claims.add('raw.n', [{ id: 1, seq, name }])
      const openClaims = () => Promise.resolve(claims)
      const { ok } = await runPipeline({ ...runDefaults(space.paths), project, openClaims })
      assert.ok(ok)
    }
    await run(1, 'Ann')
    await run(2, 'ANN')
    const namesIn = async (table: string) => {
      const rows = await space.rows(
        sql`SELECT name FROM ${sql.ident('mart', table)} ORDER BY encode(name)`,
      )
      return rows.map((row) => row['name'])
    }
    for (const table of ['t', 'm', 'p']) assert.equal(await namesIn(table), ['ANN'], table)
    for (const table of ['s', 'a']) assert.equal(await namesIn(table), ['ANN', 'Ann'], table)
  })

test('more rows than a small table has are updated', async () => {
  setSmallTables('compared')
  await using its = await shop()
  await its.run(...Array.from({ length: 3_000 }, (_, i): Order => [i, i % 7, 1]))
  await its.space.alter(sql`UPDATE core.o SET amount = 2 WHERE id = 1`)
  await its.run([9_000, 1, 1])
  const [row] = await its.space.rows(sql`SELECT count(*) AS n FROM core.o WHERE amount = 2`)
  assert.equal(Number(row?.['n']), 1, 'what the change does not touch is left')
})

test.run()
