// The collect daemon: a public port that takes events in, and an admin port that hands them to runs.

import { realpath } from 'node:fs/promises'
import type { EventBuffer } from '../buffer/buffer.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { Logger } from '../core/logger.ts'
import type { EventsModel } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { Resources } from '../core/resources.ts'
import { requireSafeBinding } from '../http/auth.ts'
import { HttpServer } from '../http/server.ts'
import { createAdmin } from './admin.ts'
import { createIngest } from './ingest.ts'
import { type Doors, openDoors } from './targets.ts'

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
  readonly allowAnonymous: boolean
  readonly maxEventBytes: number
  readonly maxBatchBytes: number
  readonly logger: Logger
}

export class CollectDaemon implements AsyncDisposable {
  readonly #resources: Resources
  readonly url: string
  readonly adminUrl: string
  readonly #doors: { current: Doors }

  private constructor(
    resources: Resources,
    doors: { current: Doors },
    urls: { readonly url: string; readonly adminUrl: string },
  ) {
    this.#resources = resources
    this.#doors = doors
    this.url = urls.url
    this.adminUrl = urls.adminUrl
  }

  /** Listens on both ports. Throws EnvironmentError: `same-ports`, `port-busy`, `cannot-listen`, `open-without-token`. */
  static async open(options: CollectDaemonOptions): Promise<CollectDaemon> {
    const { buffer, host, port, adminPort, token, logger } = options
    requireSafeBinding(host, token, options.allowAnonymous)
    requireTwoPorts(port, adminPort)
    const bufferDir = await realpath(options.bufferDir)
    const doors = { current: openDoors(options.targets) }
    const current = () => doors.current
    await using resources = new Resources()
    // The admin port is open first: who sees the public one can flush.
    const admin = resources.use(
      await HttpServer.open({
        host: '127.0.0.1',
        port: adminPort,
        portFlag: '--admin-port',
        handle: createAdmin({ buffer, bufferDir, doors: current }),
        logger: logger.child({ port: 'admin' }),
      }),
    )
    const { maxEventBytes, maxBatchBytes } = options
    const ingest = resources.use(
      await HttpServer.open({
        host,
        port,
        handle: createIngest({ buffer, doors: current, token, maxEventBytes, maxBatchBytes }),
        logger: logger.child({ port: 'public' }),
      }),
    )
    const urls = { url: ingest.url, adminUrl: admin.url }
    return new CollectDaemon(resources.move(), doors, urls)
  }

  /** Takes over newly compiled events models; when one of them has a type without a rule, it throws and changes none. */
  setTargets(targets: ReadonlyMap<ModelName, EventsModel>): void {
    this.#doors.current = openDoors(targets)
  }

  /** Open requests get their answers; then both ports are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources[Symbol.asyncDispose]()
  }
}

function requireTwoPorts(port: number, adminPort: number): void {
  if (port !== adminPort || port === 0) return
  throw new EnvironmentError('same-ports', `the public and the admin port are both ${port}`, {
    hint: 'set COLLECT_ADMIN_PORT (or --admin-port) to another port than COLLECT_PORT',
  })
}
