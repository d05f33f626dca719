// A small shop in the engine's memory, attached as a snapshot is, and requests against it.

import { parseModelName } from '../../src/core/names.ts'
import { columnType } from '../../src/core/relation.ts'
import { Resources } from '../../src/core/resources.ts'
import { type Snapshot, SNAPSHOT_TABLE } from '../../src/core/snapshot.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { bindRequest } from '../../src/odata/bind/request.ts'
import type { BoundQuery, BoundRequest } from '../../src/odata/bind/bound.ts'
import { buildEntityModel } from '../../src/odata/edm/entity-model.ts'
import { parseRequest } from '../../src/odata/syntax/parse-request.ts'
import { copiesOf } from '../../src/odata/sql/copies.ts'
import { countSql, rowsSql } from '../../src/odata/sql/query.ts'
import type { EntityModel } from '../../src/odata/edm/model.ts'

export interface Table {
  readonly model: string
  readonly key: readonly string[]
  readonly description?: string
  readonly rows: Sql
}

export const ROOT = 'http://127.0.0.1:8090/odata/'

export const NOW = new Date('2024-06-01T12:00:00.500Z')

export class Fixture implements AsyncDisposable {
  readonly model: EntityModel
  readonly #connection: Connection
  readonly #resources: Resources

  private constructor(model: EntityModel, connection: Connection, resources: Resources) {
    this.model = model
    this.#connection = connection
    this.#resources = resources
  }

  static async open(tables: readonly Table[] = shop): Promise<Fixture> {
    await using resources = new Resources()
    const database = resources.use(await Database.open({ path: ':memory:', threads: 1 }))
    const connection = resources.use(await database.connect())
    const relations: Snapshot['relations'][number][] = []
    for (const table of tables) relations.push(await create(connection, table))
    const snapshot = { id: 's', publishedAt: NOW, runId: 'r', relations }
    const model = buildEntityModel(snapshot, { signedTinyints: new Map(), clampedTimes: new Map() })
    return new Fixture(model, connection, resources.move())
  }

  bind(target: string): BoundRequest {
    return bindRequest(parseRequest(target, ROOT), this.model, {
      now: NOW,
      version: '4.01',
      copiesOf,
    })
  }

  query(target: string): BoundQuery {
    const request = this.bind(target)
    if (!('query' in request)) throw new Error(`${target} asks for no rows`)
    return request.query
  }

  rows(
    target: string,
    window: { offset: number; limit: number | null } = ALL,
  ): Promise<readonly Row[]> {
    return this.#connection.rows(rowsSql(this.query(target), window))
  }

  sql(target: string): Sql {
    return rowsSql(this.query(target), ALL)
  }

  /** Values of the first property, in order, with a space between them. */
  async first(target: string): Promise<string> {
    return (await this.rows(target))
      .map((row) => Object.values(row)[0] as string | number)
      .join(' ')
  }

  /** The same for a filter on a set. */
  ids(set: string, filter: string): Promise<string> {
    return this.first(`${set}?$filter=${encodeURIComponent(filter)}`)
  }

  async count(target: string): Promise<number> {
    const row = await this.#connection.row(countSql(this.query(target)))
    return Number(row!['count'])
  }

  run(statement: Sql): Promise<readonly Row[]> {
    return this.#connection.rows(statement)
  }

  /** Status, code and message of the refusal; fails when the request is not refused. */
  refusal(target: string): {
    readonly status: number
    readonly code: string
    readonly message: string
  } {
    try {
      const { query } = this.bind(target) as { readonly query?: BoundQuery }
      if (query !== undefined) rowsSql(query, ALL).prepare()
    } catch (error) {
      if (error instanceof RequestError) return error
      throw error
    }
    throw new Error(`not refused: ${target}`)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources[Symbol.asyncDispose]()
  }
}

const ALL = { offset: 0, limit: null }

async function create(connection: Connection, { model, key, description, rows }: Table) {
  const name = parseModelName(model)!
  const table = sql.ident(model.replace('.', '_'), 'main', SNAPSHOT_TABLE)
  await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(model.replace('.', '_'))}`)
  const order =
    key.length === 0 ? sql.empty : sql` ORDER BY ${sql.join(key.map((part) => sql.ident(part)))}`
  await connection.run(sql`CREATE TABLE ${table} AS SELECT * FROM (${rows})${order}`)
  const described = await connection.rows(sql`DESCRIBE ${table}`)
  const columns = described.map((column) => ({
    name: column['column_name'] as string,
    type: columnType(column['column_type'] as string),
    nullable: true,
  }))
  return {
    model: name,
    file: 'f',
    bytes: 0,
    rows: 0,
    key,
    description: description ?? null,
    columns,
  }
}

export const shop: readonly Table[] = [
  {
    model: 'shop.customers',
    key: ['customer_id'],
    description: 'People & firms that <buy> "things"',
    rows: sql`SELECT * FROM (VALUES
      (1, 'Alice', 'Berlin', CAST(1000.5 AS DECIMAL(18,4)), true, DATE '2020-01-15'),
      (2, 'Bob', 'Paris', 250.25, false, DATE '2021-06-30'),
      (3, 'O''Neil', '', 0, true, DATE '2019-12-31'),
      (4, 'Zoë', NULL, NULL, NULL, NULL),
      (5, '100% sure_thing', 'berlin', -10, false, DATE '2022-02-28')
    ) AS v(customer_id, name, city, credit, vip, since)`,
  },
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'open', CAST(100.50 AS DECIMAL(18,4)), 3, TIMESTAMP '2024-01-05 10:30:00'),
      (11, 1, 'paid', 20, 4, TIMESTAMP '2024-02-29 23:59:59.123456'),
      (12, 2, 'paid', NULL, NULL, NULL),
      (13, NULL, NULL, 0, 6, TIMESTAMP '2023-12-31 00:00:00'),
      (14, 99, 'open', 20, 5, TIMESTAMP '2024-12-31 12:00:00')
    ) AS v(order_id, customer_id, status, amount, flags, ordered_at)`,
  },
  {
    model: 'shop.items',
    key: ['order_id', 'line'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'a', 2), (10, 2, 'b', 1), (11, 1, 'a', 5), (12, 1, 'b/c', NULL)
    ) AS v(order_id, line, product, qty)`,
  },
  {
    model: 'shop.log',
    key: [],
    rows: sql`SELECT * FROM (VALUES (2, 'b'), (1, 'a'), (2, 'b')) AS v(n, t)`,
  },
]

/** One property of each numeric, temporal and other kind: ordinary, extreme and NULL values. */
export const kinds: readonly Table[] = [
  {
    model: 't.kinds',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES
      (1, 1::TINYINT, 10::SMALLINT, 100::INTEGER, 1000::BIGINT, 1.5::DOUBLE, 0.1::FLOAT, 10.25::DECIMAL(18,4)),
      (2, 127, -32768, -2147483648, 9223372036854775807, 'NaN'::DOUBLE, 'inf'::FLOAT, 99999999999999.9999),
      (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (4, -128, 32767, 2147483647, 9007199254740993, '-inf'::DOUBLE, 'NaN'::FLOAT, -10.25)
    ) AS v(id, t, s, i, b, d, f, n)`,
  },
  {
    model: 't.others',
    key: ['id'],
    rows: sql`SELECT * REPLACE (level::ENUM('low', 'it''s') AS level) FROM (VALUES
      (1, UUID '01234567-89ab-cdef-0123-456789abcdef', TIME '10:30:00', DATE '2024-02-29',
        TIMESTAMP '2024-01-05 10:30:00', INTERVAL 90 SECOND, '\\x01\\xFF'::BLOB, 'low',
        TIMESTAMPTZ '2024-01-05 12:30:00+02', 18446744073709551615::UBIGINT,
        170141183460469231731687303715884105727::HUGEINT),
      (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (3, UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff', TIME '23:59:59.5', DATE '0001-01-01',
        TIMESTAMP '9999-12-31 23:59:59.999999', INTERVAL '-1' DAY, ''::BLOB, 'it''s',
        TIMESTAMPTZ '2023-12-31 23:00:00-02', 0, -1)
    ) AS v(id, u, tod, dt, ts, du, bin, level, tz, ub, h)`,
  },
]
