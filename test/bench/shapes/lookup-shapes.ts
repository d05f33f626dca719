// Lookups as clients write them, beside the plain `set(7)`.

import { createHash } from 'node:crypto'
import { until } from '../../support/until.ts'
import { type Workspace, workspace } from '../../support/workspace.ts'
import { startBareServer } from '../bare-server.ts'
import type { Figure } from '../figure.ts'
import { getRequest, measureLoad, postRequest } from '../load.ts'
import { tableModel } from '../served.ts'
import { type Measuring, type Shape, shapeFigure } from './shape-costs.ts'

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')

const settings = `name: bench
odata:
  cache_bytes: 0
  access_log: false
  tokens:
    - {name: whole, hash: 'sha256:${hashOf('whole')}'}
    - {name: part, hash: 'sha256:${hashOf('part')}', rows: {mart_rows: 'ratio >= 0'}}
`

const filesOf = (rows: number) => ({
  'eider.yml': settings,
  'models/mart/rows.sql': tableModel(rows).replace(
    'i * 1000003 AS big',
    '(i % 1000)::INTEGER AS customer_id, i * 1000003 AS big',
  ),
  'models/mart/customers.sql':
    "-- @expose customer_id\nSELECT i::INTEGER AS customer_id, 'customer ' || i AS title FROM range(1000) AS r(i)",
  'models/mart/parts.sql':
    "-- @expose a, b\nSELECT i::INTEGER AS a, 'x' AS b, 'part ' || i AS title FROM range(10000) AS r(i)",
  'models/mart/moments.sql':
    "-- @expose at\nSELECT TIMESTAMP '2020-01-01' + to_seconds(i) AS at, 'moment ' || i AS title FROM range(10000) AS r(i)",
})

const authorized = (token: string, more = '') => `Authorization: Bearer ${token}\r\n${more}`

const look = (path: string, keys?: number, headers = authorized('whole')): Shape => ({
  request: getRequest(`/odata/${path}`, headers),
  ...(keys === undefined ? {} : { keys }),
})

/** Lookups of one $batch. */
const BATCH = 20

function batchOf(rows: number): Shape {
  const requests = Array.from({ length: BATCH }, (_, i) => ({
    id: String(i),
    method: 'GET',
    url: `mart_rows(${Math.floor((i * rows) / BATCH)})`,
  }))
  const post = postRequest('/odata/$batch', JSON.stringify({ requests }))
  const request = post.replace('\r\n\r\n', `\r\n${authorized('whole')}\r\n`)
  return { request, each: BATCH }
}

export async function* lookupShapes(quick: boolean): AsyncGenerator<Figure, void> {
  const rows = quick ? 100_000 : 1_000_000
  await using space = await workspace(filesOf(rows))
  await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
  const service = await space.start(['serve', '--port', '0'])
  const measuring = { pid: service.pid, port: Number(new URL(service.url).port), quick }
  const plain = look('mart_rows({key})', rows)
  const moment = look('mart_moments(2020-01-01T00:00:07Z)')
  const part = look("mart_parts(a={key},b='x')", 10_000)
  const hidden = look('mart_rows({key})', rows, authorized('part'))
  await untilFiles(measuring, [plain, moment, part, hidden, look('mart_customers({key})', 1000)])
  const ui5 = 'Accept: application/json;odata.metadata=minimal;IEEE754Compatible=true\r\n'
  const shapes: readonly (readonly [name: string, most: number | null, Shape])[] = [
    ['with a token that has a row filter', 1.5, hidden],
    [
      'as UI5 asks (IEEE754Compatible)',
      2,
      look('mart_rows({key})', rows, authorized('whole', ui5)),
    ],
    ['as $filter=id eq 7', 2, look('mart_rows?$filter=id%20eq%20{key}', rows)],
    ['of /name', 2, look('mart_rows({key})/name', rows)],
    ['of /name/$value', 2, look('mart_rows({key})/name/$value', rows)],
    ['with a composite key', 1.3, part],
    ['with a point in time as key', 1.3, moment],
    ['of the entity that a row leads to', 3, look('mart_rows({key})/customer', rows)],
    ['with $expand of one', 3, look('mart_rows({key})?$expand=customer', rows)],
    [`in a $batch of ${BATCH}, each`, null, batchOf(rows)],
    ['of a key that no row has', null, { ...look('mart_rows(-1{key})', rows), status: 404 }],
  ]
  for (const [name, most, shape] of shapes)
    yield await shapeFigure(
      `lookup ${name} / plain`,
      most === null ? null : { at: 'most', ratio: most },
      [measuring, shape],
      [measuring, plain],
    )
  await service.stop()
  yield* workersFigure(space, plain, quick)
}

/** Asks until there are so many files: one for each in each worker. */
async function untilFiles(
  { port }: Pick<Measuring, 'port'>,
  shapes: readonly Shape[],
  files = shapes.length,
): Promise<void> {
  const headers = { Authorization: 'Bearer whole' }
  const isMade = async () => {
    for (const { request, keys } of shapes) {
      const load = { port, connections: 16, durationMs: 300, request, pipelined: 1, status: 200 }
      await measureLoad({ ...load, ...(keys === undefined ? {} : { keys }) })
    }
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
    return Number(/^eider_odata_row_files (\d+)$/m.exec(metrics)?.[1]) >= files
  }
  await until(isMade, Boolean, 600_000)
}

/** The rate is what counts, and it needs a machine with a processor for each, and for the load. */
async function* workersFigure(
  space: Workspace,
  plain: Shape,
  quick: boolean,
): AsyncGenerator<Figure, void> {
  const services = await Promise.all(
    ['1', '2'].map((workers) => space.start(['serve', '--port', '0', '--workers', workers])),
  )
  const { request, keys } = plain
  for (const [i, { url }] of services.entries())
    await untilFiles({ port: Number(new URL(url).port) }, [plain], i + 1)
  const load = {
    request,
    connections: 16,
    pipelined: 1,
    status: 200,
    durationMs: quick ? 1_000 : 4_000,
  }
  const rates = [0, 0]
  for (let round = 0; round < (quick ? 2 : 6); round++)
    for (const [i, { url }] of services.entries()) {
      const port = Number(new URL(url).port)
      const { answers, ms } = await measureLoad({ ...load, port, keys: keys! })
      rates[i] = Math.max(rates[i]!, (answers / ms) * 1000)
    }
  const [one, two] = rates as [number, number]
  yield {
    name: 'lookups of 16 connections with two workers / with one',
    ratio: two / one,
    bound: { at: 'least', ratio: 1.8 },
    measured: `best rates ${Math.round(two)} and ${Math.round(one)} a second; the load takes a processor too`,
  }
}

/** A body of the size of a page. */
const PAGE = 'mart_rows?$top=25'

/** With the access log, which is on by default. */
export async function* memoryShape(quick: boolean): AsyncGenerator<Figure, void> {
  await using space = await workspace({
    'eider.yml': 'name: bench\n',
    'models/mart/rows.sql': tableModel(1_000),
  })
  await space.ok(['run', '--quiet'])
  const service = await space.start(['serve', '--port', '0'])
  const page = await (await fetch(`${service.url}/${PAGE}`)).arrayBuffer()
  await using bare = await startBareServer(page.byteLength)
  yield await shapeFigure(
    'a page from memory with the access log: answers for the processor time of a static server',
    { at: 'least', ratio: 0.6 },
    [
      { pid: service.pid, port: Number(new URL(service.url).port), quick },
      { request: getRequest(`/odata/${PAGE}`) },
    ],
    [{ pid: bare.pid, port: bare.port, quick }, { request: getRequest('/') }],
  )
}
