// Some hundred rows behind a service, whose answers are compared with those of SQL that says the same.

import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { serve } from './odata-service.ts'
import { testsSharing } from './shared.ts'
import type { Table } from './snapshot-files.ts'

/** Spread without a generator of random numbers, so that both sides make the same rows. */
const sales = sql`SELECT i::INTEGER AS sale_id, CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 7919 % 40)::INTEGER END AS client_id,
  CASE WHEN i % 13 = 0 THEN NULL ELSE ['open', 'paid', 'Späti', ''][1 + i * 31 % 4] END AS status,
  CASE WHEN i % 7 = 0 THEN NULL ELSE (i * 104729 % 20000 - 5000) / 100 END::DECIMAL(18,4) AS amount,
  (i * 31 % 9 - 2)::INTEGER AS qty, (i % 17) / 4 - 2 AS ratio,
  CASE WHEN i % 19 = 0 THEN NULL ELSE TIMESTAMP '2023-01-01' + to_seconds(i * 86399) END AS sold_at,
  DATE '2023-01-01' + (i * 3 % 800)::INTEGER AS due, i % 3 = 0 AS rush
  FROM range(1, 400) AS r(i)`
const clients = sql`SELECT i::INTEGER AS client_id, 'Client ' || i AS name, CASE WHEN i % 5 = 0 THEN NULL ELSE ['Oslo', 'Rom', 'Łódź'][1 + i % 3] END AS city
  FROM range(0, 35) AS r(i)`

const tables: readonly Table[] = [
  { model: 'g.sales', key: ['sale_id'], rows: sales },
  { model: 'g.clients', key: ['client_id'], rows: clients },
]

/** A request, and the statement that says the same; its columns stand in the order of the properties. */
export type SqlCase = readonly [target: string, statement: Sql]

const withBoth = testsSharing(openBoth)

/** Each request is a test, named after its URL. */
export function answersAreThoseOf(title: string, cases: readonly SqlCase[]): void {
  for (const [target, statement] of cases)
    withBoth(`${title}: ${target}`, async ({ get, connection }) => {
      const expected = (await connection.rows(statement)).map((row) =>
        Object.values(row).map(plain),
      )
      const { status, text, json } = await get(target)
      assert.is(status, 200, text)
      const found = (json.value as readonly Readonly<Record<string, unknown>>[]).map(valuesOf)
      assert.equal(found, expected)
      assert.ok(expected.length > 0, 'nothing is found')
      if (!target.includes('$filter') || target.includes('$apply') || target.includes('(7)')) return
      const [set = '', query = ''] = target.split('?')
      const conditions = query
        .split('&')
        .filter((option) => /^\$(?:filter|compute|search)/.test(option))
      const counted = await get(`${set}/$count?${conditions.join('&')}`)
      assert.is(counted.text, String(expected.length), 'counted')
    })
}

/** The tables behind a service, and in an engine beside it. */
async function openBoth() {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const database = resources.use(await Database.open({ path: ':memory:', threads: 1 }))
  const connection = resources.use(await database.connect())
  await connection.run(sql`CREATE TABLE g_sales AS ${sales}`)
  await connection.run(sql`CREATE TABLE g_clients AS ${clients}`)
  const owned = resources.move()
  return {
    connection,
    get: (target: string) => served.get(encodeURI(target).replaceAll('+', '%2B')),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

/** Of nested objects too, one behind the other. */
const valuesOf = (row: Readonly<Record<string, unknown>>): readonly unknown[] =>
  Object.values(row).flatMap((value) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? valuesOf(value as Readonly<Record<string, unknown>>)
      : [plain(value)],
  )

/** Numbers by their value: SQL gives wide ones as text, and averages with other digits at their end. */
function plain(value: unknown): unknown {
  const isNumber =
    typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
  return isNumber ? Number(Number(value).toPrecision(12)) : value
}
