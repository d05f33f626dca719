// datasette on a file of SQLite with the key as its primary key.

import { execFileSync } from 'node:child_process'
import { freePort } from '../../support/free-port.ts'
import type { Workspace } from '../../support/workspace.ts'
import { csvRows, type Row } from './equal-rows.ts'
import { pythonProgram } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'
import { servedComparison, type ServedTable } from './served-peer.ts'
import { loadSqlite } from './sqlite.ts'

export const datasettePeer = servedComparison({
  name: 'datasette',
  title: 'datasette 0.65.5',
  settings:
    'An immutable file of SQLite (`-i`) with its counts made before (`inspect`), INTEGER PRIMARY KEY, no other index, time limits raised. A row by its page, all rows as streamed CSV, the rest as SQL. eider: its cache of answers off.',
  durability: 'Neither writes.',
  goals: { lookup: 0.9 },
  exportFormat: 'csv',
  start,
})

async function start(space: Workspace): Promise<ServedTable> {
  const datasette = pythonProgram('datasette', 'datasette')
  const database = space.path('rows.db')
  loadSqlite(pythonProgram('datasette', 'python'), space.path('rows.csv'), database)
  const counts = space.path('counts.json')
  execFileSync(datasette, ['inspect', database, '--inspect-file', counts], { stdio: 'pipe' })
  const dir = await peerDirectory()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = {
    sql_time_limit_ms: '60000',
    max_returned_rows: '10000',
    max_csv_mb: '0',
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['--setting', name, value])
  const child = await startPeer(
    datasette,
    ['serve', '-i', database, '--inspect-file', counts, '-p', String(port), ...flags],
    {
      dir,
      isReady: async () => (await fetch(`${url}/rows/rows/1.json`)).ok,
    },
  )
  const query = (sql: string) => ({
    path: `/rows.json?_shape=objects&sql=${encodeURIComponent(sql)}`,
  })
  return {
    pid: child.pid,
    url,
    ask: {
      lookup: (n) => ({ path: `/rows/rows/${n}.json?_shape=objects` }),
      page: (n) =>
        query(`select * from rows where flag and other > ${n} order by ratio desc limit 100`),
      count: (n) => query(`select count(*) as n from rows where other > ${n} and flag`),
      sums: (n) =>
        query(`select flag, sum(big) as total from rows where other > ${n} group by flag`),
      export: () => ({ path: '/rows/rows.csv?_stream=on&_size=max' }),
    },
    read: (_, answer) => (JSON.parse(answer) as { readonly rows: readonly Row[] }).rows,
    exported: csvRows,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
