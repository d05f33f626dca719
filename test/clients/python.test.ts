// Readers of files by URL, which ask for the parts that they need.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { serve } from '../support/odata-service.ts'
import { DUCKDB_OVER_HTTP, pythonTests, runPython } from '../support/python.ts'
import type { Table } from '../support/snapshot-files.ts'

const orders: Table = {
  model: 'shop.orders',
  key: ['id'],
  rows: sql`SELECT i AS id, (250.50 + i)::DECIMAL(10,2) AS amount, 'möbel ' || i AS note,
    TIMESTAMP '2026-01-01 10:00:00' + to_minutes(i::INTEGER) AS placed_at FROM range(300000) AS r(i)`,
}

/** Rows, the sum of all amounts, the first note, and the time zone of the times, by each script. */
interface Reader {
  readonly name: string
  readonly modules: readonly string[]
  /** Such as an extension that it would have to fetch. */
  readonly needs?: string
  readonly script: string
}

const readers: readonly Reader[] = [
  {
    name: 'polars',
    modules: ['polars'],
    script: `import sys, polars as pl
f = pl.read_parquet(sys.argv[1])
print(f.height, f['amount'].sum(), f['note'][0], f.schema['placed_at'].time_zone)`,
  },
  {
    name: 'polars, lazily and one column alone',
    modules: ['polars'],
    script: `import sys, polars as pl
f = pl.scan_parquet(sys.argv[1])
one = f.select(pl.col('amount').sum()).collect()
print(f.select(pl.len()).collect().item(), one.item(), f.select('note').head(1).collect().item(), f.collect_schema()['placed_at'].time_zone)`,
  },
  {
    name: 'pandas',
    modules: ['pandas', 'pyarrow'],
    script: `import sys, pandas as pd
f = pd.read_parquet(sys.argv[1])
print(len(f), f['amount'].sum(), f['note'][0], f['placed_at'].dt.tz)`,
  },
  {
    name: 'DuckDB',
    modules: ['duckdb'],
    needs: `${DUCKDB_OVER_HTTP}\nopened()`,
    script: `import sys, duckdb
${DUCKDB_OVER_HTTP}
c = opened()
c.execute("SET TimeZone = 'UTC'")
print(*c.execute("SELECT count(*), sum(amount), min_by(note, id), 'UTC' FROM read_parquet(?)", [sys.argv[1]]).fetchone())`,
  },
]

pythonTests(['polars'])('polars reads CSV by URL, of many rows and of few', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  const script = `import sys, polars as pl
for url in sys.argv[1:]:
  f = pl.read_csv(url)
  print(f.height, f['note'][0], f['id'].sum())`
  const url = `${served.url}/shop_orders?$format=csv`
  const printed = await runPython(script, [url, `${url}&$top=3`])
  assert.is(printed, '300000 möbel 0 44999850000\n3 möbel 0 3')
})

/** How each reads a stream of Arrow in a line, and prints the same. */
const ofArrow: readonly Reader[] = [
  {
    name: 'polars',
    modules: ['polars'],
    script: `import sys, polars as pl
from urllib.request import urlopen
f = pl.read_ipc_stream(urlopen(sys.argv[1]).read())
print(f.height, f['amount'].sum(), f['note'][0], f.schema['placed_at'].time_zone)`,
  },
  {
    name: 'pandas',
    modules: ['pandas', 'pyarrow'],
    script: `import sys, pyarrow as pa
from urllib.request import urlopen
f = pa.ipc.open_stream(urlopen(sys.argv[1])).read_pandas()
print(len(f), f['amount'].sum(), f['note'][0], f['placed_at'].dt.tz)`,
  },
  {
    name: 'DuckDB',
    modules: ['duckdb', 'pyarrow'],
    script: `import sys, duckdb, pyarrow as pa
from urllib.request import urlopen
orders = pa.ipc.open_stream(urlopen(sys.argv[1]))
print(*duckdb.sql("SELECT count(*), sum(amount), min_by(note, id), 'UTC' FROM orders").fetchone())`,
  },
]
for (const { name, modules, script } of ofArrow)
  pythonTests(modules)(`${name} reads a stream of Arrow`, async () => {
    await using resources = new Resources()
    const served = await serve(resources, [orders])
    const printed = await runPython(script, [`${served.url}/shop_orders?$format=arrow`])
    assert.is(printed, '300000 45075000000.00 möbel 0 UTC')
  })

for (const { name, modules, needs, script } of readers)
  pythonTests(modules, needs)(`${name} reads Parquet by URL`, async () => {
    await using resources = new Resources()
    const served = await serve(resources, [orders])
    const printed = await runPython(script, [`${served.url}/shop_orders?$format=parquet`])
    assert.is(printed, '300000 45075000000.00 möbel 0 UTC')
  })

pythonTests(['pandas', 'polars', 'pyarrow'])(
  'a GUID in Parquet is one to pandas, and bytes to polars',
  async () => {
    await using resources = new Resources()
    const guid = 'b0a1c2d3-0000-4000-8000-000000000001'
    const served = await serve(resources, [
      { model: 'shop.guids', rows: sql`SELECT 1 AS id, ${sql.value(guid)}::UUID AS guid` },
    ])
    const script = `import sys, pandas as pd, polars as pl
print(pd.read_parquet(sys.argv[1])['guid'][0])
print(pl.read_parquet(sys.argv[1]).select(pl.col('guid').bin.encode('hex')).item())`
    const printed = await runPython(script, [`${served.url}/shop_guids?$format=parquet`])
    assert.is(printed, `${guid}\n${guid.replaceAll('-', '')}`)
  },
)

test.run()
