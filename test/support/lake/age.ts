// Time that passes in a lake.

import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { TestLake } from './with-lake.ts'

/** As if all that is there were ten days old. */
export async function age(lake: TestLake): Promise<void> {
  const ten = `INTERVAL '10 days'`
  await lake.postgres(`UPDATE shop.ducklake_snapshot SET snapshot_time = snapshot_time - ${ten}`)
  await lake.postgres(
    `UPDATE shop.ducklake_files_scheduled_for_deletion SET schedule_start = schedule_start - ${ten}`,
  )
  const directory = join(lake.servers.directory, 'store')
  const then = new Date(Date.now() - 10 * 24 * 60 * 60_000)
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    if (name.includes(lake.database)) utimesSync(join(directory, name), then, then)
}
