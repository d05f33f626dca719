// Parquet by the types of columns, against DuckDB writing the same rows, and Arrow, against the stream that DuckDB makes
// of them in Python.

import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { isWanted, runPython } from '../support/python.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { download, fileOf, serveTable, tableModel } from './served.ts'

/** Four columns of a type, of the row with the number `i`. */
const columns: Readonly<Record<string, (i: string) => string>> = {
  integers: (i) => `(${i} * 7919 % 1000003)::INTEGER`,
  decimals: (i) => `(${i} / 100)::DECIMAL(18,4)`,
  doubles: (i) => `${i} / 7`,
  times: (i) => `TIMESTAMP '2020-01-01' + to_seconds(${i})`,
  zoned_times: (i) => `TIMESTAMPTZ '2020-01-01 00:00:00+00' + to_seconds(${i})`,
  uuids: (i) => `md5('' || ${i})::UUID`,
  texts: (i) => `'name ' || ${i}`,
  long_texts: (i) => `repeat(md5('' || ${i}), 20)`,
  nested: (i) => `{'street': 'no ' || ${i}, 'tags': ['a' || ${i} % 9, 'b'], 'size': ${i} / 3}`,
}

const modelOf = (value: (i: string) => string, rows: number) => `-- @expose id
SELECT i AS id, ${['i', '(i + 1)', '(i + 2)', '(i + 3)'].map((i, n) => `${value(i)} AS c${n}`).join(', ')}
FROM range(${rows}) AS r(i)`

export const formatsBenchmark: Benchmark = {
  name: 'formats',
  missing: () =>
    isWanted(['duckdb', 'pyarrow']) ? [] : ['Python with duckdb and pyarrow (EIDER_PYTHON)'],
  async *run({ quick }) {
    const rows = quick ? 200_000 : 1_000_000
    await using space = await workspace({
      'eider.yml': 'name: bench\n',
      'models/mart/rows.sql': tableModel(rows),
      ...Object.fromEntries(
        Object.entries(columns).map(([name, value]) => [
          `models/mart/${name}.sql`,
          modelOf(value, name === 'long_texts' || name === 'nested' ? rows / 10 : rows),
        ]),
      ),
    })
    await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
    await using service = await serveTable(space.dir)
    const rounds = quick ? 1 : 5
    for (const name of Object.keys(columns)) yield await parquet(space, service.url, name, rounds)
    yield await arrow(space, service.url, rows, rounds)
  },
}

async function parquet(
  space: Workspace,
  service: string,
  name: string,
  rounds: number,
): Promise<Figure> {
  const path = await fileOf(space, `mart.${name}`)
  await using database = await Database.open({ path, readOnly: true, threads: 1 })
  await using connection = await database.connect()
  let query = 0
  const times = await interleaved(
    rounds,
    // Each query has a file of its own.
    async () => {
      const url = `${service}/mart_${name}?$format=parquet&$filter=id%20ge%20-${++query}`
      return (await download(url, /PAR1$/)).ms
    },
    async () => {
      const startedAt = performance.now()
      await connection.run(sql`COPY (SELECT * FROM rows) TO '/dev/null' (FORMAT parquet)`)
      return performance.now() - startedAt
    },
  )
  return {
    name: `${name.replace('_', ' ')} as Parquet over HTTP / DuckDB's own COPY, one thread`,
    ratio: times.ours / times.baseline,
    bound: { at: 'most', ratio: 1.5 },
    measured: `${Math.round(times.ours)} ms against ${Math.round(times.baseline)} ms`,
  }
}

/** Milliseconds in which DuckDB's stream of batches is written, as a server in Python would. */
const STREAMED = `
import sys, time, duckdb, pyarrow as pa
c = duckdb.connect(sys.argv[1], read_only=True, config={'threads': 1})
def once():
  started = time.perf_counter()
  reader = c.execute('FROM rows').fetch_record_batch(10000)
  with open('/dev/null', 'wb') as sink, pa.ipc.new_stream(sink, reader.schema) as out:
    for batch in reader: out.write_batch(batch)
  return (time.perf_counter() - started) * 1000
once()
print(once())`

async function arrow(
  space: Workspace,
  service: string,
  rows: number,
  rounds: number,
): Promise<Figure> {
  const path = await fileOf(space, 'mart.rows')
  const url = `${service}/mart_rows?$format=arrow`
  // The end of the stream, then of the chunks.
  const end = /\xff\xff\xff\xff\0\0\0\0(?:\r\n0\r\n\r\n)?$/
  const ours = async () => (await download(url, end)).ms
  await ours()
  const times = await interleaved(rounds, ours, async () =>
    Number(await runPython(STREAMED, [path])),
  )
  const rate = (ms: number) => `${((rows / ms) * 1e-3).toFixed(1)} million rows a second`
  return {
    name: "rows of ten columns as Arrow over HTTP: rate / that of DuckDB's own stream",
    ratio: times.baseline / times.ours,
    bound: { at: 'least', ratio: 0.9 },
    measured: `${rate(times.ours)} against ${rate(times.baseline)}`,
  }
}
