// The query service in the process of the test, over snapshots made by hand, and requests to it.

import { type Agent, request } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { Resources } from '../../src/core/resources.ts'
import { ODataService, type ODataServiceOptions } from '../../src/odata/service.ts'
import { fileReader } from '../../src/store/files/reader.ts'
import { publish, type Table } from './snapshot-files.ts'

export interface Served {
  readonly dir: string
  readonly url: string
  readonly log: readonly LogLine[]
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  send(options: Asked): Promise<Answer>
  readonly setTokens: ODataService['setTokens']
}

/** Of a service on a loopback address, at a port that the system chooses. */
export const usualOptions = {
  host: '127.0.0.1',
  port: 0,
  token: null,
  allowAnonymous: false,
  pageSize: 10_000,
  requestTimeoutMs: 30_000,
  maxBatchRequests: 100,
} as const

/** A service over `tables`, closed with `resources`. */
export async function serve(
  resources: Resources,
  tables: readonly Table[],
  options: Partial<ODataServiceOptions> = {},
): Promise<Served> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(dir, { recursive: true }))
  const snapshotsDir = join(dir, 'snapshots')
  if (tables.length > 0) await publish(snapshotsDir, 'first', tables)
  return serveSnapshots(resources, snapshotsDir, options)
}

/** The same, closed by who holds it: for testsSharing(). */
export async function openService(tables: readonly Table[]): Promise<Served & AsyncDisposable> {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const owned = resources.move()
  return { ...served, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

/** A service over what lies in `snapshotsDir`, closed with `resources`. */
export async function serveSnapshots(
  resources: Resources,
  snapshotsDir: string,
  options: Partial<ODataServiceOptions> = {},
): Promise<Served> {
  const log: LogLine[] = []
  const service = resources.use(
    await ODataService.open({
      published: fileReader(snapshotsDir),
      ...usualOptions,
      tempDir: join(snapshotsDir, '..', 'temp'),
      logger: createLogger((line) => log.push(line), 'debug'),
      ...options,
    }),
  )
  const { url, setTokens } = service
  return {
    dir: snapshotsDir,
    url,
    log,
    setTokens,
    get: (target, headers = {}) => ask(`${url}/${target}`, { headers }),
    send: ({ target = '', ...asked }) => ask(`${url}/${target}`, asked),
  }
}

export interface Asked {
  readonly target?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Of connections that stay; by default each request has its own. */
  readonly agent?: Agent
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly rawHeaders: readonly string[]
  readonly text: string
  readonly bytes: Buffer
  /** The connection ended before the body did. */
  readonly aborted: boolean
  /** The body as JSON. */
  // eslint-disable-next-line typescript/no-explicit-any
  readonly json: any
}

/** The path goes out as written: no client between the test and the service repairs or encodes it. */
export function ask(
  url: string,
  { method = 'GET', headers = {}, body, agent }: Asked,
): Promise<Answer> {
  const [, host, port, path] = /^http:\/\/([^/:]+):(\d+)(.*)$/s.exec(url)!
  return new Promise((resolve, reject) => {
    const options = { host, port, path, method, headers, agent: agent ?? false }
    const sent = request(options, (response) => {
      const chunks: Buffer[] = []
      const done = (aborted: boolean) => {
        const bytes = Buffer.concat(chunks)
        const text = bytes.toString('utf8')
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Answer['headers'],
          rawHeaders: response.rawHeaders,
          text,
          bytes,
          aborted,
          get json() {
            return JSON.parse(text)
          },
        })
      }
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => done(false))
      response.on('error', () => done(true))
    })
    sent.on('error', reject)
    // Node does not say how long the body of a DELETE or OPTIONS is, and the rest would be taken for another request.
    if (body !== undefined && !sent.hasHeader('Content-Length'))
      sent.setHeader('Content-Length', Buffer.byteLength(body))
    sent.end(body)
  })
}
