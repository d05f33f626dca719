import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parseModelName } from '../../src/core/names.ts'
import { columnType } from '../../src/core/relation.ts'
import {
  parseManifest,
  parseManifestSteps,
  type PublishedRelation,
  printManifest,
  type Snapshot,
} from '../../src/core/snapshot.ts'

const relation = (i: number, description: string | null): PublishedRelation => ({
  model: parseModelName(`mart.t${i}`)!,
  file: `t${i}.duckdb`,
  bytes: 1_000 + i,
  rows: i,
  key: ['id'],
  description,
  columns: [
    { name: 'id', type: columnType('BIGINT'), nullable: false },
    { name: '"relations":[{', type: columnType('VARCHAR'), nullable: true, description: ']}\\"' },
  ],
})

const snapshot: Snapshot = {
  id: '"relations":[',
  publishedAt: new Date('2026-01-02T03:04:05Z'),
  runId: 'run \\',
  relations: [relation(1, null), relation(2, 'ends with a \\'), relation(3, '"},{"')],
}

const pretty = printManifest(snapshot)
const document = JSON.parse(pretty)
const texts = [
  pretty,
  JSON.stringify(document),
  JSON.stringify(
    { relations: document.relations, other: { relations: [1] }, ...document },
    null,
    9,
  ),
]

test('a manifest is read whole, however it is written', () => {
  for (const text of texts) assert.equal(parseManifest(text), snapshot)
  const none = JSON.stringify({ ...document, relations: [] })
  assert.equal(parseManifest(none), { ...snapshot, relations: [] })
})

test('no step reads more than one relation', () => {
  const steps = Array.from(parseManifestSteps(pretty))
  assert.is(steps.length, 2 * snapshot.relations.length)
})

test('what is no manifest is refused', () => {
  const [first] = document.relations
  const item = JSON.stringify(first)
  const withRelations = (relations: string) =>
    JSON.stringify({ ...document, relations: 0 }).replace(
      '"relations":0',
      `"relations":${relations}`,
    )
  const wrong = [
    '',
    '[]',
    'null',
    '{"format":1',
    withRelations('{}'),
    withRelations('[1]'),
    withRelations('["a"]'),
    withRelations('[[]]'),
    withRelations(`[${item}${item}]`),
    withRelations(`[${item},]`),
    withRelations(`[,${item}]`),
    withRelations(`[${item},,${item}]`),
    withRelations(`[${item},1]`),
    withRelations(`[${item}`),
    withRelations(`[${item.slice(0, -1)}]`),
    `${texts[1]} x`,
    JSON.stringify({ ...document, format: 2 }),
    JSON.stringify({ ...document, id: 1 }),
    JSON.stringify({ ...document, relations: [{ ...first, key: ['absent'] }] }),
  ]
  for (const text of wrong) assert.throws(() => parseManifest(text), undefined, text)
  assert.throws(
    () => parseManifest(JSON.stringify({ format: 2, relations: [1, {}] })),
    /array of objects/,
  )
  assert.throws(() => parseManifest(JSON.stringify({ format: 2, relations: [{}] })), /format 2/)
})

test.run()
