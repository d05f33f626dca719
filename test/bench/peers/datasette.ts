// One row by its key of a table of ten columns: eider against datasette on SQLite with the key as its primary key.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { interleaved } from '../figure.ts'
import { getRequest, measureLoad } from '../load.ts'
import { publishedTable, serveTable, untilRowFile } from '../served.ts'
import { pythonProgram } from './peer-cache.ts'
import type { PeerBenchmark, PeerFigure } from './peer.ts'

/** The rows as eider exports them; numbers as SQLite has them, times and decimals as text. */
const LOAD = `
import csv, sqlite3, sys
rows = csv.reader(open(sys.argv[1], newline=''))
names = next(rows)
whole, real = {'id', 'big', 'other'}, {'ratio'}
types = {n: 'INTEGER' if n in whole else 'REAL' if n in real else 'TEXT' for n in names}
db = sqlite3.connect(sys.argv[2])
columns = ', '.join(f'{n} {types[n]}' + (' PRIMARY KEY' if n == 'id' else '') for n in names)
db.execute(f'CREATE TABLE rows ({columns})')
typed = ([None if v == '' else int(v) if n in whole else float(v) if n in real else v for n, v in zip(names, row)] for row in rows)
db.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(names))})", typed)
db.commit()
db.execute('ANALYZE')
`

export const datasettePeer: PeerBenchmark = {
  name: 'datasette',
  async run({ quick }) {
    const rows = quick ? 100_000 : 1_000_000
    const datasette = pythonProgram('datasette')
    await using space = await publishedTable(rows)
    await using service = await serveTable(space.dir, { cacheBytes: 0 })
    const exported = await fetch(`${service.url}/mart_rows?$format=csv`)
    await writeFile(space.path('rows.csv'), Buffer.from(await exported.arrayBuffer()))
    const database = space.path('rows.db')
    execFileSync(pythonProgram('python'), ['-c', LOAD, space.path('rows.csv'), database])
    const port = await freePort()
    // Immutable: the fastest that its documentation has.
    const child = spawn(datasette, ['serve', '-i', database, '-p', String(port)], {
      stdio: 'ignore',
    })
    try {
      await until(() => isThere(`http://127.0.0.1:${port}/rows/rows/1.json`))
      await compareRows(service.url, port, rows)
      await untilRowFile(service, rows)
      const figures: PeerFigure[] = []
      for (const connections of [1, 16]) {
        const load = {
          connections,
          pipelined: 1,
          durationMs: quick ? 1_000 : 3_000,
          keys: rows,
          status: 200,
        }
        const cost = async (to: number, path: string) => {
          const { answers, ms } = await measureLoad({
            ...load,
            port: to,
            request: getRequest(path),
          })
          return ms / answers
        }
        const ms = await interleaved(
          quick ? 1 : 5,
          () => cost(service.port, '/odata/mart_rows({key})'),
          () => cost(port, '/rows/rows/{key}.json?_shape=objects'),
        )
        figures.push({
          work: `one of ${rows.toLocaleString('en-US')} rows by its key, ${connections} ${connections === 1 ? 'connection' : 'connections'}`,
          peer: 'datasette 0.65.5',
          eider: ms.ours,
          other: ms.baseline,
          unit: 'ms',
          goal: 0.9,
          note: 'answer cache off; SQLite immutable, INTEGER PRIMARY KEY',
        })
      }
      return figures
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  },
}

const isThere = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/** The same values, whatever types a format has for them. */
async function compareRows(url: string, port: number, rows: number): Promise<void> {
  for (const key of [0, 7, 8, Math.floor(rows / 3), rows - 1]) {
    const ours = (await (await fetch(`${url}/mart_rows(${key})`)).json()) as Row
    const answer = await fetch(`http://127.0.0.1:${port}/rows/rows/${key}.json?_shape=objects`)
    const [theirs] = ((await answer.json()) as { rows: readonly Row[] }).rows
    for (const [name, value] of Object.entries(theirs ?? { rows: 'none' }))
      if (!isSame(ours[name], value))
        throw new Error(`row ${key}, ${name}: ${String(ours[name])} and ${String(value)}`)
  }
}

type Row = Readonly<Record<string, unknown>>

const isSame = (ours: unknown, theirs: unknown): boolean =>
  String(ours) === String(theirs) ||
  (typeof ours === 'number' && Math.abs(ours - Number(theirs)) <= 1e-9 * Math.abs(ours))
