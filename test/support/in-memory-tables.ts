// Tables in the engine's memory, attached as a snapshot is, and requests that are parsed, bound and run against them
// without a service: for all that can be told without HTTP.

import { columnType } from '../../src/core/relation.ts'
import { Resources } from '../../src/core/resources.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { bindRequest } from '../../src/odata/bind/request.ts'
import type { BoundQuery, BoundRequest } from '../../src/odata/bind/bound-request.ts'
import { buildEntityModel } from '../../src/odata/edm/entity-model.ts'
import { parseRequest } from '../../src/odata/syntax/parse-request.ts'
import { copiesOf } from '../../src/odata/sql/expression.ts'
import { countSql, rowsSql } from '../../src/odata/sql/query.ts'
import { modelName } from './model-name.ts'
import { shop } from './odata-tables.ts'
import type { Table } from './snapshot-files.ts'
import type { EntityModel } from '../../src/odata/edm/model.ts'
import { fileRows } from '../../src/store/files/rows.ts'

export const ROOT = 'http://127.0.0.1:8090/odata/'

const NOW = new Date('2024-06-01T12:00:00.500Z')

export class InMemoryTables implements AsyncDisposable {
  readonly model: EntityModel
  readonly #connection: Connection
  readonly #resources: Resources

  private constructor(model: EntityModel, connection: Connection, resources: Resources) {
    this.model = model
    this.#connection = connection
    this.#resources = resources
  }

  static async open(tables: readonly Table[] = shop): Promise<InMemoryTables> {
    await using resources = new Resources()
    const database = resources.use(await Database.open({ path: ':memory:', threads: 1 }))
    const connection = resources.use(await database.connect())
    const relations: Snapshot['relations'][number][] = []
    for (const table of tables) relations.push(await create(connection, table))
    const snapshot = { id: 's', publishedAt: NOW, runId: 'r', relations }
    const model = buildEntityModel(snapshot, {
      stored: fileRows,
      signedTinyints: new Map(),
      clampedTimes: new Map(),
    })
    return new InMemoryTables(model, connection, resources.move())
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

async function create(connection: Connection, table: Table) {
  const { model, key = [], description, rows, hierarchies } = table
  const name = modelName(model)
  const stored = sql.ident(...fileRows.tableOf(model.replace('.', '_')))
  await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(model.replace('.', '_'))}`)
  const order =
    key.length === 0 ? sql.empty : sql` ORDER BY ${sql.join(key.map((part) => sql.ident(part)))}`
  await connection.run(sql`CREATE TABLE ${stored} AS SELECT * FROM (${rows})${order}`)
  const described = await connection.rows(sql`DESCRIBE ${stored}`)
  const counted = await connection.row(sql`SELECT count(*) AS n FROM ${stored}`)
  const columns = described.map((column) => ({
    name: column['column_name'] as string,
    type: columnType(column['column_type'] as string),
    nullable: true,
  }))
  return {
    model: name,
    file: 'f',
    bytes: 0,
    rows: Number(counted!['n']),
    key,
    description: description ?? null,
    columns,
    ...(hierarchies && { meaning: { measures: [], dimensions: [], time: null, hierarchies } }),
  }
}
