// The OData service: what it owns while it is open.

import type { Extensions } from '../core/extensions.ts'
import { limits } from '../core/limits.ts'
import { processors } from '../core/machine.ts'
import { WHOLE } from '../access/reader.ts'
import { knownReaders, requireBound, type ServiceToken } from './http/who-asks.ts'
import type { Logger } from '../core/logger.ts'
import { makeOwnedDirectory } from '../files/owned-directory.ts'
import { Resources } from '../core/resources.ts'
import type { SnapshotReader } from '../store/snapshot-reader.ts'
import { requireSafeBinding, requireStillClosed } from '../http/auth.ts'
import { requireSoundOrigins, withCors } from '../http/cors.ts'
import { requireFreePort } from '../http/listen.ts'
import { knownHeads } from '../http/known-heads/known-heads.ts'
import { noRepeats } from '../http/repeats.ts'
import { HttpServer } from '../http/server.ts'
import type { AskedService, SideDoor } from '../http/side-door.ts'
import type { SidePages } from '../http/side-pages.ts'
import { AnswerCache } from './http/answer-cache.ts'
import { type Answers, madeAnswers } from './http/answers.ts'
import { askWithin } from './answer/ask-within.ts'
import { Comparisons } from './engine/comparisons.ts'
import { createHandler } from './http/handle.ts'
import { unreadHeaders } from '../http/unread-headers.ts'
import { KnownLookups } from './http/known-lookups.ts'
import { AnswerFiles } from './engine/answer-files.ts'
import { RowFiles, type RowFilesOptions } from './engine/rows/row-files.ts'
import { leftToEngine, type RowsByKey } from './engine/rows-by-key.ts'
import { createSpooledBodies } from './engine/spooled-bodies.ts'
import { createLinkSigner, type LinkSigner, openLinkSigner } from './protocol/link-signature.ts'
import type { EngineOptions } from './engine/snapshot-engines.ts'
import { createAdmission, admissionLimits, createOpenStreams } from './engine/admission.ts'
import { ROOT_PATH } from './protocol/service-root.ts'
import { alone, type Fellows } from './engine/fellows.ts'
import { Freshness } from './engine/freshness.ts'
import { openGeo } from './engine/geo-support.ts'
import { UnbuiltSets } from './engine/unbuilt-sets.ts'
import { Snapshots } from './engine/current-snapshot.ts'
import { odataMetrics, odataTraffic } from './http/metrics.ts'
import { type Conventions, usualConventions } from './protocol/conventions.ts'

const CORS = {
  methods: 'GET, HEAD, POST',
  allowedHeaders:
    'Accept, Accept-Language, Authorization, Content-Type, If-None-Match, If-Range, OData-MaxVersion, OData-Version, Prefer, Range, X-CSRF-Token',
  exposedHeaders:
    'Accept-Ranges, Content-Range, Eider-Snapshot, ETag, Link, OData-Version, Preference-Applied, Retry-After',
}

/** With what a page that speaks the Model Context Protocol sends. */
const CORS_WITH_DOOR = {
  ...CORS,
  allowedHeaders: `${CORS.allowedHeaders}, MCP-Protocol-Version`,
}

export interface ODataServiceOptions {
  readonly published: SnapshotReader
  readonly host: string
  /** 0 takes a free port. */
  readonly port: number
  readonly token: string | null
  /** Tokens that have names, with the rights of each. */
  readonly tokens?: readonly ServiceToken[]
  readonly allowAnonymous: boolean
  /** Rows of a page that the client did not ask to be smaller or larger. */
  readonly pageSize: number
  readonly requestTimeoutMs: number
  readonly maxBatchRequests: number
  /** Origins of web pages that may read; `*` for any. */
  readonly corsOrigins?: readonly string[]
  readonly conventions?: Omit<Conventions, 'geo'>
  /** Those of the project, of which spatial alone is loaded; none when absent. */
  readonly extensions?: Extensions | undefined
  /** Threads that work on one query. With one, many small queries at once are twice as fast as with two. */
  readonly threads?: number
  /** Memory of the engines of the snapshots that are open, such as 2GB. */
  readonly memoryLimit?: string | null
  /** The file of the secret by which links are known; without one they end with the service. */
  readonly linkSecretPath?: string
  /** 64 hexadecimal digits, instead of that file. */
  readonly linkSecret?: string | null
  /** Whether URLs in answers follow Forwarded and X-Forwarded-* headers. */
  readonly trustProxy?: boolean
  /** Memory of the answer cache; limits.cacheBytes by default, 0 for none. */
  readonly cacheBytes?: number
  /** Large answers that are open at once; limits.openStreams by default. */
  readonly openStreams?: number
  /** Time in which a client must take a byte of its answer; limits.stalledClientMs by default. */
  readonly stalledClientMs?: number
  /** When rows are kept in files for lookups, and how many in all processes; those of limits by default. */
  readonly rowFiles?: RowFilesOptions['bounds']
  /** What people see who open the service in a browser; nothing by default. */
  readonly pages?: SidePages | null
  /** Another protocol for the same answers; nothing by default. */
  readonly door?: SideDoor | null
  /** Log each request; true by default. */
  readonly accessLog?: boolean
  /** Below it the service creates its own directory, where large queries spill to. */
  readonly tempDir: string
  readonly logger: Logger
  /** Other processes that answer on the same port, with which this one shares its limits; none by default. */
  readonly fellows?: Fellows
  /** How many processes there are, this one included. */
  readonly processes?: number
  readonly now?: () => Date
}

const DEFAULTS = {
  trustProxy: false,
  now: () => new Date(),
  pages: null,
  door: null,
  accessLog: true,
  stalledClientMs: limits.stalledClientMs,
  fellows: alone,
}

export class ODataService implements AsyncDisposable {
  /** The service root, without a slash at its end. */
  readonly url: string
  /**
   * Takes over changed tokens, for requests from now on. Changes nothing and throws for row filters that do not fit, and
   * when none would be left.
   */
  readonly setTokens: (tokens: readonly ServiceToken[]) => Promise<void>
  readonly #resources: Resources

  private constructor(url: string, resources: Resources, setTokens: ODataService['setTokens']) {
    this.url = url
    this.#resources = resources
    this.setTokens = setTokens
  }

  /**
   * Opens the published snapshot and listens. Queries work in Node's thread pool: the process should be started with
   * UV_THREADPOOL_SIZE above limits.runningQueries, or file access and name lookups wait for them.
   * Throws EnvironmentError for a port that is busy, or open to other machines without a token.
   */
  static async open(options: ODataServiceOptions): Promise<ODataService> {
    const { published, host, port, token, logger, corsOrigins = [], processes = 1 } = options
    requireSafeOptions(options)
    await using resources = new Resources()
    const service = await openSnapshots(options, resources)
    const { snapshots } = service
    const tokens = options.tokens ?? []
    await requireBound(snapshots, tokens)
    let known = knownReaders(token, tokens)
    const setTokens = async (changed: readonly ServiceToken[]) => {
      await requireBound(snapshots, changed)
      const next = knownReaders(token, changed)
      requireStillClosed(known.accepted, next.accepted, 'odata.tokens')
      known = next
    }
    const traffic = odataTraffic()
    const freshness = new Freshness(published)
    let repeats = noRepeats
    repeats = knownHeads(unreadHeaders)
    const context = { ...service, traffic, freshness, known: () => known, repeats }
    const metrics = () => odataMetrics(context)
    service.fellows.join({ metrics, look: () => void snapshots.check() })
    const cors = options.door == null ? CORS : CORS_WITH_DOOR
    const handle = withCors({ ...cors, origins: corsOrigins }, createHandler(context))
    const errorHeaders = { 'OData-Version': '4.01' }
    const onRefusal = (_status: number, code: string) => traffic.refuse(code)
    const serving = { host, port, logger, handle, errorHeaders, onRefusal, processes, repeats }
    const server = resources.use(await HttpServer.open(serving))
    return new ODataService(server.url + ROOT_PATH, resources.move(), setTokens)
  }

  /** Finishes open requests first. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }
}

/** A service that no port leads to, for its own process, which sees everything. */
export async function openWithin(
  options: ODataServiceOptions,
  { root, gone }: Pick<AskedService, 'root' | 'gone'>,
): Promise<AskedService & AsyncDisposable> {
  requireOwnFiles(options)
  await using resources = new Resources()
  const service = await openSnapshots(options, resources)
  const asked = askWithin(service, { root, gone, onRows: () => {} })
  const owned = resources.move()
  return { ...asked, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() }
}

async function openSnapshots(options: ODataServiceOptions, resources: Resources) {
  const { published, threads = 1, memoryLimit: all = null, processes = 1, logger } = options
  const { fellows = alone } = options
  const tempDir = await ownTempDir(options, resources)
  const { geo, extensions } = await openGeo(options.extensions, logger)
  const memory = memoryOfEach(all, processes, Math.floor(processors() / processes))
  const engine = { published, threads, ...memory, tempDir, extensions }
  const snapshots = resources.use(await Snapshots.open({ ...engine, logger, fellows }))
  return {
    ...DEFAULTS,
    ...options,
    conventions: { ...(options.conventions ?? usualConventions), geo },
    snapshots,
    ...openAnswers(options, engine, snapshots, resources),
    links: await signerOf(options),
    unbuilt: new UnbuiltSets(published),
    maxPageSize: limits.largestPageRows,
    reader: WHOLE,
  }
}

/** What makes answers, and what makes them sooner. */
function openAnswers(
  options: ODataServiceOptions,
  engine: EngineOptions,
  snapshots: Snapshots,
  resources: Resources,
) {
  const { requestTimeoutMs: timeLimitMs, logger, rowFiles = {}, processes = 1 } = options
  const { rowFileRows, rowFilesBytes } = limits
  const share = (all: number) => Math.ceil(all / processes)
  const bounds = {
    ...rowFiles,
    rows: share(rowFiles.rows ?? rowFileRows),
    bytes: share(rowFiles.bytes ?? rowFilesBytes),
  }
  const admission = createAdmission(admissionLimits(processors(), processes))
  const makers = { ...engine, admission, timeLimitMs }
  const currentId = () => snapshots.currentId
  let rowsByKey: RowsByKey = leftToEngine
  rowsByKey = resources.use(new RowFiles({ ...makers, snapshots, logger, bounds }))
  let answers: Answers = madeAnswers
  answers = new AnswerCache(answers, share(options.cacheBytes ?? limits.cacheBytes))
  answers = new KnownLookups(answers)
  return {
    comparisons: resources.use(new Comparisons(engine, undefined, processes)),
    spooledBodies: createSpooledBodies(engine.tempDir, share(limits.spooledBytes)),
    admission,
    streams: createOpenStreams(share(options.openStreams ?? limits.openStreams)),
    answerFiles: resources.use(new AnswerFiles({ ...makers, currentId })),
    rowsByKey,
    answers,
  }
}

/**
 * Throws what ODataService.open() would throw for the options and the port, so that nothing is built for a service that
 * cannot begin.
 */
export async function requireOpenable(options: ODataServiceOptions): Promise<void> {
  requireSafeOptions(options)
  await requireFreePort(options)
}

function requireSafeOptions(options: ODataServiceOptions): void {
  const { host, token, allowAnonymous, corsOrigins = [] } = options
  requireOwnFiles(options)
  const secured = token ?? options.tokens?.[0]?.token.hash ?? null
  requireSafeBinding(host, secured, allowAnonymous)
  requireSoundOrigins('odata.cors_origins', corsOrigins, secured)
}

/** Callers are strangers: what DuckDB could reach besides its files, a query might reach. */
function requireOwnFiles({ published }: ODataServiceOptions): void {
  if (!published.rows.ownFilesOnly)
    throw new Error('a service only serves rows that it reads from its own files')
}

/**
 * Of the memory of the service in `processes`: what each engine of a snapshot that is open may take. They have equal parts,
 * since the current one is soon an earlier one. What threads have that share a query comes on top of it.
 */
export function memoryOfEach(memoryLimit: string | null, processes = 1, sharingThreads = 1) {
  const part = (share: number) => {
    const partOf = (number: string) =>
      String((Number(number) * share) / (processes * (1 + limits.openEarlierSnapshots)))
    return memoryLimit?.replace(/^[\d.]+/, partOf) ?? null
  }
  const shared = { threads: sharingThreads, memoryLimit: part(limits.sharedQueryMemory) }
  return { memoryLimit: part(1), sharing: sharingThreads > 1 ? shared : null }
}

/** The next service deletes what a killed one has spilled. */
async function ownTempDir({ tempDir, logger }: ODataServiceOptions, resources: Resources) {
  try {
    return resources.use(await makeOwnedDirectory(tempDir, 'service-')).path
  } catch (error) {
    // It still answers what needs no room on disk.
    logger.warn('temp-dir-unwritable', { path: tempDir, error })
    return tempDir
  }
}

/** Services with one secret take each other's links. */
async function signerOf({
  linkSecret = null,
  linkSecretPath,
  logger,
}: ODataServiceOptions): Promise<LinkSigner> {
  if (linkSecret !== null) return createLinkSigner(Buffer.from(linkSecret, 'hex'))
  return linkSecretPath === undefined ? createLinkSigner() : openLinkSigner(linkSecretPath, logger)
}
