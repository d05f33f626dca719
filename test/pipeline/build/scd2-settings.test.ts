// What an scd2 model can say of its versions: since when they are valid, what opens one, what happens to keys that vanish.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { RunSummary } from '../../../src/core/report/progress.ts'
import { sql } from '../../../src/core/sql.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { openProject, resultOf, type TestProject } from '../../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../../support/handmade-models.ts'

/** Rows `(id, v, w, day of January)`; February begins with 32. */
const source = (...rows: readonly string[]) =>
  query(
    'raw.s',
    `select id::int as id, v::int as v, w::int as w, (date '2024-01-01' + (d::int - 1))::timestamp as at
     from (values ${rows.length === 0 ? '(0, 0, 0, 1)' : rows.join(', ')}) t(id, v, w, d)
     ${rows.length === 0 ? 'where false' : ''}`,
  )

const tracked = (options: QueryModelOptions) =>
  query('mart.t', 'from raw.s', { kind: 'scd2', key: ['id'], reads: ['raw.s'], ...options })

/** The run of that day in February. */
const on = (day: number) => ({ now: () => new Date(Date.UTC(2024, 1, day)) })

/** `id v/w from-to`: days of January, those of February from 32 on. */
async function history(space: TestProject): Promise<readonly string[]> {
  const rows = await space.rows(sql`
    SELECT concat(id, ' ', v, '/', w, ' ', dayofyear(valid_from), '-', dayofyear(valid_to),
      CASE WHEN is_current THEN ' now' ELSE '' END) AS text
    FROM mart.t ORDER BY id, valid_from`)
  return rows.map(({ text }) => text as string)
}

function changesOf(run: RunSummary) {
  const { way: _, definition: __, ...counts } = resultOf(run, 'mart.t').changes!
  return counts
}

test('versions take their times from a column; equal rows are no new version', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 3)', '(2, 1, 0, 4)'), model], on(1))
  const second = await space.ok([source('(1, 2, 0, 9)', '(2, 1, 0, 4)'), model], on(2))
  assert.is(resultOf(second, 'mart.t').rows, 2)
  assert.equal(await history(space), ['1 1/0 3-9', '1 2/0 9- now', '2 1/0 4- now'])
  const third = await space.ok([source('(2, 1, 0, 4)', '(1, 2, 0, 9)'), model], on(3))
  assert.is(resultOf(third, 'mart.t').rows, 0)
})

test('several rows of a key are its versions, in the first run and in a later one', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 2, 0, 5)', '(1, 1, 0, 3)'), model], on(1))
  assert.equal(await history(space), ['1 1/0 3-5', '1 2/0 5- now'])
  await space.ok([source('(1, 4, 0, 9)', '(1, 3, 0, 7)'), model], on(2))
  assert.equal(await history(space), ['1 1/0 3-5', '1 2/0 5-7', '1 3/0 7-9', '1 4/0 9- now'])
})

test('a row that comes late takes its place in the history; the newest one stays current', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 3)'), model], on(1))
  await space.ok([source('(1, 3, 0, 9)'), model], on(2))
  await space.ok([source('(1, 2, 0, 6)'), model], on(3))
  assert.equal(await history(space), ['1 1/0 3-6', '1 2/0 6-9', '1 3/0 9- now'])
  await space.ok([source('(1, 0, 0, 1)'), model], on(4))
  assert.equal((await history(space))[0], '1 0/0 1-3')
})

test('a row with the time of a version corrects it, the current one and an older one', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 3)', '(1, 2, 0, 5)'), model], on(1))
  const run = await space.ok([source('(1, 9, 0, 3)', '(1, 8, 0, 5)'), model], on(2))
  assert.is(resultOf(run, 'mart.t').rows, 2)
  assert.equal(await history(space), ['1 9/0 3-5', '1 8/0 5- now'])
})

test('times that are NULL or infinite, and the same time twice, fail and leave the history', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 3)'), model], on(1))
  const none = await space.run([source('(1, 2, 0, null)', '(2, 2, 0, 4)'), model], on(2))
  assert.match(resultOf(none, 'mart.t').because, /1 row has NULL or infinity in "at"/)
  const text = `select 1 as id, 2 as v, 0 as w, 'infinity'::timestamp as at`
  const endless = await space.run([query('raw.s', text), model], on(2))
  assert.match(resultOf(endless, 'mart.t').because, /NULL or infinity/)
  const twice = await space.run([source('(1, 2, 0, 4)', '(1, 3, 0, 4)'), model], on(2))
  assert.match(resultOf(twice, 'mart.t').because, /duplicate keys: id = 1, at = 2024-01-04.*2 rows/)
  assert.equal(await history(space), ['1 1/0 3- now'])
  const latest = tracked({ validFrom: 'at', latest: 'v' })
  await space.ok([source('(1, 2, 0, 4)', '(1, 3, 0, 4)'), latest], on(3))
  assert.equal(await history(space), ['1 1/0 3-4', '1 3/0 4- now'])
})

test('a key that vanishes ends with the run that misses it, and one that is back goes on', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 3)', '(2, 1, 0, 3)', '(3, 1, 0, 3)'), model], on(1))
  await space.ok([source(), model], on(2))
  const gone = ['1 1/0 3-33', '2 1/0 3-33', '3 1/0 3-33']
  assert.equal(await history(space), gone)
  assert.is(resultOf(await space.ok([source(), model], on(3)), 'mart.t').rows ?? 0, 0)
  // 1 as it was, 2 from a time before it was gone, 3 from one after it.
  const back = query(
    'raw.s',
    `select id, v, 0 as w, "at"::timestamp as "at" from (values
      (1, 1, date '2024-01-03'), (2, 2, date '2024-01-20'), (3, 2, date '2024-02-03')) t(id, v, "at")`,
  )
  await space.ok([back, model], on(4))
  assert.equal(await history(space), [
    '1 1/0 3- now',
    '2 1/0 3-20',
    '2 2/0 20- now',
    '3 1/0 3-33',
    '3 2/0 34- now',
  ])
  // A row from within a stretch that has ended ends with it.
  const late = tracked({ validFrom: 'at', deletes: 'keep' })
  await space.ok([source('(3, 7, 0, 10)'), late], on(5))
  assert.equal((await history(space)).slice(3), ['3 1/0 3-10', '3 7/0 10-33', '3 2/0 34- now'])
})

test('a version never ends before it begins, whatever the clocks say', async () => {
  await using space = await openProject()
  const model = tracked({ validFrom: 'at' })
  await space.ok([source('(1, 1, 0, 20)'), model], on(1))
  await space.ok([source(), model], { now: () => new Date(Date.UTC(2024, 0, 2)) })
  const [row] = await space.rows(sql`
    SELECT valid_to - valid_from = INTERVAL 1 MICROSECOND AS follows, is_current FROM mart.t`)
  assert.equal(row, { follows: true, is_current: false })
})

test('@deletes: keep leaves keys that vanish current, with times of runs and of a column', async () => {
  for (const validFrom of [undefined, 'at']) {
    await using space = await openProject()
    const model = tracked({ deletes: 'keep', ...(validFrom && { validFrom }) })
    await space.ok([source('(1, 1, 0, 3)', '(2, 1, 0, 3)'), model], on(1))
    await space.ok([source('(2, 2, 0, 5)'), model], on(2))
    const rows = await space.rows(sql`SELECT id, v FROM mart.t WHERE is_current ORDER BY id`)
    assert.equal(rows, [
      { id: 1, v: 1 },
      { id: 2, v: 2 },
    ])
    await space.ok([source(), model], on(3))
    assert.is((await space.rows(sql`FROM mart.t WHERE is_current`)).length, 2)
  }
})

test('@compare: only these columns open a version; the others stay as they were when it began', async () => {
  await using space = await openProject()
  const model = tracked({ compare: ['V'] })
  await space.ok([source('(1, 1, 1, 3)'), model], on(1))
  const other = await space.ok([source('(1, 1, 2, 4)'), model], on(2))
  assert.is(resultOf(other, 'mart.t').rows, 0)
  assert.equal(await history(space), ['1 1/1 32- now'])
  await space.ok([source('(1, 2, 3, 5)'), model], on(3))
  assert.equal(await history(space), ['1 1/1 32-34', '1 2/3 34- now'])
})

test('@compare with times: rows that repeat the version before them are none', async () => {
  await using space = await openProject()
  const model = tracked({ compare: ['v'], validFrom: 'at' })
  await space.ok([source('(1, 1, 1, 3)', '(1, 1, 2, 4)', '(1, 2, 3, 5)'), model], on(1))
  assert.equal(await history(space), ['1 1/1 3-5', '1 2/3 5- now'])
  const same = await space.ok([source('(1, 2, 4, 7)', '(1, 2, 5, 8)'), model], on(2))
  assert.is(resultOf(same, 'mart.t').rows, 0)
  await space.ok([source('(1, 2, 4, 7)', '(1, 3, 5, 8)', '(1, 3, 6, 9)'), model], on(3))
  assert.equal(await history(space), ['1 1/1 3-5', '1 2/3 5-8', '1 3/5 8- now'])
  const late = await space.ok([source('(1, 1, 9, 4)', '(1, 5, 9, 6)'), model], on(4))
  assert.is(resultOf(late, 'mart.t').rows, 2)
  assert.equal(await history(space), ['1 1/1 3-5', '1 2/3 5-6', '1 5/9 6-8', '1 3/5 8- now'])
  await space.ok([source('(1, 6, 9, 8)'), model], on(5))
  assert.is((await history(space)).at(-1), '1 6/9 8- now')
})

const compared = tracked({ compare: ['v'], validFrom: 'at', deletes: 'keep', expose: ['id', 'at'] })

test('@compare with times: a late row takes in the version after it that equals it', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 2, 5, 3)', '(1, 3, 0, 9)'), compared], on(1))
  const late = await space.ok([source('(1, 2, 7, 1)'), compared], on(2))
  assert.equal(changesOf(late), { rows_in: 1, rows_changed: 0, rows_out: 1, rows_after: 2 })
  assert.equal(await history(space), ['1 2/7 1-9', '1 3/0 9- now'])
  await space.ok([source('(1, 3, 4, 6)'), compared], on(3))
  assert.equal(await history(space), ['1 2/7 1-6', '1 3/4 6- now'])
  const again = [source('(1, 2, 7, 1)', '(1, 2, 5, 3)', '(1, 3, 4, 6)', '(1, 3, 0, 9)'), compared]
  assert.is(resultOf(await space.ok(again, on(4)), 'mart.t').rows, 0)
})

test('@compare with times: a corrected version and a neighbour that it equals are one', async () => {
  await using space = await openProject()
  const three = (...v: readonly number[]) =>
    source(...v.map((value, i) => `(1, ${value}, ${i}, ${2 * i + 3})`))
  await space.ok([three(1, 2, 3), compared], on(1))
  await space.ok([three(2, 2, 3), compared], on(2))
  assert.equal(await history(space), ['1 2/0 3-7', '1 3/2 7- now'])
  await space.ok([three(2, 2, 2), compared], on(3))
  assert.equal(await history(space), ['1 2/0 3- now'])
  await space.ok([three(2, 1, 2), compared], on(4))
  assert.equal(await history(space), ['1 2/0 3-5', '1 1/1 5-7', '1 2/2 7- now'])
  const between = await space.ok([three(2, 2, 2), compared], on(5))
  assert.equal(changesOf(between), { rows_in: 0, rows_changed: 1, rows_out: 2, rows_after: 1 })
  assert.equal(await history(space), ['1 2/0 3- now'])
})

test('@compare with times: what becomes one ends where its last part ended', async () => {
  await using space = await openProject()
  const close = tracked({ compare: ['v'], validFrom: 'at' })
  await space.ok([source('(1, 2, 0, 5)'), close], on(1))
  await space.ok([source(), close], on(2))
  await space.ok([source('(1, 3, 0, 50)'), close], on(3))
  assert.equal(await history(space), ['1 2/0 5-33', '1 3/0 50- now'])
  await space.ok([source('(1, 2, 1, 3)'), close], on(4))
  assert.equal(await history(space), ['1 2/1 3-33', '1 3/0 50- now'])
})

test('@compare with times: a key that is back later opens a version, also with equal values', async () => {
  await using space = await openProject()
  const close = tracked({ compare: ['v'], validFrom: 'at' })
  await space.ok([source('(1, 2, 0, 5)'), close], on(1))
  await space.ok([source(), close], on(2))
  await space.ok([source('(1, 2, 9, 50)', '(1, 2, 8, 51)'), close], on(3))
  assert.equal(await history(space), ['1 2/0 5-33', '1 2/9 50- now'])
  const again = await space.ok([source('(1, 2, 8, 51)', '(1, 2, 9, 50)'), close], on(4))
  assert.is(resultOf(again, 'mart.t').rows, 0)
  await space.ok([source('(1, 2, 1, 3)', '(1, 2, 9, 50)'), close], on(5))
  assert.equal(await history(space), ['1 2/1 3-33', '1 2/9 50- now'])
})

test('@compare with times: versions that were made before it stay', async () => {
  await using space = await openProject()
  const all = tracked({ validFrom: 'at', deletes: 'keep' })
  await space.ok([source('(1, 1, 1, 3)', '(1, 1, 2, 5)'), all], on(1))
  await space.ok([source('(1, 2, 0, 9)'), compared], on(2))
  assert.equal(await history(space), ['1 1/1 3-5', '1 1/2 5-9', '1 2/0 9- now'])
})

test('@compare with times: a row that was none becomes a version only where the SELECT gives it', async () => {
  await using space = await openProject()
  await space.ok([source('(1, 1, 0, 3)', '(1, 1, 1, 7)'), compared], on(1))
  await space.ok([source('(1, 2, 0, 5)'), compared], on(2))
  assert.equal(await history(space), ['1 1/0 3-5', '1 2/0 5- now'])
  await space.ok([source('(1, 1, 1, 7)'), compared], on(3))
  assert.equal(await history(space), ['1 1/0 3-5', '1 2/0 5-7', '1 1/1 7- now'])
})

test('a table with the times of runs takes those of the column where they follow each other', async () => {
  await using space = await openProject()
  const seen = tracked({})
  await space.ok([source('(1, 1, 0, 3)', '(2, 1, 0, 3)'), seen], on(1))
  await space.ok([source('(1, 2, 0, 9)'), seen], on(2))
  assert.equal(await history(space), ['1 1/0 32-33', '1 2/0 33- now', '2 1/0 32-33'])
  const run = await space.ok([source('(1, 2, 0, 9)'), tracked({ validFrom: 'at' })], on(3))
  assert.is(resultOf(run, 'mart.t').status, 'built')
  assert.equal(await history(space), ['1 1/0 3-9', '1 2/0 9- now', '2 1/0 3-33'])
  await space.ok([source('(1, 3, 0, 9)'), seen], on(4))
  assert.equal((await history(space)).slice(0, 3), ['1 1/0 3-9', '1 2/0 9-35', '1 3/0 35- now'])
  const refused = await space.run([source('(1, 3, 0, 9)'), tracked({ validFrom: 'at' })], on(5))
  assert.match(
    resultOf(refused, 'mart.t').because,
    /"at" does not say when 1 version began: .*\(id = 1\); leave out @valid_from/,
  )
  assert.equal((await history(space)).slice(0, 3), ['1 1/0 3-9', '1 2/0 9-35', '1 3/0 35- now'])
})

test('the history follows from the rows, in whatever order and portions they come', async () => {
  const random = seededRandom(5)
  const upTo = (n: number) => Math.floor(random() * n)
  const rows = new Map<string, string>()
  for (let i = 0; i < 60; i++) {
    const [id, day] = [upTo(5), 1 + upTo(20)]
    rows.set(`${id} ${day}`, `(${id}, ${upTo(4)}, ${upTo(3)}, ${day})`)
  }
  const model = tracked({ validFrom: 'at', deletes: 'keep' })
  await using whole = await openProject()
  await whole.ok([source(...rows.values()), model], on(1))
  const expected = await history(whole)
  assert.is(expected.length, rows.size)
  await using space = await openProject()
  const waiting = [...rows.values()]
  for (let day = 1; waiting.length > 0; day++) {
    const portion = Array.from({ length: 1 + upTo(9) }, () =>
      waiting.splice(upTo(waiting.length), 1),
    ).flat()
    await space.ok([source(...portion), model], on(day))
  }
  assert.equal(await history(space), expected)
})

test('@compare with times: late and corrected rows lead to the history of a build from scratch', async () => {
  const random = seededRandom(7)
  const upTo = (n: number) => Math.floor(random() * n)
  const rows = new Map<string, string>()
  const values = new Map<string, number>()
  // Each key is a history of its own. What is corrected gets another value of those that count.
  const change = (id: number) => {
    const days = new Set(Array.from({ length: upTo(4) }, () => 1 + upTo(8)))
    for (const day of days) {
      const row = `${id} ${day}`
      const v = ((values.get(row) ?? upTo(3)) + 1 + upTo(2)) % 3
      values.set(row, v)
      rows.set(row, `(${id}, ${v}, ${upTo(9)}, ${day})`)
    }
  }
  await using space = await openProject()
  for (let day = 1; day <= 6; day++) {
    for (let id = 0; id < 80; id++) change(id)
    await space.ok([source(...rows.values()), compared], on(day))
    if (day % 3 !== 0) continue
    await using whole = await openProject()
    await whole.ok([source(...rows.values()), compared], on(1))
    assert.equal(await history(space), await history(whole), `run ${day}`)
  }
})

test.run()
