// A table of orders from files, more of which come, and what a run of one model takes beside its rebuild.

import { readFile } from 'node:fs/promises'
import { type Sql, sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Workspace } from '../support/workspace.ts'
import { type Figure, median } from './figure.ts'
import { type Took, takenByEider } from './processor-time.ts'

export const ORDERS = {
  'eider.yml':
    'name: bench\nsources:\n  files:\n    tables:\n      orders:\n        file: data/*.parquet\n',
  'models/raw/orders.sql': '-- @kind: append\n-- @incremental: order_id\nFROM files.orders\n',
}

/** Into a file of the source. */
export async function writeRows(space: Workspace, name: string, rows: Sql): Promise<void> {
  await space.write('data/.keep', '')
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.run(sql`COPY (${rows}) TO ${sql.value(space.path(`data/${name}.parquet`))}`)
}

interface Taken extends Took {
  readonly builtMs: number
}

/** Of a run of one model the whole command, and the time of the model. */
export async function takenByModel(
  space: Workspace,
  name: string,
  flags: readonly string[] = [],
): Promise<Taken> {
  const took = takenByEider(['run', name, ...flags], space.dir)
  const { models } = JSON.parse(await readFile(space.path('target/run_results.json'), 'utf8')) as {
    readonly models: readonly { readonly model: string; readonly ms: number }[]
  }
  return { ...took, builtMs: models.find(({ model }) => model === name)!.ms }
}

/** Runs after a few changes, and such as make all anew. */
export interface Rebuilt {
  readonly few: Taken[]
  readonly all: Taken[]
}

export function againstRebuild(
  name: string,
  { few, all }: Rebuilt,
  what: keyof Taken,
  atMost: number,
): Figure {
  const [ours, baseline] = [few, all].map((side) => median(side.map((took) => took[what])))
  return {
    name,
    ratio: ours! / baseline!,
    bound: { at: 'most', ratio: atMost },
    measured: `${Math.round(ours!)} ms against ${Math.round(baseline!)} ms`,
  }
}
