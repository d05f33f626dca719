// Engines of delta links: shared, and only so many at a time.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { entitySetName } from '../../../src/core/names.ts'
import { Resources } from '../../../src/core/resources.ts'
import type { PublishedRelation, TableName } from '../../../src/core/snapshot.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import {
  type ComparisonLease,
  Comparisons,
  type Kept,
} from '../../../src/odata/engine/comparisons.ts'
import { admissionLimits, createAdmission } from '../../../src/odata/engine/admission.ts'
import { ClientGone } from '../../../src/odata/engine/query.ts'
import { publish, type Table, writeTable } from '../../support/snapshot-files.ts'
import { serve } from '../../support/odata-service.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { tableBeforeSql } from '../../../src/odata/sql/visible-rows.ts'
import { fileRows } from '../../../src/store/files/rows.ts'
import { fileReader } from '../../../src/store/files/reader.ts'

const setOf = (relation: PublishedRelation) => {
  const name = entitySetName(relation.model)
  return { name, relation, table: fileRows.tableOf(name) }
}

/** A set of one row, now and before. */
async function states(dir: string, name: string) {
  const state = (n: number): Table => ({
    model: `shop.${name}`,
    key: ['id'],
    rows: sql`SELECT ${sql.value(n)} AS id`,
  })
  const relation = await writeTable(dir, state(2))
  return {
    set: setOf(relation),
    before: await writeTable(dir, state(1)),
  }
}

/** With them no engine is kept, nor any row that differs. */
const NOTHING: Kept = { rows: 0, bytes: 0, engines: 0 }

async function directory(resources: Resources): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  return dir
}

const comparisonsIn = (resources: Resources, dir: string, kept?: Kept, processes = 1) =>
  resources.use(
    new Comparisons(
      { published: fileReader(dir), threads: 1, memoryLimit: null, tempDir: join(dir, 'temp') },
      kept,
      processes,
    ),
  )

async function open(resources: Resources, sets: number, kept = NOTHING, processes = 1) {
  const dir = await directory(resources)
  const comparisons = comparisonsIn(resources, dir, kept, processes)
  const names = Array.from({ length: sets }, (_, i) => `s${i}`)
  return { dir, comparisons, all: await Promise.all(names.map((name) => states(dir, name))) }
}

const patient = () => ({
  gone: new AbortController().signal,
  clock: { remainingMs: 60_000 },
  admission: createAdmission(admissionLimits()),
  onDamage: () => {},
})

const failure = (promise: Promise<unknown>) => promise.then(String, (error: unknown) => error)

async function idBefore(lease: ComparisonLease): Promise<unknown> {
  await lease.compare(patient())
  await using lent = await lease.connect()
  const row = await lent.connection.row(
    sql`SELECT id FROM ${tableBeforeSql({ only: [] }, lease.tableBefore)}`,
  )
  return row!['id']
}

test('a set more than there are places waits until one is free', async () => {
  await using resources = new Resources()
  const { comparisons, all } = await open(resources, limits.comparisons + 1)
  const lease = ({ set, before }: (typeof all)[number], request = patient()) =>
    comparisons.lease(set, before, request)
  const held = await Promise.all(all.slice(1).map((each) => lease(each)))

  const again = await lease(all[1]!)
  assert.is(await idBefore(again), 1, 'links of one set share a place')

  const hasNoTime = { ...patient(), clock: { remainingMs: 20 } }
  const refused = await failure(lease(all[0]!, hasNoTime))
  assert.instance(refused, RequestError)
  assert.is((refused as RequestError).status, 503)
  assert.ok(hasNoTime.clock.remainingMs < 20)

  const leaver = new AbortController()
  const left = failure(lease(all[0]!, { ...patient(), gone: leaver.signal }))
  const waiting = lease(all[0]!)
  leaver.abort()
  assert.instance(await left, ClientGone)

  await held[0]![Symbol.asyncDispose]()
  await held[0]![Symbol.asyncDispose]()
  assert.is(await idBefore(again), 1, 'it is open as long as somebody uses it')
  await again[Symbol.asyncDispose]()
  const last = await waiting
  assert.is(await idBefore(last), 1)
  for (const each of [last, ...held]) await each[Symbol.asyncDispose]()
})

test('processes that answer together have the places of one', async () => {
  await using resources = new Resources()
  const { comparisons, all } = await open(resources, 2, NOTHING, limits.comparisons)
  const [first, second] = all as [(typeof all)[number], (typeof all)[number]]
  const held = await comparisons.lease(first.set, first.before, patient())
  const hasNoTime = { ...patient(), clock: { remainingMs: 20 } }
  const refused = await failure(comparisons.lease(second.set, second.before, hasNoTime))
  assert.is((refused as RequestError).status, 503)
  await held[Symbol.asyncDispose]()
  const next = await comparisons.lease(second.set, second.before, patient())
  assert.is(await idBefore(next), 1)
  await next[Symbol.asyncDispose]()
})

test('a file that is gone fails for all who wait for it, and takes no place', async () => {
  await using resources = new Resources()
  const { comparisons, all } = await open(resources, 1)
  const [{ set, before }] = all as [(typeof all)[number]]
  const gone: PublishedRelation = { ...before, file: 'gone.duckdb' }
  const tries = Array.from({ length: 2 * limits.comparisons }, () =>
    failure(comparisons.lease(set, gone, patient())),
  )
  for (const error of await Promise.all(tries)) assert.instance(error, DatabaseError)
  await using lease = await comparisons.lease(set, before, patient())
  assert.is(await idBefore(lease), 1)
})

test('many delta links at once, of more sets than there are places, are all answered', async () => {
  await using resources = new Resources()
  const names = Array.from({ length: 2 * limits.comparisons }, (_, i) => `set${i}`)
  const state = (from: number): readonly Table[] =>
    names.map((name) => ({
      model: `shop.${name}`,
      key: ['id'],
      rows: sql`SELECT i + ${sql.value(from)} AS id FROM range(10) AS r(i)`,
    }))
  const served = await serve(resources, state(0))
  const links = await Promise.all(
    names.map(async (name) => {
      const { json } = await served.get(`shop_${name}`, { prefer: 'track-changes' })
      return (json['@odata.deltaLink'] as string).slice(served.url.length + 1)
    }),
  )
  await publish(served.dir, 'second', state(1))
  while ((await served.get('')).headers['eider-snapshot'] !== 'second');
  const asked = [...links, ...links, ...links].map((link) => served.get(link))
  for (const { status, json, text } of await Promise.all(asked)) {
    assert.is(status, 200, text)
    assert.is(json.value.length, 2, 'one row was added, one removed')
  }
})

test('followers of the same states need no file once the first has compared them, as long as few are kept', async () => {
  await using resources = new Resources()
  const kept: Kept = { rows: 10, bytes: 16 * 2 ** 20, engines: 2 }
  const { dir, comparisons, all } = await open(resources, 3, kept)
  for (const { set, before } of all) {
    await using lease = await comparisons.lease(set, before, patient())
    assert.is(await idBefore(lease), 1)
  }
  for (const { set, before } of all)
    for (const { file } of [set.relation, before]) await rm(join(dir, file))
  for (const { set, before } of all.slice(1)) {
    await using first = await comparisons.lease(set, before, patient())
    await using second = await comparisons.lease(set, before, patient())
    assert.is(await idBefore(first), 1)
    assert.is(await idBefore(second), 1)
  }
  const [oldest] = all
  assert.instance(
    await failure(comparisons.lease(oldest!.set, oldest!.before, patient())),
    DatabaseError,
    'one that was closed for others opens its files again',
  )
})

test('what is kept takes no place', async () => {
  await using resources = new Resources()
  const kept: Kept = { rows: 10, bytes: 16 * 2 ** 20, engines: 1 }
  const { comparisons, all } = await open(resources, limits.comparisons + 1, kept)
  const held: ComparisonLease[] = []
  for (const { set, before } of all) {
    held.push(await comparisons.lease(set, before, patient()))
    assert.is(await idBefore(held.at(-1)!), 1)
  }
  for (const each of held) await each[Symbol.asyncDispose]()
})

/** Pairs of values of which the second is another one, if only in its text. */
const VALUES: readonly (readonly [Sql, Sql])[] = [
  [sql`INTERVAL '30 days'`, sql`INTERVAL '1 month'`],
  [sql`{'a': [1, NULL]}`, sql`{'a': [1]}`],
  [sql`NULL::VARCHAR`, sql`''`],
  [sql`'NaN'::FLOAT`, sql`1::FLOAT`],
  [sql`'a'::BLOB`, sql`'b'::BLOB`],
]

test('the rows that differ are left, and no others, whatever the types of their columns', async () => {
  await using resources = new Resources()
  const dir = await directory(resources)
  const comparisons = comparisonsIn(resources, dir)
  const random = seededRandom(3)
  for (const pair of [...VALUES, ...VALUES.map(([a, b]) => [b, a] as const)]) {
    const ids = (from: number) =>
      Array.from({ length: 300 }, (_, i) => i + from).filter(() => random() < 0.9)
    const [then, now] = [ids(0), ids(20)]
    const other = new Set(now.filter(() => random() < 0.1))
    const tableOf = (all: readonly number[], changed: ReadonlySet<number>): Table => {
      const rows = all.map((id) => {
        const value = pair[changed.has(id) ? 1 : 0]
        return sql`(${sql.value(Math.floor(id / 7))}, ${sql.value(`k${String(id).padStart(3, '0')}`)}, ${value})`
      })
      return {
        model: 'shop.all',
        key: ['a', 'b'],
        rows: sql`FROM (VALUES ${sql.join(rows)}) AS v(a, b, v) ORDER BY a, b`,
      }
    }
    const before = await writeTable(dir, tableOf(then, new Set()))
    const set = setOf(await writeTable(dir, tableOf(now, other)))
    await using lease = await comparisons.lease(set, before, patient())
    await lease.compare(patient())
    await using lent = await lease.connect()
    const left = async (rows: TableName) =>
      (await lent.connection.rows(sql`SELECT b FROM ${sql.ident(...rows)} ORDER BY a, b`)).map(
        ({ b }) => b,
      )
    const isSame = (id: number) => then.includes(id) && now.includes(id) && !other.has(id)
    const expected = (all: readonly number[]) =>
      all.filter((id) => !isSame(id)).map((id) => `k${String(id).padStart(3, '0')}`)
    assert.equal(await left(set.table), expected(now), pair[0].inline())
    assert.equal(await left(lease.tableBefore), expected(then), pair[0].inline())
  }
})

test.run()
