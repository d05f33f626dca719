// A large table of which one row in a hundred changes.

import { DuckDBInstance } from '@duckdb/node-api'
import { workspace } from '../../support/workspace.ts'
import { compareTables } from './compare-tables.ts'
import { eiderProject } from './eider-project.ts'
import { inTurn, type PeerFigure, type PeerOptions } from './peer.ts'
import type { PipelineModel, PipelinePeer, PipelineProject } from './pipeline-peer.ts'

const COLUMNS = 'id, customer, note, amount, changed_at'

const model: PipelineModel = {
  schema: 'mart',
  table: 'items',
  query: `SELECT ${COLUMNS} FROM files.items`,
  merge: { key: 'id', at: 'changed_at' },
}

export async function mergedRows(
  peer: PipelinePeer,
  { quick }: PeerOptions,
): Promise<readonly PeerFigure[]> {
  const rows = quick ? 200_000 : 2_000_000
  await using files = await workspace()
  const items = files.path('change-*.parquet')
  await using ours = await eiderProject({ items })
  await using theirs = await peer.open({ items })
  if (theirs.merge === undefined) return []
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const add = async (change: number) => {
    const path = files.path(`change-${change}.parquet`)
    await connection.run(`COPY (${rowsOf(rows, change)}) TO '${path}' (FORMAT parquet)`)
  }
  await add(0)
  for (const project of [ours, theirs]) {
    await project.write(model)
    await project.prepare?.()
    await project.merge!(dayOf(0))
  }
  let [change, merged] = [0, 0]
  const next = (project: PipelineProject) => async () => {
    // The second of both finds the rows that the first has found.
    if (merged++ % 2 === 0) await add(++change)
    return project.merge!(dayOf(change))
  }
  const costs = await inTurn(quick ? 1 : 5, next(ours), next(theirs))
  connection.closeSync()
  instance.closeSync()
  const newest = `SELECT ${COLUMNS} FROM read_parquet('${items}') QUALIFY row_number() OVER (PARTITION BY id ORDER BY changed_at DESC) = 1`
  await compareTables([ours, theirs], [model], newest)
  const count = rows.toLocaleString('en-US')
  return [{ work: `merge of 1 % into ${count} rows`, ...costs, unit: 'ms', goal: null }]
}

/** The rows before the first change came in January, those of each change on the day of its number. */
const rowsOf = (rows: number, change: number) => `
  SELECT i AS id, 'customer ' || (i % 9973) AS customer, 'a remark of some length on ' || i AS note,
    (i % 7 + ${change})::INTEGER AS amount, ${
      change === 0
        ? `TIMESTAMP '2024-01-01' + to_seconds(i)`
        : `TIMESTAMP '2024-02-01' + to_days(${change - 1}) + to_seconds(i % 86_000)`
    } AS changed_at
  FROM range(${rows}) AS r(i) WHERE ${change} = 0 OR i % 100 = ${change}`

/** The day on which it came. */
const dayOf = (change: number) =>
  change === 0 ? '2024-01-31' : `2024-02-${String(change).padStart(2, '0')}`
