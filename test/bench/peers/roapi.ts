// roapi on a Parquet file with the same rows, which it reads into memory.

import { freePort } from '../../support/free-port.ts'
import type { Workspace } from '../../support/workspace.ts'
import type { Row } from './equal-rows.ts'
import { pythonProgram } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'
import { servedComparison, type ServedTable } from './served-peer.ts'

export const roapiPeer = servedComparison({
  name: 'roapi',
  title: 'roapi 0.12.7',
  settings:
    'The rows as Parquet, read into memory when it starts, its default; questions as SQL by POST, all rows as JSON of the table. eider: its cache of answers off.',
  durability: 'Neither writes.',
  goals: { export: 0.9 },
  exportFormat: 'json',
  start,
})

async function start(space: Workspace): Promise<ServedTable> {
  const dir = await peerDirectory()
  const port = await freePort()
  const address = `127.0.0.1:${port}`
  const url = `http://${address}`
  const table = `rows=${space.path('rows.parquet')}`
  const args = ['-a', address, '-p', `127.0.0.1:${await freePort()}`, '-t', table]
  const child = await startPeer(pythonProgram('roapi', 'roapi'), args, {
    dir,
    isReady: async () => (await fetch(`${url}/api/schema`)).ok,
  })
  const query = (body: string) => ({ path: '/api/sql', body })
  return {
    pid: child.pid,
    url,
    ask: {
      lookup: (n) => query(`select * from rows where id = ${n}`),
      page: (n) =>
        query(`select * from rows where flag and other > ${n} order by ratio desc limit 100`),
      count: (n) => query(`select count(*) as n from rows where other > ${n} and flag`),
      sums: (n) =>
        query(`select flag, sum(big) as total from rows where other > ${n} group by flag`),
      export: () => ({ path: '/api/tables/rows' }),
    },
    read: (_, answer) => JSON.parse(answer) as readonly Row[],
    exported: (answer) => JSON.parse(answer) as readonly Row[],
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
