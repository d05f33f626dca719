// Random edits of a source, run after run: tables that are kept must be what a few lines of JavaScript make of the same
// sources. Each state is run twice, the second time with its query touched, so that everything is computed again.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { openProject } from '../../support/pipeline-project.ts'
import { query } from '../../support/handmade-models.ts'

interface Item {
  readonly id: number
  readonly v: number | null
  readonly ts: number
}

interface Version extends Item {
  readonly from: number
  to: number | null
}

const ROUNDS = 14
const LOOKBACK = 3
const START = Date.parse('2024-01-01T00:00:00Z')

const valuesOf = (items: readonly Item[]) =>
  items.length === 0
    ? 'select null::int as id, null::int as v, null::int as ts where false'
    : `select * from (values ${items
        .map(({ id, v, ts }) => `(${id}, ${v ?? 'null'}::int, ${ts})`)
        .join(', ')}) t(id, v, ts)`

const textOf = ({ id, v, ts }: Item) => JSON.stringify([id, v, ts])
const sorted = (texts: Iterable<string>) => [...texts].toSorted()

/** Of each id the row with the greatest ts, then the greatest v; NULL is less than every value. */
function latest(items: readonly Item[]): ReadonlyMap<number, Item> {
  const found = new Map<number, Item>()
  for (const item of items) {
    const other = found.get(item.id)
    const later =
      other === undefined ||
      item.ts > other.ts ||
      (item.ts === other.ts && (item.v ?? -1) > (other.v ?? -1))
    if (later) found.set(item.id, item)
  }
  return found
}

class Expected {
  readonly keep = new Map<number, Item>()
  mirror: ReadonlyMap<number, Item> = new Map()
  readonly versions: Version[] = []
  readonly appended: string[] = []
  #watermark = -Infinity

  merge(source: readonly Item[], round: number): void {
    const rows = latest(source)
    for (const [id, item] of rows) this.keep.set(id, item)
    this.mirror = rows
    for (const version of this.versions.filter(({ to }) => to === null)) {
      const now = rows.get(version.id)
      if (now === undefined || textOf(now) !== textOf(version)) version.to = round
    }
    for (const item of rows.values())
      if (!this.versions.some(({ id, to }) => id === item.id && to === null))
        this.versions.push({ ...item, from: round, to: null })
  }

  append(log: readonly Item[]): void {
    const read = log.filter(({ ts }) => ts >= this.#watermark - LOOKBACK)
    const texts = read.map(textOf)
    for (const text of new Set(texts)) {
      const count = (list: readonly string[]) => list.filter((other) => other === text).length
      for (let n = count(texts) - count(this.appended); n > 0; n--) this.appended.push(text)
    }
    this.#watermark = Math.max(this.#watermark, ...read.map(({ ts }) => ts))
  }
}

function edit(items: Item[], random: () => number, round: number): Item[] {
  const upTo = (n: number) => Math.floor(random() * n)
  const fresh = (): Item => ({ id: upTo(10), v: random() < 0.25 ? null : upTo(3), ts: round })
  if (random() < 0.1) return []
  const kept = items.filter(() => random() > 0.15)
  const updated = kept.map((item) => (random() < 0.3 ? { ...item, ...fresh(), id: item.id } : item))
  const doubled = updated.filter(() => random() < 0.2)
  return [...updated, ...doubled, ...Array.from({ length: upTo(5) }, fresh)]
}

/** Late rows, rows that are too late, ties, equal rows, and old rows that vanish. */
function grow(log: readonly Item[], random: () => number, round: number): Item[] {
  const upTo = (n: number) => Math.floor(random() * n)
  const fresh = (): Item => ({ id: upTo(4), v: upTo(2), ts: round * 2 - upTo(2 * LOOKBACK) })
  return [...log.filter(() => random() > 0.05), ...Array.from({ length: upTo(6) }, fresh)]
}

for (const { seed, modelsAtOnce } of [
  { seed: 1, modelsAtOnce: 1 },
  { seed: 2, modelsAtOnce: 4 },
])
  test(`merge, scd2 and append are what they should be after each run (seed ${seed}, ${modelsAtOnce} at once)`, async () => {
    await using space = await openProject()
    const random = seededRandom(seed)
    const expected = new Expected()
    let items: Item[] = []
    let log: Item[] = [{ id: 0, v: 0, ts: 0 }]
    const reads = ['raw.s']
    const kept = { key: ['id'], latest: 'ts', reads } as const
    const models = [
      query('mart.keep', 'from raw.s', { ...kept, kind: 'merge' }),
      query('mart.mirror', 'from raw.s', { ...kept, kind: 'merge', deletes: 'mirror' }),
      query('mart.versions', 'from raw.s', { ...kept, kind: 'scd2' }),
      query('mart.appended', 'from raw.log', {
        kind: 'append',
        incremental: `ts lookback ${LOOKBACK}`,
        reads: ['raw.log'],
      }),
    ]
    for (let round = 0; round < ROUNDS; round++) {
      items = edit(items, random, round)
      log = grow(log, random, round)
      expected.merge(items, round)
      expected.append(log)
      for (const touch of ['', ' -- touched']) {
        const sources = [
          query('raw.s', valuesOf(items) + touch),
          query('raw.log', valuesOf(log) + touch),
        ]
        await space.ok([...sources, ...models], {
          allowEmpty: true,
          modelsAtOnce,
          now: () => new Date(START + (round + (touch === '' ? 0 : 0.5)) * 1000),
        })
        const rows = await space.rows(sql`
          SELECT 'keep' AS model, [id, v, ts]::VARCHAR AS text FROM mart.keep
          UNION ALL SELECT 'mirror', [id, v, ts]::VARCHAR FROM mart.mirror
          UNION ALL SELECT 'appended', [id, v, ts]::VARCHAR FROM mart.appended
          UNION ALL SELECT 'versions', [id, v, ts, (epoch(valid_from) - ${sql.value(START / 1000)})::INTEGER,
            (epoch(valid_to) - ${sql.value(START / 1000)})::INTEGER]::VARCHAR FROM mart.versions
          UNION ALL SELECT 'wrong', id::VARCHAR FROM mart.versions WHERE is_current <> (valid_to IS NULL)`)
        const of = (model: string) =>
          sorted(
            rows
              .filter((row) => row['model'] === model)
              .map(({ text }) => JSON.stringify(JSON.parse((text as string).toLowerCase()))),
          )
        const what = (model: string) => `${model}, round ${round}${touch}`
        assert.equal(of('keep'), sorted([...expected.keep.values()].map(textOf)), what('keep'))
        assert.equal(
          of('mirror'),
          sorted([...expected.mirror.values()].map(textOf)),
          what('mirror'),
        )
        assert.equal(of('appended'), sorted(expected.appended), what('appended'))
        const versions = expected.versions.map(({ id, v, ts, from, to }) =>
          JSON.stringify([id, v, ts, from, to]),
        )
        assert.equal(of('versions'), sorted(versions), what('versions'))
        assert.equal(of('wrong'), [])
      }
    }
  })

test.run()
