// The whole of a table over HTTP, against the engine writing the same rows as JSON into nothing.

import { get } from 'node:http'
import { parseManifest } from '../../src/core/snapshot.ts'
import { readFile } from 'node:fs/promises'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { workspace } from '../workspace.ts'
import { type Benchmark, interleaved } from './figure.ts'

const model = (rows: number) => `-- @kind: table
-- @expose id
SELECT
  i::INTEGER AS id,
  'name ' || i AS name,
  CASE WHEN i % 7 = 0 THEN NULL ELSE 'note "' || (i % 1000) || '" é' END AS note,
  i * 1000003 AS big,
  (i * 7)::BIGINT AS other,
  (i / 100)::DECIMAL(18,4) AS price,
  i / 7 AS ratio,
  i % 2 = 0 AS flag,
  DATE '2020-01-01' + (i % 2000)::INTEGER AS day,
  TIMESTAMP '2020-01-01' + to_seconds(i) AS at
FROM range(${rows}) AS r(i)`

export const exportBenchmark: Benchmark = {
  name: 'export',
  async run({ quick }) {
    const rows = quick ? 200_000 : 1_000_000
    await using space = await workspace({
      'eider.yml': `name: bench\nodata:\n  page_size: ${rows}\n`,
      'models/mart/rows.sql': model(rows),
    })
    await space.ok(['run'])
    await using service = await space.start(['serve', '--port', '0', '--quiet'])
    const manifest = parseManifest(
      await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'),
    )
    const file = space.path('.eider/snapshots', manifest.relations[0]!.file)
    await using database = await Database.open({ path: file, readOnly: true, threads: 1 })
    await using connection = await database.connect()

    const copy = async () => {
      const startedAt = performance.now()
      await connection.run(sql`COPY (SELECT * FROM rows) TO '/dev/null' (FORMAT json)`)
      return performance.now() - startedAt
    }
    let bytes = 0
    const overHttp = async () => {
      const startedAt = performance.now()
      const answer = await download(`${service.url}/mart_rows`)
      if (!answer.end.endsWith(']}')) throw new Error(`the answer ends with ${answer.end}`)
      bytes = answer.bytes
      return performance.now() - startedAt
    }
    await copy()
    await overHttp()
    const ms = await interleaved(quick ? 3 : 7, overHttp, copy)
    return [
      {
        name: "export over HTTP / the engine's own COPY to JSON, one thread",
        ratio: ms.ours / ms.baseline,
        bound: { at: 'most', ratio: 1.5 },
        measured: `${Math.round(ms.ours)} ms against ${Math.round(ms.baseline)} ms; ${rows.toLocaleString('en-US')} rows, ${(bytes / 2 ** 20).toFixed(0)} MiB`,
      },
    ]
  },
}

function download(url: string): Promise<{ bytes: number; end: string }> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let bytes = 0
      let end = ''
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        end = (end + chunk.subarray(-16).toString('latin1')).slice(-16)
      })
      response.on('end', () => resolve({ bytes, end }))
      response.on('error', reject)
    }).on('error', reject)
  })
}
