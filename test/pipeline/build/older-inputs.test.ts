// The SELECT of a view or of a rebuilt table is edited: it is a rule of the models that read it and keep their rows.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { compileTexts, type Texts } from '../../support/compile-texts.ts'
import {
  openProject,
  resultOf,
  runDefaults,
  type TestProject,
} from '../../support/pipeline-project.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import type { RunRequest } from '../../../src/pipeline/run-request.ts'

const seed = `-- @kind: table
SELECT * FROM (VALUES (1, 1, 10), (2, 2, 20), (7, 7, 30), (8, 8, 40)) AS t(id, ts, amount)`

const view = (factor: number) =>
  `-- @kind: view\nSELECT id, ts, amount * ${factor} AS amount FROM raw.orders`

const headers = {
  append: '-- @kind: append\n-- @incremental: ts',
  merge: '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts',
  period: '-- @kind: period\n-- @period: 1 of ts',
} as const

type Kind = keyof typeof headers

const reader = (kind: Kind, from = 'stage.orders') =>
  `${headers[kind]}\nSELECT id, ts, amount AS v FROM ${from}`

async function run(space: TestProject, texts: Texts, options: Partial<RunRequest> = {}) {
  const project = await compileTexts(texts)
  const summary = await runPipeline({ ...runDefaults(space.paths), project, ...options })
  if (!summary.ok) throw new Error(JSON.stringify(summary.models, null, 2))
  return resultOf(summary, 'mart.t')
}

const rowsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT concat_ws(' ', id, v) AS text FROM mart.t ORDER BY ALL`)).map(
    ({ text }) => text as string,
  )

for (const kind of Object.keys(headers) as Kind[])
  test(`rows of an older view are named until they are built again: ${kind}`, async () => {
    await using space = await openProject()
    const of = (factor: number) => ({
      'raw.orders': seed,
      'stage.orders': view(factor),
      'core.orders': '-- @kind: view\nFROM stage.orders',
      'mart.t': reader(kind, 'core.orders'),
    })
    await run(space, of(1))
    const edited = await run(space, of(2))
    assert.equal(await rowsOf(space), ['1 10', '2 20', '7 30', '8 80'])
    const said = edited.older_rows
    assert.is(said?.text, '3 of 4 rows were made by an older rule of stage.orders')
    assert.match(said?.ways ?? '', /^eider run mart\.t --full-refresh rebuilds them, with --start/)
    const idle = await run(space, of(2))
    assert.equal([idle.status, idle.older_rows?.rows], ['unchanged', 3])
    const some = await run(space, of(2), { range: { start: '2', end: '8' } })
    assert.is(some.older_rows?.rows, 1)
    assert.equal(await rowsOf(space), ['1 10', '2 40', '7 60', '8 80'])
    const kept = await run(space, of(2), {
      forwardOnly: true,
      selection: { include: ['mart.t'], exclude: [], retry: false },
    })
    assert.is(kept.older_rows, undefined)
    // What comes back is the rule of the row that has kept it.
    const back = await run(space, of(1))
    assert.equal(await rowsOf(space), ['1 10', '2 40', '7 60', '8 40'])
    assert.is(back.older_rows?.text, '2 of 4 rows were made by an older rule of stage.orders')
  })

test('white space, a description and a view that only a check reads are no rule', async () => {
  await using space = await openProject()
  const of = (text: string, ids: string) => ({
    'raw.orders': seed,
    'ref.ids': `-- @kind: view\nSELECT ${ids} AS id FROM raw.orders`,
    'stage.orders': text,
    'mart.t': reader('append').replace('\n', '\n-- @check: references(id, ref.ids.id)\n'),
  })
  await run(space, of(view(1), 'id'))
  const same = view(1).replace('\n', '\n-- @description: Orders\n').replace(', ts', ',\n  ts')
  const next = await run(space, of(`${same} -- end`, 'id + 0'))
  assert.is(next.older_rows, undefined)
})

test('a table that is built anew is a rule of those who do not read its changes', async () => {
  const table = (factor: number) => view(factor).replace('view', 'table')
  for (const [kind, from, rows] of [
    // All of its rows differ, so all are read again, and are those of the new rule.
    ['append', 'stage.orders', undefined],
    ['period', 'stage.orders', undefined],
    ['merge', 'stage.orders', undefined],
    [
      'period',
      '(SELECT id, ts, (SELECT max(amount) FROM stage.orders s WHERE s.id = r.id) AS amount FROM raw.orders r)',
      3,
    ],
  ] as const) {
    await using space = await openProject()
    const of = (factor: number) => ({
      'raw.orders': seed,
      'stage.orders': table(factor),
      'mart.t': reader(kind, from),
    })
    await run(space, of(1))
    const edited = await run(space, of(2))
    assert.is(edited.older_rows?.rows, rows, `${kind} of ${from}`)
    const values = rows === undefined ? ['1 20', '2 40', '7 60', '8 80'] : null
    if (values !== null) assert.equal(await rowsOf(space), values)
  }
})

test('a view that a run leaves out has the rule by which it was built', async () => {
  await using space = await openProject()
  const merged = seed.replace('table', 'merge\n-- @unique_key: id')
  const of = (factor: number, rows = merged) => ({
    'raw.orders': rows,
    'stage.orders': view(factor),
    'mart.t': reader('append'),
  })
  await run(space, of(1))
  const more = merged.replace('(8, 8, 40)', '(8, 8, 40), (9, 9, 50)')
  const asked = { range: { start: '7', end: '10' } }
  const some = { include: ['raw.orders', 'mart.t'], exclude: [], retry: false }
  const without = await run(space, of(2, more), { ...asked, selection: some })
  assert.is(without.older_rows, undefined)
  assert.equal(await rowsOf(space), ['1 10', '2 20', '7 30', '8 40', '9 50'])
  const last = await run(space, of(2, more))
  assert.equal(await rowsOf(space), ['1 10', '2 20', '7 30', '8 40', '9 100'])
  assert.is(last.older_rows?.text, '4 of 5 rows were made by an older rule of stage.orders')
})

test('a late row that was read by another rule is named when the rule before comes back', async () => {
  await using space = await openProject()
  const of = (factor: number, more = '') => ({
    'raw.orders': `-- @kind: merge
-- @unique_key: id
SELECT * FROM (VALUES (1, 1, 10), (7, 7, 30), (8, 8, 40)${more}) AS t(id, ts, amount)`,
    'stage.orders': view(factor),
    'mart.t': reader('append'),
  })
  await run(space, of(1))
  const late = await run(space, of(2, ', (2, 2, 20)'))
  assert.equal(await rowsOf(space), ['1 10', '2 40', '7 30', '8 80'])
  assert.is(late.older_rows?.text, '2 of 4 rows were made by an older rule of stage.orders')
  const back = await run(space, of(1, ', (2, 2, 20)'))
  assert.equal(await rowsOf(space), ['1 10', '2 40', '7 30', '8 40'])
  assert.is(back.older_rows?.text, '1 of 4 rows were made by an older rule of stage.orders')
})

test('a project of a version that knew nothing of views has no older rows', async () => {
  await using space = await openProject()
  const of = (factor: number) => ({
    'raw.orders': seed,
    'stage.orders': view(factor),
    'mart.t': reader('append'),
  })
  await run(space, of(1))
  const forget = sql`UPDATE _eider.models SET fingerprint = regexp_replace(fingerprint, '(rule-[0-9a-f]+-[0-9a-f]+)-[0-9a-f+]*', '\\1')`
  await space.alter(forget)
  assert.is((await run(space, of(2))).older_rows, undefined)
  assert.is((await run(space, of(3))).older_rows?.rows, 3)
})

test.run()
