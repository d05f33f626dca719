// What changed of a table long ago, or in many places, costs a reader no more than what is new to it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { columnType } from '../../../src/core/relation.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { ChangeNotes } from '../../../src/pipeline/changes/change-notes.ts'
import { noteValues } from '../../../src/pipeline/changes/keys.ts'
import { lead } from '../../../src/pipeline/changes/ranges.ts'
import { runPipeline } from '../../../src/pipeline/run.ts'
import { openStore } from '../../../src/store/open.ts'
import { compileTexts } from '../../support/compile-texts.ts'
import { query } from '../../support/handmade-models.ts'
import { modelName } from '../../support/model-name.ts'
import { openProject, runDefaults } from '../../support/pipeline-project.ts'

test('more ranges than one statement takes lead where each of them leads', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const type = columnType('TIMESTAMP')
  const of = (hours: number, first: number) => {
    const ranges = Array.from({ length: limits.ledRanges * 2 + 5 }, (_, i) => {
      const low = new Date(Date.UTC(2000, 0, 1, first + i * hours)).toISOString().slice(0, 19)
      return { low: low.replace('T', ' '), high: low.replace('T', ' ') }
    })
    return { type, steps: [{ cast: 'DATE' }] as const, ranges }
  }
  const led = await lead(connection, [of(1, 0), of(24, 24_000)], columnType('DATE'))
  assert.is(led![0]?.low, '2000-01-01')
  const last = new Date(Date.UTC(2000, 0, 1, 24_000 + (limits.ledRanges * 2 + 4) * 24))
  assert.is(led!.at(-1)?.high, last.toISOString().slice(0, 10))
  assert.ok(led!.length <= limits.changedRanges)
  const covers = (day: string) => led!.some(({ low, high }) => low <= day && day <= high)
  for (const day of ['2000-01-15', '2000-03-24', '2002-10-01', '2005-05-05'])
    assert.ok(covers(day), day)
})

test('a reader gets what changed since, and not what it has read', async () => {
  await using space = await openProject()
  const run = async (...days: readonly number[]) => {
    const rows = days.map((day) => `(DATE '2026-11-${String(day).padStart(2, '0')}')`)
    const project = await compileTexts({
      'raw.d': `SELECT * FROM (VALUES ${rows.join()}) AS t(day)`,
      'mart.d': '-- @kind: merge\n-- @unique_key: day\n-- @incremental: day\nFROM raw.d',
    })
    const { ok } = await runPipeline({ ...runDefaults(space.paths), project })
    assert.ok(ok)
  }
  await run(1, 9)
  await run(1, 2, 9)
  const [position] = await space.rows(sql`SELECT version FROM _eider.followers`)
  await space.alter(sql`INSERT INTO _eider.changes VALUES
    (1, 'raw.d', 'day', '2026-11-01', '2026-11-01', true, 'a', 'b'),
    (2, 'raw.d', 'day', '2026-11-02', '2026-11-02', true, 'b', ${sql.value(position!['version'] as string)}),
    (3, 'raw.d', 'day', '2026-11-03', '2026-11-03', true, ${sql.value(position!['version'] as string)}, 'c'),
    (4, 'raw.d', 'day', '2026-11-04', '2026-11-04', true, 'c', 'd')`)
  const { warehouse, state } = openStore(space.paths)
  await using database = await warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  await state.read(connection, [])
  const found = await state.changes.readBy(connection, modelName('mart.d'), [modelName('raw.d')])
  const after = found.changes.map((change) => change.after)
  assert.equal(after, ['c', 'd'])
})

test('long values of keys stay in the engine', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const text = '["k"]'
  const columns = [{ name: 'k', type: columnType('VARCHAR'), nullable: true }]
  const model = { ...query('raw.o', "SELECT 'a' AS k", { kind: 'table' }), columns }
  const store = { state: { changes: { columnsOf: () => [text] } } }
  const noted = async (value: string) => {
    const changes = new ChangeNotes()
    const rows = () => sql`SELECT ${sql.value(value)} AS v UNION ALL SELECT NULL`
    await noteValues({ connection, store, changes } as never, model, rows)
    const { texts, hasMore } = changes.takeValues(model.name).get(text)!
    return { texts, hasMore }
  }
  const short = 'é'.repeat(limits.shortKeyBytes / 2)
  assert.equal(await noted(short), { texts: new Set([short, null]), hasMore: false })
  assert.equal(await noted(`${short}!`), { texts: new Set(), hasMore: true })
  const found = await connection.rows(sql`SELECT value FROM temp.main._eider_noted_keys`)
  assert.equal(new Set(found.map((row) => row['value'])), new Set([`${short}!`, null]))
})

test.run()
