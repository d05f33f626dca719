// Projects with sets that are large enough for their changes to be written apart (src/store/files/continued.ts).

import { mkdir, readFile } from 'node:fs/promises'
import * as assert from 'uvu/assert'
import { MANIFEST_FILE, parseManifest, type Snapshot } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { APART_FROM } from './apart-early.ts'
import type { Workspace } from './workspace.ts'

/** A little more than it needs, so that what is deleted leaves enough. */
export const ROWS = APART_FROM + 2_000

const MODELS: Readonly<Record<string, string>> = {
  merged: '-- @kind: merge\n-- @unique_key: id\n-- @expose id',
  mirrored: '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\n-- @expose id',
  pairs: '-- @kind: merge\n-- @unique_key: grp, code\n-- @expose grp, code',
  added: '-- @kind: append\n-- @unique_key: id\n-- @incremental: n lookback 5\n-- @expose code',
  versions: '-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from',
  parts:
    '-- @kind: period\n-- @period: 400 of n lookback 800\n-- @unique_key: id, n\n-- @expose n, id',
}

export const FILES: Readonly<Record<string, string>> = {
  'eider.yml': 'name: apart\nodata:\n  keep_snapshots: 30\n  apart_percent: 5\n',
  ...Object.fromEntries(
    Object.entries(MODELS).map(([name, head]) => [
      `models/mart/${name}.sql`,
      `${head}\n\nSELECT * FROM read_parquet('data/rows.parquet')\n`,
    ]),
  ),
}

/** The source: `change` is done to the rows of before. */
export async function changeSource(space: Workspace, change: string): Promise<void> {
  await mkdir(space.path('data'), { recursive: true })
  await using database = await Database.open({ path: space.path('source.duckdb'), threads: 1 })
  await using connection = await database.connect()
  await connection.driver.run(change)
  const path = sql.value(space.path('data', 'rows.parquet'))
  await connection.run(sql`COPY (FROM source ORDER BY hash(id)) TO ${path}`)
}

export const FIRST = `CREATE TABLE source AS
  SELECT 2 * i AS id, i AS n, i % 300 AS grp, 'c' || i AS code, 'name ' || (i % 1000) AS name,
    CASE WHEN i % 11 <> 0 THEN (i % 97)::DECIMAL(18, 2) END AS price, i % 7 = 0 AS flag,
    TIMESTAMP '2024-01-01' + to_minutes(i) AS moment
  FROM range(${ROWS}) t(i)`

/** Updates, NULLs, rows between others and behind them, deletions, rows that get another key. */
export function randomChange(random: () => number): string {
  const some = (n: number) => Array.from({ length: n }, () => Math.floor(random() * ROWS)).join()
  const shift = Math.floor(random() * 1000)
  const changes = [
    `UPDATE source SET price = ${shift}, name = 'new ${shift}' WHERE n IN (${some(40)})`,
    `UPDATE source SET name = NULL, moment = NULL, price = NULL WHERE n IN (${some(20)})`,
    `DELETE FROM source WHERE n IN (${some(30)})`,
    `UPDATE source SET id = id + 1 WHERE n IN (${some(10)}) AND id % 2 = 0`,
    `INSERT INTO source SELECT 2 * i + 1, i, i % 300, 'd' || i || '-${shift}', 'between', i, NULL, NULL
      FROM (SELECT DISTINCT unnest([${some(15)}]) AS i) WHERE 2 * i + 1 NOT IN (SELECT id FROM source)`,
    `INSERT INTO source SELECT (SELECT max(id) FROM source) + 2 * i, (SELECT max(n) FROM source) + i, i, 'e' || i || '-${shift}-${some(1)}',
      'behind', NULL, true, TIMESTAMP '2026-01-01' FROM range(1, 20) t(i)`,
  ]
  return changes.filter(() => random() < 0.6).join(';\n') || changes[0]!
}

export const manifestOf = async (dir: string): Promise<Snapshot> =>
  parseManifest(await readFile(`${dir}/${MANIFEST_FILE}`, 'utf8'))

/** Each published set has the rows of its table, in the order of its key. */
export async function requireRows(space: Workspace, { relations }: Snapshot): Promise<void> {
  await using database = await Database.open({
    path: space.path('.eider/warehouse.duckdb'),
    threads: 1,
  })
  await using connection = await database.connect()
  for (const { model, file, key, columns, rows } of relations) {
    const path = space.path('.eider/snapshots', file)
    await connection.run(sql`ATTACH ${sql.value(path)} AS one (READ_ONLY)`)
    const names = sql.idents(columns.map(({ name }) => name))
    const published = sql`SELECT ${names} FROM ${sql.ident(...fileRows.tableOf('one'))}`
    const wanted = sql`SELECT ${names} FROM ${sql.relation(model)} ORDER BY ${sql.idents(key)}`
    // The shorter one is filled up with NULL, which no key has.
    const row = await connection.row(sql`
      SELECT count(*) FILTER (WHERE p IS DISTINCT FROM w)::INT AS different,
        (SELECT count(*) FROM ${sql.relation(model)})::INT AS n
      FROM (${published}) AS p POSITIONAL JOIN (${wanted}) AS w`)
    assert.equal(row, { different: 0, n: rows }, `${model} in ${file}`)
    await connection.run(sql`DETACH one`)
  }
}
