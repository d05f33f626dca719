// Engines of delta links: shared, and only so many at a time.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { entitySetName } from '../../../src/core/names.ts'
import { Resources } from '../../../src/core/resources.ts'
import type { PublishedRelation } from '../../../src/core/snapshot.ts'
import { sql } from '../../../src/core/sql.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { type ComparisonLease, createComparisons } from '../../../src/odata/engine/comparisons.ts'
import { ClientGone } from '../../../src/odata/engine/query.ts'
import { publish, type Table, writeTable } from '../../support/snapshot-files.ts'
import { serve } from '../../support/odata-service.ts'
import { tableBeforeSql } from '../../../src/odata/sql/visible-rows.ts'
import { fileReader } from '../../../src/store/files/reader.ts'

/** A set of one row, now and before. */
async function states(dir: string, name: string) {
  const state = (n: number): Table => ({
    model: `shop.${name}`,
    key: ['id'],
    rows: sql`SELECT ${sql.value(n)} AS id`,
  })
  const relation = await writeTable(dir, state(2))
  return {
    set: { name: entitySetName(relation.model), relation },
    before: await writeTable(dir, state(1)),
  }
}

async function open(resources: Resources, sets: number) {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const tempDir = join(dir, 'temp')
  const comparisons = createComparisons({
    published: fileReader(dir),
    threads: 1,
    memoryLimit: null,
    tempDir,
  })
  const names = Array.from({ length: sets }, (_, i) => `s${i}`)
  return { comparisons, all: await Promise.all(names.map((name) => states(dir, name))) }
}

const patient = () => ({ gone: new AbortController().signal, clock: { remainingMs: 60_000 } })

const failure = (promise: Promise<unknown>) => promise.then(String, (error: unknown) => error)

async function idBefore(lease: ComparisonLease): Promise<unknown> {
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

test.run()
