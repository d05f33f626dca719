// What the acceptance tests of the daemon share: requests, runs beside it, the warehouse, and waiting for what it says.

import type { Sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import type { Row } from '../../src/duckdb/values.ts'
import type { Running, Workspace } from './workspace.ts'

export const daemonIn = (space: Workspace, ...flags: readonly string[]) =>
  space.start(['collect', 'daemon', '--port', '0', '--admin-port', '0', ...flags])

export const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

export const runBeside = (space: Workspace, daemon: Running) =>
  space.ok(['run'], { env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port } })

export async function query(space: Workspace, statement: Sql): Promise<readonly Row[]> {
  await using database = await Database.open({
    path: space.path('.eider/warehouse.duckdb'),
    readOnly: true,
  })
  await using connection = await database.connect()
  return await connection.rows(statement)
}

/** Asks until it is so; fails after a minute with what was seen last. */
export async function until<T>(ask: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (let waits = 0; ; waits++) {
    const seen = await ask()
    if (isSo(seen)) return seen
    if (waits === 1200) throw new Error(`still ${JSON.stringify(seen)} after a minute`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export const healthOf = async (daemon: Running) =>
  (await (await fetch(`${daemon.adminUrl}/health`)).json()) as Record<string, unknown>
