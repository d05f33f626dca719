// A service that keeps rows in files for lookups, and one beside it that asks the engine for each.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import type { RowFileBounds } from '../../src/odata/engine/rows/row-files.ts'
import type { ODataServiceOptions } from '../../src/odata/service.ts'
import { type Answer, type Asked, serve, type Served, serveSnapshots } from './odata-service.ts'
import { readMetrics } from './read-metrics.ts'
import type { Table } from './snapshot-files.ts'
import { until } from './until.ts'

/** On a busy machine no read counts as slow, so what a file has comes from it. */
export const AT_ONCE: RowFileBounds = {
  lookupsBefore: 0,
  rowsPerLookupBefore: Infinity,
  readMs: Infinity,
}
const NEVER: RowFileBounds = { rows: 0 }
export const common = { linkSecret: '2'.repeat(64), cacheBytes: 0 }
/** Answers name the address that the client has used. */
const Host = '127.0.0.1'

interface Both {
  readonly ours: Served
  readonly engine: Served
}

/** A service that keeps rows in files from the first lookup of a set on, and one that never does, over one snapshot. */
export async function both(
  resources: Resources,
  tables: readonly Table[],
  options: Partial<ODataServiceOptions> = {},
): Promise<Both> {
  const ours = await serve(resources, tables, { ...common, rowFiles: AT_ONCE, ...options })
  const tempDir = join(ours.dir, '..', 'other-temp')
  const others = { ...common, ...options, rowFiles: NEVER, tempDir }
  return { ours, engine: await serveSnapshots(resources, ours.dir, others) }
}

export const ask = (service: Served, asked: Asked) =>
  service.send({ ...asked, headers: { Host, ...asked.headers } })

export function shown({ status, rawHeaders, text, aborted }: Answer) {
  const headers: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i] !== 'Date') headers.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`)
  return { status, headers, text, aborted }
}

export async function requireSame({ ours, engine }: Both, asked: Asked): Promise<Answer> {
  const [mine, theirs] = await Promise.all([ask(ours, asked), ask(engine, asked)])
  assert.equal(shown(mine), shown(theirs), JSON.stringify(asked))
  return mine
}

export async function metric({ url }: Served, name: string, headers = {}): Promise<number> {
  if (Object.keys(headers).length === 0)
    return (await readMetrics(url.replace(/\/odata$/, '/metrics'), 'eider_odata_')).get(name)!
  const response = await fetch(url.replace(/\/odata$/, '/metrics'), { headers })
  return Number(new RegExp(`^eider_odata_${name} (\\d+)$`, 'm').exec(await response.text())![1])
}

/** Asks until rows of so many sets are in files. */
export async function untilMade(
  service: Served,
  targets: readonly string[],
  files = targets.length,
) {
  await until(
    async () => {
      for (const target of targets) await ask(service, { target })
      return await metric(service, 'row_files')
    },
    (made) => made === files,
  )
}

export const made = ({ log }: Served) =>
  log.filter(({ event }) => event === 'row-file-made').map(({ fields }) => fields['model'])

/** Paths of the files with rows. */
export async function fileNames({ dir }: Served): Promise<readonly string[]> {
  const temp = join(dir, '..', 'temp')
  const names = await readdir(temp, { recursive: true }).catch(() => [])
  return names
    .filter((name) => /answer-[^/\\]*[/\\]rows$/.test(name))
    .map((name) => join(temp, name))
}

/** Columns of all types, with all that is hard to write. */
export const others = sql`
  CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 'a "b" \\ ' || chr(10) || chr(9) || chr(1) ELSE 'é漢🙂' || i END AS note,
  CASE i % 4 WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE ELSE i / 7 END AS ratio,
  (i / 3)::FLOAT AS single, (i * 1.5)::DECIMAL(18,4) AS price, 0.5::DECIMAL(2,2) AS part,
  i::HUGEINT * 1000000000000000000 AS huge, i % 2 = 0 AS flag,
  DATE '2020-01-01' + (i % 2000)::INTEGER AS day, TIMESTAMP '2020-01-01' + to_microseconds(i * 500000) AS moment,
  TIME '00:00:00' + to_microseconds(i * 1001) AS clock, to_seconds(i) AS pause,
  encode('b' || i) AS bytes, [i, NULL, i + 1] AS list, {'a': i, 'b': 'x"' || i} AS object,
  CASE WHEN i % 3 = 0 THEN TIMESTAMP '12000-01-01' ELSE TIMESTAMP '2020-01-01' END AS beyond`

export const table = (name: string, key: Sql, count = 40): Table => ({
  model: `shop.${name}`,
  key: ['k'],
  rows: sql`SELECT ${key} AS k, ${others} FROM range(${sql.value(count)}) AS r(i) ORDER BY k`,
})

export const version = (number: number): readonly Table[] => [
  {
    model: 'shop.rows',
    key: ['id'],
    rows: sql`SELECT i::INTEGER AS id, ${sql.value(number)} AS version FROM range(2000) AS r(i)`,
  },
]
