// The daemon of the built command line, runs beside it, its health and what came into the warehouse.

import type { Sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import type { Running, Workspace } from './workspace.ts'

export const startDaemon = (space: Workspace, ...flags: readonly string[]) =>
  space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0', ...flags])

export const runBeside = (space: Workspace, daemon: Running) =>
  space.ok(['run'], { env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port } })

export async function queryWarehouse(space: Workspace, statement: Sql): Promise<readonly Row[]> {
  await using database = await Database.open({
    path: space.path('.eider/warehouse.duckdb'),
    readOnly: true,
    threads: 1,
  })
  await using connection = await database.connect()
  return await connection.rows(statement)
}

export const healthOf = async (daemon: Running) =>
  (await (await fetch(`${daemon.adminUrl}/health`)).json()) as Record<string, unknown>
