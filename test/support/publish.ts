// Snapshots made by hand, in the format that a run publishes, and a service that answers from them.

import { request } from 'node:http'
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { parseModelName } from '../../src/core/names.ts'
import { Resources } from '../../src/core/resources.ts'
import {
  keptManifestFile,
  MANIFEST_FILE,
  printManifest,
  type PublishedRelation,
  type Snapshot,
  SNAPSHOT_TABLE,
} from '../../src/core/snapshot.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { describe } from '../../src/duckdb/catalog.ts'
import { Database } from '../../src/duckdb/database.ts'
import { ODataService, type ODataServiceOptions } from '../../src/odata/service.ts'

export interface Table {
  readonly model: string
  readonly key?: readonly string[]
  readonly description?: string
  readonly rows: Sql
  /** A view computes its rows when it is asked, so that a query can fail. A run publishes tables only. */
  readonly isView?: boolean
}

let fileNumber = 0

/** Writes the files of `tables` and makes them the current snapshot, as one rename. */
export async function publish(dir: string, id: string, tables: readonly Table[]): Promise<void> {
  await mkdir(dir, { recursive: true })
  const relations: PublishedRelation[] = []
  for (const table of tables) relations.push(await writeTable(dir, table))
  await writeManifest(dir, { id, publishedAt: new Date(), runId: `run-of-${id}`, relations })
}

export async function writeManifest(dir: string, snapshot: Snapshot): Promise<void> {
  await writeFile(join(dir, keptManifestFile(snapshot.id)), printManifest(snapshot))
  const temporary = join(dir, 'manifest.tmp')
  await writeFile(temporary, printManifest(snapshot))
  await rename(temporary, join(dir, MANIFEST_FILE))
}

export async function writeTable(dir: string, table: Table): Promise<PublishedRelation> {
  const { model, key = [], description = null, rows, isView = false } = table
  const file = `${model}-${++fileNumber}.duckdb`
  const name = sql.ident('snapshot', 'main', SNAPSHOT_TABLE)
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  await connection.run(sql`ATTACH ${sql.value(join(dir, file))} AS snapshot`)
  await connection.run(sql`CREATE ${isView ? sql`VIEW` : sql`TABLE`} ${name} AS ${rows}`)
  const columns = await describe(connection, sql`FROM ${name}`)
  const counted = await connection.row(sql`SELECT count(*) AS n FROM ${name}`)
  await connection.run(sql`DETACH snapshot`)
  const rowCount = Number(counted!['n'])
  return {
    model: parseModelName(model)!,
    file,
    bytes: (await stat(join(dir, file))).size,
    rows: rowCount,
    key,
    description,
    columns,
  }
}

export interface Served {
  readonly dir: string
  readonly url: string
  readonly log: readonly LogLine[]
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  send(options: Asked): Promise<Answer>
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
  const log: LogLine[] = []
  const service = resources.use(
    await ODataService.open({
      snapshotsDir,
      ...usualOptions,
      tempDir: join(dir, 'temp'),
      logger: createLogger((line) => log.push(line), 'debug'),
      ...options,
    }),
  )
  const { url } = service
  return {
    dir: snapshotsDir,
    url,
    log,
    get: (target, headers = {}) => ask(`${url}/${target}`, { headers }),
    send: ({ target = '', ...asked }) => ask(`${url}/${target}`, asked),
  }
}

export interface Asked {
  readonly target?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
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
export function ask(url: string, { method = 'GET', headers = {}, body }: Asked): Promise<Answer> {
  const [, host, port, path] = /^http:\/\/([^/:]+):(\d+)(.*)$/s.exec(url)!
  return new Promise((resolve, reject) => {
    const options = { host, port, path, method, headers, agent: false }
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
