// What may become of a table that holds more than its source: changes of kind and of columns.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { EventsModel, Kind } from '../../src/core/model.ts'
import { sql } from '../../src/core/sql.ts'
import { events, query, type QueryModelOptions } from '../support/handmade-models.ts'
import { openProject, resultOf } from '../support/pipeline-project.ts'

const kinds = ['view', 'table', 'append', 'merge', 'scd2', 'events'] as const satisfies Kind[]
const kept = ['append', 'merge', 'scd2'] as const
const histories: readonly Kind[] = ['append', 'merge', 'scd2', 'events']

function model(kind: (typeof kinds)[number], options: QueryModelOptions = {}, more = '') {
  if (kind === 'events') return events('mart.t', { id: 'INTEGER', ts: 'INTEGER' })
  const incremental = kind === 'append' ? { incremental: 'ts' } : {}
  const text = `select 1 as id, 2 as ts${more}`
  return query('mart.t', text, { kind, key: ['id'], ...incremental, ...options })
}

for (const from of kinds)
  test(`from ${from} to every other kind`, async () => {
    for (const to of kinds.filter((kind) => kind !== from)) {
      await using space = await openProject()
      await space.ok([model(from)])
      const changed = await space.run([model(to)])
      const result = resultOf(changed, 'mart.t')
      // The rows of an append can go on as those of a merge.
      if (!histories.includes(from) || (from === 'append' && to === 'merge')) {
        assert.is(result.status, 'built', `${from} to ${to}: ${result.because}`)
        continue
      }
      assert.is(result.status, 'failed', `${from} to ${to}`)
      assert.match(
        result.because,
        from === 'events'
          ? /no flag drops them/
          : /would lose them; to drop them: eider run \S+ --full-refresh/,
      )
      const [count] = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM mart.t`)
      assert.is(count?.['n'], from === 'events' ? 0 : 1)
      const refreshed = await space.run([model(to)], { fullRefresh: true })
      assert.is(refreshed.ok, from !== 'events', `${from} to ${to}`)
    }
  })

interface Change {
  readonly what: string
  readonly more: string
  /** Of `@on_schema_change: evolve`. */
  readonly evolves: boolean
}

const before = ', 3::INTEGER AS v'
const changes: readonly Change[] = [
  { what: 'a new column', more: ', 3::INTEGER AS v, 4 AS w', evolves: true },
  { what: 'a wider type', more: ', 3::BIGINT AS v', evolves: true },
  { what: 'a narrower type', more: ', 3::SMALLINT AS v', evolves: false },
  { what: 'a column that is gone', more: '', evolves: false },
]

for (const kind of kept)
  test(`changes of columns of kind ${kind}`, async () => {
    for (const onSchemaChange of ['evolve', 'rebuild', 'fail'] as const)
      for (const { what, more, evolves } of changes) {
        await using space = await openProject()
        const label = `${kind}, ${onSchemaChange}, ${what}`
        await space.ok([model(kind, { onSchemaChange }, before)])
        const next = [model(kind, { onSchemaChange }, more)]
        const result = resultOf(await space.run(next), 'mart.t')
        if (onSchemaChange === 'evolve' && evolves) {
          assert.is(result.status, 'built', `${label}: ${result.because}`)
          continue
        }
        assert.is(result.status, 'failed', label)
        assert.match(result.because, /--full-refresh/, label)
        const columns = await space.rows(sql`SELECT v FROM mart.t`)
        assert.equal(columns, [{ v: 3 }], label)
        if (onSchemaChange === 'fail') await space.ok(next, { fullRefresh: true })
      }
  })

test('a merge that mirrors its source can be made again, so rebuild rebuilds it', async () => {
  for (const { what, more } of changes) {
    await using space = await openProject()
    const options = { deletes: 'mirror', onSchemaChange: 'rebuild' } as const
    await space.ok([model('merge', options, before)])
    const result = resultOf(await space.run([model('merge', options, more)]), 'mart.t')
    assert.is(result.status, 'built', `${what}: ${result.because}`)
  }
})

test('a table of events that must not change says what to write', async () => {
  await using space = await openProject()
  const fixed = (columns: Readonly<Record<string, string>>): EventsModel => ({
    ...events('raw.e', columns),
    onSchemaChange: 'fail',
  })
  await space.ok([fixed({ id: 'INTEGER' })])
  const failed = await space.run([fixed({ id: 'INTEGER', more: 'VARCHAR' })])
  assert.match(
    resultOf(failed, 'raw.e').because,
    /columns changed \(new "more"\).*@on_schema_change: evolve/,
  )
})

test('a scd2 table takes a new column into new versions', async () => {
  await using space = await openProject()
  await space.ok([model('scd2')])
  await space.ok([model('scd2', {}, ", 'x' AS note")])
  assert.equal(await space.rows(sql`SELECT note, is_current FROM mart.t ORDER BY valid_from`), [
    { note: null, is_current: false },
    { note: 'x', is_current: true },
  ])
})

test.run()
