// Projects with a table to serve, and the service on them.

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { limits } from '../../src/core/limits.ts'
import { parseManifest } from '../../src/core/snapshot.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { until } from '../support/until.ts'
import { getRequest, measureLoad } from './load.ts'
import type { Cost } from './served-child.ts'

/** Ten columns of the usual types, with NULLs, quotes and letters beyond ASCII; `shift` makes other rows of it. */
export const tableModel = (rows: number, shift = 0) => `-- @kind: table
-- @expose id
SELECT
  i::INTEGER AS id,
  'name ' || i + ${shift} AS name,
  CASE WHEN i % 7 = 0 THEN NULL ELSE 'note "' || (i % 1000) || '" é' END AS note,
  i * 1000003 AS big,
  (i * 7)::BIGINT AS other,
  (i / 100)::DECIMAL(18,4) AS price,
  i / 7 AS ratio,
  i % 2 = 0 AS flag,
  DATE '2020-01-01' + (i % 2000)::INTEGER AS day,
  TIMESTAMP '2020-01-01' + to_seconds(i) AS at
FROM range(${rows}) AS r(i)`

export const TABLE_FILE = 'models/mart/rows.sql'

/** A project whose one table is published as the set `mart_rows`. */
export async function publishedTable(rows: number): Promise<Workspace> {
  const space = await workspace({ 'eider.yml': 'name: bench\n', [TABLE_FILE]: tableModel(rows) })
  await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
  return space
}

export interface Served extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** What the service cost since the last call. */
  cost(): Promise<Cost>
}

interface ServedOptions {
  readonly pageSize?: number
  readonly cacheBytes?: number
}

/** The service in a process of its own, as `eider serve` starts it. */
export async function serveTable(dir: string, options: ServedOptions = {}): Promise<Served> {
  const { pageSize = limits.pageRows, cacheBytes = limits.cacheBytes } = options
  const script = fileURLToPath(new URL('./served-child.js', import.meta.url))
  const env = { ...process.env, UV_THREADPOOL_SIZE: '24' }
  const child = fork(script, [dir, String(pageSize), String(cacheBytes)], { env })
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    port: Number(new URL(url).port),
    async cost() {
      child.send('cost')
      const [cost] = (await once(child, 'message')) as [Cost]
      return cost
    },
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

/** Looks up rows, of which there are `keys`, until they come from a file. `service`: its URL. */
export async function untilRowFile(
  service: string,
  keys: number,
  set = 'mart_rows',
): Promise<void> {
  const { port, origin } = new URL(service)
  const request = getRequest(`/odata/${set}({key})`)
  const load = { connections: 16, durationMs: 500, request, keys, pipelined: 1, status: 200 }
  const isMade = async () => {
    await measureLoad({ ...load, port: Number(port) })
    const metrics = await (await fetch(`${origin}/metrics`)).text()
    return metrics.includes('\neider_odata_row_files 1\n')
  }
  await until(isMade, Boolean, 600_000)
}

export interface Download {
  readonly bytes: number
  readonly ms: number
  readonly firstByteMs: number
  /** The next link. */
  readonly next: string | undefined
}

const TAIL_BYTES = 4_096
const READ_BYTES = 1024 * 1024

/** All pages, one after the other. */
export async function downloadAll(url: string): Promise<void> {
  for (let next: string | undefined = url; next !== undefined;) next = (await download(next)).next
}

/** Of a page in JSON. */
const PAGE_END = /\](?:,"@odata\.nextLink":"([^"]*)")?\}(?:\r\n0\r\n\r\n)?$/

/**
 * One answer. Rejects when it is not whole, which `wholeEnd` tells by its end. It reads into one buffer, straight from the
 * socket: a client that does more takes longer than the service.
 */
export function download(url: string, wholeEnd: RegExp = PAGE_END): Promise<Download> {
  const { host, hostname, port, pathname, search } = new URL(url)
  const startedAt = performance.now()
  let [bytes, firstByteMs] = [0, 0]
  let head = ''
  let end = Buffer.alloc(0)
  const take = (count: number, buffer: Uint8Array): boolean => {
    const seen = Buffer.from(buffer.buffer, buffer.byteOffset, count)
    if (bytes === 0) {
      firstByteMs = performance.now() - startedAt
      head = seen.toString('latin1', 0, 15)
    }
    bytes += count
    end = Buffer.concat([end, seen.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES)
    return true
  }
  return new Promise<Download>((resolve, reject) => {
    const socket = connect({
      host: hostname,
      port: Number(port),
      onread: { buffer: Buffer.alloc(READ_BYTES), callback: take },
    })
    socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    socket.on('error', reject)
    socket.on('close', () => {
      const ms = performance.now() - startedAt
      const text = end.toString('latin1')
      const tail = wholeEnd.exec(text)
      if (head === 'HTTP/1.1 200 OK' && tail !== null)
        resolve({ bytes, firstByteMs, ms, next: tail[1] })
      else reject(new Error(`${head}: the answer ends with ${text}`))
    })
  })
}

/** The published file that has the rows of a model. */
export async function fileOf(space: Workspace, model: string): Promise<string> {
  const { relations } = parseManifest(
    await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8'),
  )
  return space.path('.eider/snapshots', relations.find((one) => one.model === model)!.file)
}
