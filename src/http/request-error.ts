// What an HTTP caller did wrong, or what we cannot do for it now. Each service keeps one table of codes.

export interface RequestErrorOptions {
  /** The part of the request at fault: a query option, a field, a header. */
  readonly target?: string
  readonly details?: readonly RequestErrorDetail[]
  readonly headers?: RequestErrorHeaders
  readonly cause?: unknown
}

/** A header with several values is sent as so many lines. */
export type RequestErrorHeaders = Readonly<Record<string, string | string[]>>

interface RequestErrorDetail {
  readonly code: string
  readonly message: string
  readonly target?: string
}

/** Answered with `status` and the body `{"error":{"code","message","target"?,"details"?}}`. Callers see `message`. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly status: number
  readonly code: string
  readonly target: string | undefined
  readonly details: readonly RequestErrorDetail[] | undefined
  readonly headers: RequestErrorHeaders

  constructor(status: number, code: string, message: string, options: RequestErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.status = status
    this.code = code
    this.target = options.target
    this.details = options.details
    this.headers = options.headers ?? {}
  }
}

export function errorBody(error: RequestError): string {
  const { code, message, target, details } = error
  return JSON.stringify({ error: { code, message, target, details } })
}
