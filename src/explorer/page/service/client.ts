// The page asks the OData service as any client does. Requests are URLs relative to the root of the service.

import { type Row, textOf, type Value } from '../model/schema.ts'

/** A failure in the service's own words, or what the browser says when there is no answer. */
export class ServiceError extends Error {
  readonly status: number
  readonly code: string
  readonly target: string | undefined

  constructor(status: number, code: string, message: string, target?: string) {
    super(message)
    this.status = status
    this.code = code
    this.target = target
  }
}

/** Something that is not what the page expects is shown like any other failure. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ServiceError(-1, 'unexpected', message)
}

/** The status of a server that did not answer at all. */
const GONE = 0
/** The status of an answer that is longer than its reader can take. */
export const TOO_LONG = -2

export interface AnswerOptions {
  readonly signal?: AbortSignal
  readonly pageSize?: number
  /** An answer that has more is given up, and fails as TOO_LONG. */
  readonly mostBytes?: number
}

/** Rows as the service sent them: Int64 and Decimal are text with all their digits. */
export interface Rows {
  readonly value: readonly Row[]
  readonly count: string | undefined
  readonly next: string | undefined
  readonly snapshot: string | undefined
}

const ACCEPT = 'application/json;odata.metadata=minimal;IEEE754Compatible=true'

export class Service {
  readonly #root: string
  readonly #fetch: typeof fetch
  readonly #onReach: (isReached: boolean) => void

  /** `root` ends with a slash. `onReach` hears after each request whether the server was there. */
  constructor(root: string, fetchOf: typeof fetch, onReach: (isReached: boolean) => void) {
    this.#root = root
    this.#fetch = fetchOf
    this.#onReach = onReach
  }

  url(request: string): string {
    return this.#root + request
  }

  async rows(request: string, options: AnswerOptions = {}): Promise<Rows> {
    const { body, response } = await this.#json(request, options)
    const next = body['@odata.nextLink']
    return {
      value: Array.isArray(body['value']) ? (body['value'] as Row[]) : [],
      count: body['@odata.count'] === undefined ? undefined : textOf(body['@odata.count']),
      next: typeof next === 'string' ? relativeTo(request, next) : undefined,
      snapshot: response.headers.get('Eider-Snapshot') ?? undefined,
    }
  }

  async object(request: string, options: AnswerOptions = {}): Promise<Row> {
    return (await this.#json(request, options)).body
  }

  /** `/$count` and `/$value`. */
  async text(request: string, options: AnswerOptions = {}): Promise<string> {
    return (await this.#get(request, 'text/plain', options)).text()
  }

  async #json(
    request: string,
    options: AnswerOptions,
  ): Promise<{ body: Record<string, Value>; response: Response }> {
    const response = await this.#get(request, ACCEPT, options)
    if (response.status === 204) return { body: {}, response }
    const text = await textOfAtMost(response, options.mostBytes ?? Infinity)
    return { body: JSON.parse(text) as Record<string, Value>, response }
  }

  async #get(request: string, accept: string, options: AnswerOptions): Promise<Response> {
    const { signal, pageSize } = options
    const headers = {
      Accept: accept,
      ...(pageSize === undefined ? {} : { Prefer: `odata.maxpagesize=${pageSize}` }),
    }
    let response
    try {
      response = await this.#fetch(this.url(request), {
        headers,
        credentials: 'same-origin',
        ...(signal === undefined ? {} : { signal }),
      })
    } catch (error) {
      // A browser tells a server that is gone by a TypeError, and a request that was given up by an AbortError.
      if (!(error instanceof TypeError)) throw error
      this.#onReach(false)
      throw new ServiceError(GONE, 'gone', 'The server does not answer.')
    }
    this.#onReach(true)
    if (!response.ok) throw await failureOf(response)
    return response
  }
}

async function textOfAtMost(response: Response, mostBytes: number): Promise<string> {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.length
    if (bytes > mostBytes) {
      await reader.cancel()
      throw new ServiceError(TOO_LONG, 'too-long', 'These values are too long.')
    }
    text += decoder.decode(value, { stream: true })
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

async function failureOf(response: Response): Promise<ServiceError> {
  const { status } = response
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error: Record<string, unknown> }
    const target = typeof error['target'] === 'string' ? error['target'] : undefined
    return new ServiceError(status, String(error['code']), String(error['message']), target)
  } catch {
    // A proxy before the service answers in its own words.
    return new ServiceError(status, 'no-odata', `${status} ${response.statusText}`.trim())
  }
}

/** A proxy may have changed the host of a next link; its query is all that is new in it. */
function relativeTo(request: string, next: string): string {
  const at = next.indexOf('?')
  const [path = ''] = request.split('?')
  return at === -1 ? path : path + next.slice(at)
}

// Tasks that may wait: so many run at a time, in the order in which they came, so that what a person waits for goes first.

export class Semaphore {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Rejects without running the task when `signal` is aborted while it waits. `next`: before all others that wait. */
  async run<T>(
    task: () => Promise<T>,
    signal: AbortSignal,
    turn: 'last' | 'next' = 'last',
  ): Promise<T> {
    if (this.#running < this.#limit) this.#running++
    else await this.#acquire(signal, turn)
    try {
      signal.throwIfAborted()
      return await task()
    } finally {
      // A place is handed on as it is, so that nobody who comes meanwhile takes it too.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  #acquire(signal: AbortSignal, turn: 'last' | 'next'): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal.reason as Error)
      }
      const enter = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      if (signal.aborted) return reject(signal.reason as Error)
      if (turn === 'next') this.#waiting.unshift(enter)
      else this.#waiting.push(enter)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}
