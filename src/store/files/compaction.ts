// `eider maintain` of a target of files: gives the disk back what deleted and replaced rows have left in the warehouse.
//
// DuckDB keeps what is free in its file for later rows, so the file is made again (rewrite.ts) where that is worth it and the
// disk has room for both files meanwhile.

import { realpath, stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { numberOf } from '../../duckdb/values.ts'
import type { RunLease } from '../run-lease.ts'
import type { Compaction } from '../store.ts'
import type { Warehouse } from '../warehouse.ts'
import { rewrite } from './rewrite.ts'

export const fileCompaction = (
  paths: ProjectPaths,
  lease: RunLease,
  warehouse: Warehouse,
): Compaction => ({
  async compact({ dryRun, ...options }) {
    await using _lease = await lease.take(options)
    const before = await sizeOf(paths)
    const { used, free } = dryRun
      ? await look(warehouse, { ...options, hasLease: true })
      : await checkpoint(warehouse, options)
    const isWorthIt = free > before * limits.freeShare
    if (dryRun) return { before, after: isWorthIt ? used : before }
    if (isWorthIt) {
      await requireRoom(paths, used)
      await rewrite(paths, warehouse, options)
    }
    return { before, after: await sizeOf(paths) }
  },
})

interface Blocks {
  readonly used: number
  readonly free: number
}

async function look(
  warehouse: Warehouse,
  options: Parameters<Warehouse['openToRead']>[0],
): Promise<Blocks> {
  await using opened = await warehouse.openToRead(options)
  await using connection = await opened.connect()
  return await blocksOf(connection)
}

async function checkpoint(
  warehouse: Warehouse,
  options: Parameters<Warehouse['open']>[0],
): Promise<Blocks> {
  await using opened = await warehouse.open(options)
  await using connection = await opened.connect()
  await connection.run(sql`CHECKPOINT`)
  return await blocksOf(connection)
}

async function blocksOf(connection: Connection): Promise<Blocks> {
  const row = await connection.row(sql`
    SELECT used_blocks * block_size AS used, free_blocks * block_size AS free
    FROM pragma_database_size() WHERE database_name = current_database()`)
  return { used: numberOf(row?.['used'] ?? 0), free: numberOf(row?.['free'] ?? 0) }
}

const sizeOf = async ({ database }: ProjectPaths): Promise<number> => (await stat(database)).size

async function requireRoom({ database }: ProjectPaths, used: number): Promise<void> {
  // The new file is made next to what a link leads to.
  const { bavail, bsize } = await statfs(dirname(await realpath(database)))
  const [room, needed] = [bavail * bsize, used + limits.spareDiskBytes]
  if (room > needed) return
  throw new EnvironmentError(
    'disk-full',
    `the disk has ${room} bytes free, and the new file of the warehouse needs ${needed} for a while`,
    { hint: 'drop tables that nobody needs with "eider drop", or move other files away' },
  )
}
