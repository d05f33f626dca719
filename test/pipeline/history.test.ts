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

function model(
  kind: (typeof kinds)[number],
  options: QueryModelOptions = {},
  { name = 'mart.t', more = '' } = {},
) {
  if (kind === 'events') return events(name, { id: 'INTEGER', ts: 'INTEGER' })
  const incremental = kind === 'append' ? { incremental: 'ts' } : {}
  const text = `select 1 as id, 2 as ts${more}`
  return query(name, text, { kind, key: ['id'], ...incremental, ...options })
}

/** As many runs as one model takes are enough for all of them: what becomes of one is nothing to the others. */
for (const from of kinds)
  test(`from ${from} to every other kind`, async () => {
    await using space = await openProject()
    const others = kinds.filter((kind) => kind !== from)
    const nameOf = (to: string) => `mart.t_${to}`
    await space.ok(others.map((to) => model(from, {}, { name: nameOf(to) })))
    const next = others.map((to) => model(to, {}, { name: nameOf(to) }))
    const changed = await space.run(next)
    const refused = others.filter((to) => {
      const result = resultOf(changed, nameOf(to))
      // The rows of an append can go on as those of a merge.
      if (!histories.includes(from) || (from === 'append' && to === 'merge')) {
        assert.is(result.status, 'built', `${from} to ${to}: ${result.because}`)
        return false
      }
      assert.is(result.status, 'failed', `${from} to ${to}`)
      assert.match(
        result.because,
        from === 'events'
          ? /no flag drops them/
          : /would lose them; to drop them: eider run \S+ --full-refresh/,
      )
      return true
    })
    for (const to of refused) {
      const table = sql.ident('mart', `t_${to}`)
      const [count] = await space.rows(sql`SELECT count(*)::INTEGER AS n FROM ${table}`)
      assert.is(count?.['n'], from === 'events' ? 0 : 1)
    }
    if (refused.length === 0) return
    const refreshed = await space.run(next, { fullRefresh: true })
    for (const to of refused)
      assert.is(
        resultOf(refreshed, nameOf(to)).status,
        from === 'events' ? 'failed' : 'built',
        `${from} to ${to}`,
      )
  })

interface Change {
  readonly name: string
  readonly what: string
  readonly more: string
  /** Of `@on_schema_change: evolve`. */
  readonly evolves: boolean
}

const before = ', 3::INTEGER AS v'
const changes: readonly Change[] = [
  { name: 'mart.new', what: 'a new column', more: ', 3::INTEGER AS v, 4 AS w', evolves: true },
  { name: 'mart.wider', what: 'a wider type', more: ', 3::BIGINT AS v', evolves: true },
  { name: 'mart.narrower', what: 'a narrower type', more: ', 3::SMALLINT AS v', evolves: false },
  { name: 'mart.gone', what: 'a column that is gone', more: '', evolves: false },
]

/** A table for each change, as it was and as it is to become. */
function tablesOf(kind: (typeof kinds)[number], options: QueryModelOptions) {
  const were = changes.map(({ name }) => model(kind, options, { name, more: before }))
  return { were, next: changes.map(({ name, more }) => model(kind, options, { name, more })) }
}

for (const kind of kept)
  test(`changes of columns of kind ${kind}`, async () => {
    for (const onSchemaChange of ['evolve', 'rebuild', 'fail'] as const) {
      await using space = await openProject()
      const { were, next } = tablesOf(kind, { onSchemaChange })
      await space.ok(were)
      const changed = await space.run(next)
      for (const { name, what, evolves } of changes) {
        const label = `${kind}, ${onSchemaChange}, ${what}`
        const result = resultOf(changed, name)
        if (onSchemaChange === 'evolve' && evolves) {
          assert.is(result.status, 'built', `${label}: ${result.because}`)
          continue
        }
        assert.is(result.status, 'failed', label)
        assert.match(result.because, /--full-refresh/, label)
        const [schema = '', table = ''] = name.split('.')
        const columns = await space.rows(sql`SELECT v FROM ${sql.ident(schema, table)}`)
        assert.equal(columns, [{ v: 3 }], label)
      }
      if (onSchemaChange === 'fail') await space.ok(next, { fullRefresh: true })
    }
  })

test('a merge that mirrors its source can be made again, so rebuild rebuilds it', async () => {
  await using space = await openProject()
  const { were, next } = tablesOf('merge', { deletes: 'mirror', onSchemaChange: 'rebuild' })
  await space.ok(were)
  const changed = await space.run(next)
  for (const { name, what } of changes) {
    const result = resultOf(changed, name)
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
  await space.ok([model('scd2', {}, { more: ", 'x' AS note" })])
  assert.equal(await space.rows(sql`SELECT note, is_current FROM mart.t ORDER BY valid_from`), [
    { note: null, is_current: false },
    { note: 'x', is_current: true },
  ])
})

test.run()
