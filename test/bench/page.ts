// A page from the middle of a large set, as the service asks the engine for it, against the same rows with ORDER BY.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseModelName } from '../../src/core/names.ts'
import type { PublishedRelation } from '../../src/core/snapshot.ts'
import { limits } from '../../src/core/limits.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { TextStream } from '../../src/duckdb/vectors/text-stream.ts'
import { bindRequest } from '../../src/odata/bind/request.ts'
import type { BoundQuery } from '../../src/odata/bind/bound-request.ts'
import { buildEntityModel } from '../../src/odata/edm/entity-model.ts'
import { entityTextsSql } from '../../src/odata/sql/expand.ts'
import { keysetWindow } from '../../src/odata/sql/keyset.ts'
import { copiesOf } from '../../src/odata/sql/expression.ts'
import { parseRequest } from '../../src/odata/syntax/parse-request.ts'
import { rowsSql } from '../../src/odata/sql/query.ts'
import { type Benchmark, interleaved } from './figure.ts'
import { keysetOf } from '../../src/odata/bind/keyset.ts'
import { fileRows } from '../../src/store/files/rows.ts'

const PAGE_ROWS = 10_000

export const pageBenchmark: Benchmark = {
  name: 'page',
  async *run({ quick }) {
    const rows = quick ? 500_000 : 5_000_000
    const dir = await mkdtemp(join(tmpdir(), 'eider-'))
    try {
      const path = join(dir, 'rows.duckdb')
      const relation = await writeRows(path, rows)
      await using database = await Database.open({ path: ':memory:', threads: 1 })
      await using connection = await database.connect()
      await connection.run(sql`ATTACH ${sql.value(path)} AS mart_rows (READ_ONLY)`)
      const query = boundCollection(relation)
      const keyset = keysetOf(query)!
      const window = keysetWindow(keyset, [String(rows / 2)], PAGE_ROWS)

      const shape = { offset: 0, limit: PAGE_ROWS + 1, keyset: window }
      const sorted: BoundQuery = {
        ...query,
        order: keyset.map(({ value }) => ({ value, descending: false })),
      }
      const read = (asked: BoundQuery) => async () => {
        const { text, values } = rowsSql(asked, shape).prepare()
        const startedAt = performance.now()
        const rows = await connection.driver.run(text, [...values])
        if (rows.rowCount !== PAGE_ROWS + 1) throw new Error('no whole page')
        return performance.now() - startedAt
      }
      const write = (asked: BoundQuery) => async () => {
        const texts = entityTextsSql(asked, shape, { metadata: 'minimal', ieee754: false })
        const startedAt = performance.now()
        const options = { maxRows: PAGE_ROWS, mode: 'whole' } as const
        const stream = await TextStream.open(connection, texts, options)
        for (let next = await stream.next(); next !== null; next = await stream.next()) next.copy()
        if (stream.following === null) throw new Error('no whole page')
        return performance.now() - startedAt
      }
      const rounds = quick ? 3 : 9
      const reading = await interleaved(rounds, read(sorted), read(query))
      const writing = await interleaved(rounds, write(sorted), write(query))
      yield* [
        {
          name: `rows of a page of ${PAGE_ROWS} with ORDER BY / by position, one thread`,
          ratio: reading.ours / reading.baseline,
          bound: { at: 'least', ratio: 30 },
          measured: `${reading.ours.toFixed(1)} ms against ${reading.baseline.toFixed(1)} ms, written as JSON ${writing.ours.toFixed(1)} against ${writing.baseline.toFixed(1)}; from the middle of ${rows.toLocaleString('en-US')} rows of 10 columns`,
        },
      ]
    } finally {
      await rm(dir, { recursive: true })
    }
  },
}

function boundCollection(relation: PublishedRelation): BoundQuery {
  const snapshot = { id: 'bench', publishedAt: new Date(0), runId: '', relations: [relation] }
  const facts = { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() }
  const model = buildEntityModel(snapshot, facts)
  const context = { now: new Date(), version: '4.01', copiesOf } as const
  const bound = bindRequest(parseRequest('mart_rows', 'http://127.0.0.1/odata/'), model, context)
  if (bound.kind !== 'collection') throw new Error('not a collection')
  return bound.query
}

/** As a run publishes them. */
async function writeRows(path: string, rows: number): Promise<PublishedRelation> {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.run(
    sql`ATTACH ${sql.value(path)} AS written (ROW_GROUP_SIZE ${sql.value(limits.snapshotRowGroupRows)})`,
  )
  const table = sql.ident(...fileRows.tableOf('written'))
  await connection.run(sql`CREATE TABLE ${table} AS SELECT
    i AS id, 'name ' || i AS name, CASE WHEN i % 7 = 0 THEN NULL ELSE 'note "' || (i % 1000) || '" é' END AS note,
    i * 1000003 AS big, CAST(i % 100000 AS INTEGER) AS small, CAST(i / 100 AS DECIMAL(18,4)) AS price, i / 7 AS ratio,
    i % 2 = 0 AS flag, DATE '2020-01-01' + CAST(i % 2000 AS INTEGER) AS day, TIMESTAMP '2020-01-01' + to_seconds(i) AS at
    FROM range(${sql.value(rows)}) AS r(i) ORDER BY id`)
  const columns = (await connection.columnsOf(sql`FROM ${table}`)).map((column) => ({
    ...column,
    nullable: column.name !== 'id',
  }))
  await connection.run(sql`DETACH written`)
  const model = parseModelName('mart.rows')!
  return { model, file: 'rows.duckdb', bytes: 0, rows, key: ['id'], description: null, columns }
}
