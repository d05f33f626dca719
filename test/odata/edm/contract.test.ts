import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Model } from '../../../src/core/model.ts'
import { columnType } from '../../../src/core/relation.ts'
import type { Snapshot } from '../../../src/core/snapshot.ts'
import { contractChanges } from '../../../src/odata/edm/contract.ts'
import { nextPublication } from '../../../src/pipeline/plan/next-publication.ts'
import { events, query } from '../../support/handmade-models.ts'
import { modelName } from '../../support/model-name.ts'

type Types = Readonly<Record<string, string>>

const columnsOf = (types: Types) =>
  Object.entries(types).map(([name, type]) => ({
    name,
    type: columnType(type.replace('!', '')),
    nullable: !type.endsWith('!'),
  }))

const published = (types: Types, key: readonly string[]): Snapshot => ({
  id: 'one',
  publishedAt: new Date(0),
  runId: 'r',
  relations: [
    {
      model: modelName('a.t'),
      file: 'm-1.duckdb',
      bytes: 0,
      rows: 0,
      key,
      description: null,
      columns: columnsOf(types),
    },
  ],
})

function changes(before: Snapshot | null, ...models: readonly Model[]): readonly string[] {
  return changesOf(before, models, [])
}

/** `recorded`: the models as they were built last. */
function changesOf(
  before: Snapshot | null,
  models: readonly Model[],
  recorded: readonly Model[],
): readonly string[] {
  const all = new Map(models.map((model) => [model.name, model]))
  const records = new Map(recorded.map((model) => [model.name, model]))
  const next = nextPublication(before, all, new Set(all.keys()), records)
  return contractChanges(before, next).map(
    ({ set, change, breaking }) => `${breaking ? '! ' : ''}${set}: ${change}`,
  )
}

const model = (types: Types, expose?: readonly string[]): Model => ({
  ...query('a.t', 'select 1', expose === undefined ? {} : { expose }),
  columns: columnsOf(types),
})

const before = published({ id: 'INTEGER!', v: 'VARCHAR' }, ['id'])

test('nothing changed is no change', () => {
  assert.equal(changes(before, model({ id: 'INTEGER', v: 'VARCHAR' }, ['id'])), [])
})

test('sets and properties that come are fine, those that go break clients', () => {
  assert.equal(changes(null, model({ id: 'INTEGER' }, ['id'])), ['a_t: entity set added'])
  assert.equal(changes(before), ['! a_t: entity set removed'])
  assert.equal(changes(before, model({ id: 'INTEGER', v: 'VARCHAR' })), [
    '! a_t: entity set removed',
  ])
  assert.equal(changes(before, model({ id: 'INTEGER', V: 'VARCHAR' }, ['id'])), [
    '! a_t: property v removed',
    'a_t: property V added',
  ])
})

test('types, keys and nulls', () => {
  assert.equal(changes(before, model({ id: 'BIGINT', v: "ENUM('a')" }, ['id'])), [
    '! a_t: property id retyped from INTEGER to BIGINT',
    "a_t: property v retyped from VARCHAR to ENUM('a')",
  ])
  assert.equal(changes(before, model({ id: 'INTEGER', v: 'VARCHAR' }, ['v'])), [
    '! a_t: key changed from (id) to (v)',
    '! a_t: property id may now be null',
    'a_t: property v made non-null',
  ])
})

for (const [was, now, breaks] of [
  ['DECIMAL(9,2)', 'DECIMAL(18,4)', false],
  ['TIMESTAMP', 'TIMESTAMP WITH TIME ZONE', false],
  ['VARCHAR', 'JSON', false],
  ['UINTEGER', 'BIGINT', false],
  ['STRUCT(a INTEGER)', 'STRUCT(b VARCHAR, a INTEGER)', false],
  ['STRUCT(a INTEGER)[]', 'STRUCT(a INTEGER, b VARCHAR)[]', false],
  ['STRUCT(a INTEGER, b VARCHAR)', 'STRUCT(a INTEGER)', true],
  ['STRUCT(a STRUCT(b INTEGER))', 'STRUCT(a STRUCT(b VARCHAR))', true],
  ['INTEGER[]', 'VARCHAR[]', true],
  ['INTEGER[]', 'INTEGER', true],
  ['BIGINT', 'JSON', true],
  ['DECIMAL(9,2)', 'DOUBLE', true],
  ['DATE', 'TIMESTAMP', true],
] as const)
  test(`${was} that becomes ${now} ${breaks ? 'breaks' : 'does not break'} clients`, () => {
    const from = published({ id: 'INTEGER!', v: was }, ['id'])
    const text = `${breaks ? '! ' : ''}a_t: property v retyped from ${was} to ${now}`
    assert.equal(changes(from, model({ id: 'INTEGER', v: now }, ['id'])), [text])
  })

test('a column of events that may not be missing breaks nobody, one that may be does', () => {
  const given = events('a.t', { id: 'INTEGER', v: 'VARCHAR!' }, ['id'])
  assert.equal(changes(before, given), [
    'a_t: property v made non-null, unless events from before have none',
  ])
  // A run has built it and found such events.
  assert.equal(changesOf(before, [given], [given]), [])
  const required = published({ id: 'INTEGER!', v: 'VARCHAR!' }, ['id'])
  const now = events('a.t', { id: 'INTEGER', v: 'VARCHAR' }, ['id'])
  assert.equal(changes(required, now), ['! a_t: property v may now be null'])
})

test.run()
