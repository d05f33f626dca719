// Snapshots made by hand, in the format that a run publishes.

import type { Hierarchy } from '../../src/core/meaning.ts'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  retainedManifestFile,
  MANIFEST_FILE,
  printManifest,
  type PublishedRelation,
  type Snapshot,
} from '../../src/core/snapshot.ts'
import { newLine } from '../../src/core/in-turn.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { describe } from '../../src/duckdb/catalog.ts'
import { Database } from '../../src/duckdb/database.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { modelName } from './model-name.ts'

export interface Table {
  readonly model: string
  readonly key?: readonly string[]
  readonly description?: string
  readonly rows: Sql
  readonly hierarchies?: readonly Hierarchy[]
  /** A view computes its rows when it is asked, so that a query can fail. A run publishes tables only. */
  readonly isView?: boolean
}

let fileNumber = 0
/** For all files that this process writes: to open an engine takes ten times as long as to write a small table. */
let writer: Database | null = null
const inTurn = newLine()

/** Writes the files of `tables`, one for all that have the same `rows`, and makes them the current snapshot, as one rename. */
export async function publish(dir: string, id: string, tables: readonly Table[]): Promise<void> {
  await mkdir(dir, { recursive: true })
  const relations: PublishedRelation[] = []
  const written = new Map<Sql, PublishedRelation>()
  for (const table of tables) {
    const same = written.get(table.rows)
    const relation =
      same === undefined ? await writeTable(dir, table) : { ...same, ...nameOf(table) }
    written.set(table.rows, relation)
    relations.push(relation)
  }
  await writeManifest(dir, { id, publishedAt: new Date(), runId: `run-of-${id}`, relations })
}

export async function writeManifest(dir: string, snapshot: Snapshot): Promise<void> {
  await writeFile(join(dir, retainedManifestFile(snapshot.id)), printManifest(snapshot))
  const temporary = join(dir, 'manifest.tmp')
  await writeFile(temporary, printManifest(snapshot))
  await rename(temporary, join(dir, MANIFEST_FILE))
}

const nameOf = ({ model, key = [], description, hierarchies }: Table) => ({
  model: modelName(model),
  key,
  description: description ?? null,
  ...(hierarchies && { meaning: { measures: [], dimensions: [], time: null, hierarchies } }),
})

export async function writeTable(dir: string, table: Table): Promise<PublishedRelation> {
  const { model, rows, isView = false, hierarchies } = table
  const file = `${model}-${++fileNumber}.duckdb`
  const name = sql.ident(...fileRows.tableOf('snapshot'))
  const { columns, rowCount } = await inTurn(async () => {
    writer ??= await Database.open({ path: ':memory:', threads: 1 })
    await using connection = await writer.connect()
    await connection.run(sql`ATTACH ${sql.value(join(dir, file))} AS snapshot`)
    try {
      await connection.run(sql`CREATE ${isView ? sql`VIEW` : sql`TABLE`} ${name} AS ${rows}`)
      const counted = await connection.row(sql`SELECT count(*) AS n FROM ${name}`)
      return {
        columns: await describe(connection, sql`FROM ${name}`),
        rowCount: Number(counted!['n']),
      }
    } finally {
      await connection.run(sql`DETACH snapshot`)
    }
  })
  return {
    ...nameOf(table),
    file,
    bytes: (await stat(join(dir, file))).size,
    rows: rowCount,
    columns,
    ...(hierarchies && { meaning: { measures: [], dimensions: [], time: null, hierarchies } }),
  }
}
