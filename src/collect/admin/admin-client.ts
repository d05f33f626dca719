// The buffer of a running daemon, over its admin port. Claims come as paths of files: the events themselves stay on disk.

import { realpath } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { type Claim, type ClaimSource, locationOf } from '../../buffer/claim-source.ts'
import { damagedEvents } from '../../buffer/damaged.ts'
import { BufferUnavailableError, ClaimTargetError, UnknownClaimError } from '../../buffer/errors.ts'
import { realFiles } from '../../buffer/files.ts'
import { isIntact } from '../../buffer/intact.ts'
import { EnvironmentError } from '../../core/failures.ts'
import { limits } from '../../core/limits.ts'
import type { Logger } from '../../core/logger.ts'
import type { ModelName } from '../../core/names.ts'
import type { DamagedEvents } from '../../core/report/damaged-events.ts'
import {
  type AdminHealth,
  type ClaimBody,
  flushPath,
  type InflightBody,
  SERVICE,
  type TargetsBody,
} from './admin-protocol.ts'

interface AdminClientOptions {
  readonly port: number
  /** Directory of the buffer that the daemon must own. */
  readonly bufferDir: string
  readonly logger: Logger
  /** Time that one request may take; limits.adminTimeoutMs by default. */
  readonly timeoutMs?: number
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

export class AdminClient implements ClaimSource {
  readonly #options: AdminClientOptions
  /** Why it gets no more requests: those after an unanswered one would wait as long, under the lock of the run. */
  #silence: EnvironmentError | null = null

  private constructor(options: AdminClientOptions) {
    this.#options = options
  }

  /**
   * null when nobody listens on the port. Throws EnvironmentError `daemon-silent` when it does not answer in time,
   * `not-a-daemon` when the listener is another program, `daemon-of-another-project` when it owns another buffer,
   * `buffer-unusable` when the project has no buffer any more.
   */
  static async connect(options: AdminClientOptions): Promise<AdminClient | null> {
    const client = new AdminClient(options)
    try {
      await client.#requireOwnDaemon()
    } catch (error) {
      if (causeCode(error) === 'ECONNREFUSED') return null
      if (causeCode(error).startsWith('HPE_')) throw notADaemon(options.port)
      throw error
    }
    options.logger.debug('daemon-found', { port: options.port })
    return client
  }

  async targets(): Promise<readonly ModelName[]> {
    const targets = await this.backlog()
    return targets.filter(({ events }) => events > 0).map(({ target }) => target)
  }

  /** What waits, by target, with those of which nothing does. */
  async backlog(): Promise<TargetsBody['targets']> {
    return ((await this.#ask('GET', '/flush')) as TargetsBody).targets
  }

  /** Empty also for a target that the daemon does not know (yet). */
  async inflight(target: ModelName): Promise<readonly Claim[]> {
    const body = await this.#askFlush('GET', target, 'inflight')
    return body === null ? [] : (body as InflightBody).claims.map(toClaim)
  }

  /** null also for a target that the daemon does not know (yet). */
  async claim(target: ModelName): Promise<Claim | null> {
    const body = await this.#askFlush('POST', target, 'claim')
    if (body === null || (body as { claim_id: unknown }).claim_id === null) return null
    return toClaim(body as ClaimBody)
  }

  /** Read here, so that the daemon has nothing to do with a segment that is as it was written. */
  async verify(claim: Claim): Promise<Claim | null> {
    const written = { sizeBytes: claim.bytes, events: claim.events }
    if (await isIntact(realFiles, locationOf(claim), written)) return claim
    const body = (await this.#settle('repair', claim)) as ClaimBody | { readonly claim_id: null }
    return body.claim_id === null ? null : toClaim(body)
  }

  damaged(): Promise<readonly DamagedEvents[]> {
    return damagedEvents(this.#options.bufferDir)
  }

  async ack(claim: Pick<Claim, 'id' | 'target'>): Promise<number> {
    return ((await this.#settle('ack', claim)) as { removed: number }).removed
  }

  async nack(claim: Pick<Claim, 'id' | 'target'>): Promise<number> {
    return ((await this.#settle('nack', claim)) as { returned: number }).returned
  }

  /** Nothing is kept open between two requests: the daemon may restart at any time. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async #requireOwnDaemon(): Promise<void> {
    const { port, bufferDir } = this.#options
    const { body } = await this.#send('GET', '/health')
    const health = (typeof body === 'object' ? body : null) as Partial<AdminHealth> | null
    if (health?.service !== SERVICE) throw notADaemon(port)
    if (health.buffer === (await realpath(bufferDir).catch(bufferGone))) return
    throw new EnvironmentError(
      'daemon-of-another-project',
      `the daemon on admin port ${port} collects into ${health.buffer}, not for this project`,
      { hint: 'give each project its own COLLECT_PORT' },
    )
  }

  /** null when the daemon does not know the target. */
  async #askFlush(method: string, target: ModelName, action: string): Promise<unknown> {
    const answer = await this.#send(method, flushPath(target, action))
    if (answer.status === 404 && errorCode(answer) === 'unknown-target') return null
    return this.#requireOk(answer)
  }

  async #settle(
    action: 'ack' | 'nack' | 'repair',
    { id, target }: Pick<Claim, 'id' | 'target'>,
  ): Promise<unknown> {
    const answer = await this.#send('POST', flushPath(target, action), { claim_id: id })
    const code = errorCode(answer)
    if (code === 'unknown-claim' || code === 'unknown-target') throw new UnknownClaimError(id)
    if (code === 'claim-of-another-target') throw new ClaimTargetError(id, target)
    return this.#requireOk(answer)
  }

  async #ask(method: string, path: string): Promise<unknown> {
    return this.#requireOk(await this.#send(method, path))
  }

  #requireOk(answer: Answer): unknown {
    if (answer.status === 200) return answer.body
    const body = answer.body as { error?: { message?: string } } | undefined
    const message = body?.error?.message ?? `status ${answer.status}`
    if (answer.status === 503) throw new BufferUnavailableError(`the daemon says: ${message}`)
    throw new EnvironmentError('daemon-failed', `the daemon refused the flush: ${message}`)
  }

  #send(method: string, path: string, body?: unknown): Promise<Answer> {
    const { port, timeoutMs = limits.adminTimeoutMs } = this.#options
    if (this.#silence !== null) return Promise.reject(this.#silence)
    const text = body === undefined ? '' : JSON.stringify(body)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    }
    return new Promise<Answer>((resolve, reject) => {
      const fail = (cause: Error) => {
        const error = failure(cause, port, timeoutMs)
        if (error.code === 'daemon-silent') this.#silence = error
        reject(error)
      }
      const signal = AbortSignal.timeout(timeoutMs)
      const options = { host: '127.0.0.1', port, method, path, headers, agent: false, signal }
      const request = httpRequest(options, (response) => {
        const status = response.statusCode!
        textOf(response).then((answer) => resolve({ status, body: parse(answer) }), fail)
      })
      request.on('error', fail)
      request.end(text)
    })
  }
}

function failure(cause: Error, port: number, timeoutMs: number): EnvironmentError {
  const isSilent = cause.name === 'AbortError' || cause.name === 'TimeoutError'
  const daemon = `the daemon on admin port ${port}`
  if (!isSilent)
    return new EnvironmentError('daemon-gone', `${daemon} cannot be reached: ${cause.message}`, {
      cause,
    })
  const message = `${daemon} has not answered for ${timeoutMs / 1000} s`
  const hint = 'stop the daemon; a run reads the buffer directly when no daemon is running'
  return new EnvironmentError('daemon-silent', message, { hint, cause })
}

function bufferGone(cause: Error): never {
  throw new EnvironmentError('buffer-unusable', `the event buffer is gone: ${cause.message}`, {
    hint: 'restart the daemon, which creates a new one; its events are lost unless it is restored',
    cause,
  })
}

function notADaemon(port: number): EnvironmentError {
  return new EnvironmentError(
    'not-a-daemon',
    `what listens on 127.0.0.1:${port} is not the admin port of a collect daemon`,
    { hint: 'set COLLECT_ADMIN_PORT to the admin port that the daemon was started with' },
  )
}

/** The code of the system or of the HTTP parser for a failed request; empty for other errors. */
function causeCode(error: unknown): string {
  const cause = error instanceof EnvironmentError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** Undefined for a body that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function errorCode({ status, body }: Answer): string | undefined {
  if (status === 200) return undefined
  return (body as { error?: { code?: string } } | undefined)?.error?.code
}

function toClaim(body: ClaimBody): Claim {
  return {
    id: body.claim_id,
    collector: body.collector,
    target: body.target,
    segment: Number(body.claim_id.slice(body.claim_id.lastIndexOf('/') + 1)),
    opening: body.opening,
    oldestSegment: body.oldest_segment,
    events: body.events,
    bytes: body.bytes,
    url: pathToFileURL(body.path).href,
    firstSeq: body.first_seq,
    lastSeq: body.last_seq,
    newest: body.newest,
  }
}
