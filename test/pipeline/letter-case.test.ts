// A model whose name changes in letter case only: the engine sees the same table, and so does a run.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../src/core/model.ts'
import { sql } from '../../src/core/sql.ts'
import { openProject, resultOf, statuses } from '../support/pipeline-project.ts'
import { query, type QueryModelOptions } from '../support/handmade-models.ts'

/** The definition of a model does not depend on how those that it reads are spelled. */
const table = (name: string, text: string, options: QueryModelOptions = {}): Model => ({
  ...query(name, text, options),
  definition: Buffer.from(`${name.toLowerCase()} ${text}`).toString('hex'),
})

const models = (spell: (name: string) => string, value: number): readonly Model[] => [
  table(spell('raw.Items'), `select 1 as id, ${value} as v`),
  table(spell('mart.Kept'), 'select * from raw.items', {
    kind: 'scd2',
    key: ['id'],
    reads: [spell('raw.Items')],
  }),
  table(spell('mart.Seen'), 'select * from raw.items', {
    kind: 'view',
    reads: [spell('raw.Items')],
    expose: ['id'],
  }),
]
const upper = (name: string) => name
const lower = (name: string) => name.toLowerCase()

test('a model that is spelled in another letter case goes on with what it has', async () => {
  await using space = await openProject()
  await space.ok(models(upper, 1))
  const respelled = await space.ok(models(lower, 1))
  assert.equal(statuses(respelled), {
    'raw.items': 'unchanged',
    'mart.kept': 'unchanged',
    'mart.seen': 'unchanged',
  })
  assert.is(respelled.snapshot?.changed, true)

  const changed = await space.ok(models(lower, 2))
  assert.is(resultOf(changed, 'raw.items').because, 'definition changed')
  const versions = await space.rows(
    sql`SELECT v::INTEGER AS v, is_current FROM mart.kept ORDER BY v`,
  )
  assert.equal(versions, [
    { v: 1, is_current: false },
    { v: 2, is_current: true },
  ])
  const state = sql`SELECT model FROM ${space.records} WHERE NOT removed ORDER BY model`
  assert.equal(
    (await space.rows(state)).map(({ model }) => model),
    ['mart.kept', 'mart.seen', 'raw.items'],
  )
  assert.equal(await space.rows(sql`FROM ${space.records} WHERE removed`), [])
  const back = await space.ok(models(upper, 2))
  assert.ok(back.models.every(({ status }) => status === 'unchanged'))
})

test.run()
