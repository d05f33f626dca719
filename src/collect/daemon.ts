// The collect daemon: a public port that takes events in, and an admin port that hands them to runs.

import { realpath } from 'node:fs/promises'
import type { EventBuffer } from '../buffer/buffer.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import type { EventsModel } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { Resources } from '../core/resources.ts'
import { withAccessLog } from '../http/access-log.ts'
import { requireSafeBinding, requireStillClosed } from '../http/auth.ts'
import { originHeaders, requireSoundOrigins, withCors } from '../http/cors.ts'
import { fastFront } from '../http/fast/post-front.ts'
import type { FrontRoutes } from '../http/head.ts'
import { HttpServer, type ServerOptions } from '../http/server.ts'
import { createAdmin } from './admin/admin.ts'
import type { LastRun, Vitals } from './backlog.ts'
import { publicHealth } from './health.ts'
import { changingHeaders, createIngest, createRoutes, type IngestOptions } from './ingest.ts'
import { BatchReaders } from './read/batch-readers.ts'
import { closedTargets, type Senders } from './senders.ts'
import { type ModelsState, createValidators, type Served } from './targets.ts'
import { createTraffic } from './traffic.ts'

export interface CollectDaemonOptions {
  /** Stays with the caller, who closes it after the daemon. */
  readonly buffer: EventBuffer
  /** Directory of the buffer; tells a run whether this is the daemon of its project. */
  readonly bufferDir: string
  readonly targets: ReadonlyMap<ModelName, EventsModel>
  readonly host: string
  /** 0 takes a free port, for each of the two. */
  readonly port: number
  readonly adminPort: number
  readonly token: string | null
  /** Tokens that have names, and services that sign their requests; none by default. */
  readonly named?: Senders['named']
  readonly signed?: Senders['signed']
  readonly allowAnonymous: boolean
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
  /** Origins of web pages that may send events; `*` for any. None by default. */
  readonly corsOrigins?: readonly string[]
  /** Take text/plain for JSON: navigator.sendBeacon sends a string that way. */
  readonly acceptTextPlain?: boolean
  readonly accessLog?: boolean
  readonly logger: Logger
  /** How the last run of `eider up` went; null, as without it: there is none. */
  readonly lastRun?: () => Promise<LastRun | null>
}

export class CollectDaemon implements AsyncDisposable {
  readonly #resources: Resources
  readonly url: string
  readonly adminUrl: string
  readonly #served: Served

  private constructor(
    resources: Resources,
    served: Served,
    urls: { readonly url: string; readonly adminUrl: string },
  ) {
    this.#resources = resources
    this.#served = served
    this.url = urls.url
    this.adminUrl = urls.adminUrl
  }

  /**
   * Listens on both ports. Throws EnvironmentError: `same-ports`, `port-busy`, `cannot-listen`, `open-without-token`;
   * UsageError for origins.
   */
  static async open(options: CollectDaemonOptions): Promise<CollectDaemon> {
    const { buffer, host, port, adminPort, token, named = [], signed = [], logger } = options
    const secured = token ?? named[0]?.hash ?? null
    requireSafeBinding(host, secured, options.allowAnonymous)
    requireTwoPorts(port, adminPort)
    requireSoundOrigins('collect.cors_origins', options.corsOrigins ?? [], secured)
    const bufferDir = await realpath(options.bufferDir)
    const served: Served = {
      validators: createValidators(options.targets),
      models: { models: 'current' },
      senders: { token, named, signed },
    }
    const traffic = createTraffic()
    buffer.onCommit(traffic.committed)
    const { lastRun = () => Promise.resolve(null) } = options
    const vitals = { buffer, bufferDir, served, traffic, lastRun }
    await using resources = new Resources()
    const readers = resources.use(new BatchReaders())
    // The admin port opens first: who sees the public one can flush.
    const admin = resources.use(
      await HttpServer.open({
        host: '127.0.0.1',
        port: adminPort,
        portFlag: '--admin-port',
        handle: createAdmin(vitals),
        logger: logger.child({ port: 'admin' }),
      }),
    )
    const ingest = resources.use(
      await HttpServer.open({
        host,
        port,
        ...publicPort(options, vitals, readers),
        onRefusal: traffic.refused,
        logger: logger.child({ port: 'public' }),
      }),
    )
    const urls = { url: ingest.url, adminUrl: admin.url }
    return new CollectDaemon(resources.move(), served, urls)
  }

  /**
   * Takes over newly compiled events models, and who may send events to them; changes nothing when one of them has a type
   * without a rule, or the last token is gone: it throws. Returns the targets that have lost what protected them: nobody
   * can send to them until the daemon starts again, because everybody could.
   */
  setTargets(
    targets: ReadonlyMap<ModelName, EventsModel>,
    more: Partial<Pick<Senders, 'named' | 'signed'>> = {},
  ): readonly string[] {
    const validators = createValidators(targets)
    const before = this.#served.senders
    const changed = { ...before, ...more }
    const closed = closedTargets(before, changed)
    const senders = { ...changed, signed: [...changed.signed, ...closed] }
    requireStillClosed(before, senders, 'collect.tokens')
    this.#served.validators = validators
    this.#served.senders = senders
    this.#served.models = { models: 'current' }
    return closed
      .map(({ target }) => target)
      .filter((target) =>
        before.signed.some((one) => one.target === target && one.secrets.length > 0),
      )
  }

  /** The models on disk cannot be taken over: the last good ones stay, and health says since when. */
  keepTargets(): void {
    if (this.#served.models.models === 'stale') return
    this.#served.models = { models: 'stale', stale_since: new Date().toISOString() }
  }

  /** Whether the models on disk are the ones that are served. */
  get models(): ModelsState {
    return this.#served.models
  }

  /** Open requests get their answers; then both ports are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }
}

const CORS = {
  methods: 'GET, POST',
  allowedHeaders: 'Authorization, Content-Type, Content-Encoding, Idempotency-Key',
}

function publicPort(
  options: CollectDaemonOptions,
  vitals: Vitals,
  readers: BatchReaders,
): Pick<ServerOptions, 'handle' | 'front' | 'errorHeaders'> {
  const { buffer, maxEventBytes, maxBatchBytes, logger, corsOrigins = [] } = options
  const ingest: IngestOptions = {
    buffer,
    readers,
    validators: () => vitals.served.validators,
    health: publicHealth(vitals),
    host: options.host,
    allowedOrigins: corsOrigins,
    senders: () => vitals.served.senders,
    maxEventBytes,
    maxBatchBytes,
    acceptTextPlain: options.acceptTextPlain ?? false,
  }
  const handle = withCors({ ...CORS, origins: corsOrigins }, createIngest(ingest))
  const errorHeaders = originHeaders(corsOrigins)
  // Each request is logged, and only node:http's requests have what the line needs.
  if (options.accessLog === true) return { handle: withAccessLog(logger, handle), errorHeaders }
  const routes: FrontRoutes = {
    routeOf: createRoutes(ingest),
    changing: changingHeaders,
    status: 202,
    answerHeaders: errorHeaders,
  }
  return {
    handle,
    errorHeaders,
    front: fastFront(routes),
  }
}

function requireTwoPorts(port: number, adminPort: number): void {
  if (port !== adminPort || port === 0) return
  throw new EnvironmentError('same-ports', `the public and the admin port are both ${port}`, {
    hint: 'set COLLECT_ADMIN_PORT (or --admin-port) to another port than COLLECT_PORT',
  })
}
