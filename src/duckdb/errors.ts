// Errors of DuckDB as data. Every database is opened with `errors_as_json`.

import { hide, type HiddenValue } from '../core/hidden.ts'

export interface DatabaseErrorDetails {
  /** Parser, Binder, Catalog, Conversion, Constraint, IO, Out of Memory, Interrupt, … */
  readonly type: string
  readonly subtype: string | null
  /** DuckDB's words, without the JSON around them. Never shown to an HTTP client. */
  readonly message: string
  readonly name: string | null
  readonly candidates: readonly string[]
  /** Offset into the statement: bytes, except for parser errors, which count characters. */
  readonly position: number | null
  /** What an HTTP server said that refused a request. */
  readonly answer?: string | undefined
}

export class DatabaseError extends Error {
  override name = 'DatabaseError'
  readonly details: DatabaseErrorDetails
  constructor(details: DatabaseErrorDetails, cause: unknown) {
    super(details.message, { cause })
    this.details = details
  }
}

/**
 * What `work` gives, or what `instead` makes of an error of DuckDB; it throws all others, and what says nothing of the
 * statement: that it was interrupted, or that the transaction around it has failed already.
 */
export const ifRefused = <T, U>(
  work: Promise<T>,
  instead: (error: DatabaseError) => U | Promise<U>,
): Promise<T | U> =>
  work.catch((error: unknown) => {
    if (!(error instanceof DatabaseError) || isUnasked(error)) throw error
    return instead(error)
  })

/** Why DuckDB refuses it; null: it does not. */
export const refusalOf = (work: Promise<unknown>): Promise<DatabaseError | null> =>
  ifRefused(
    work.then(() => null),
    (error) => error,
  )

/** A COMMIT that conflicts has an error of the same type as what comes after a failure. */
const isUnasked = ({ details: { type, message } }: DatabaseError): boolean =>
  type === 'INTERRUPT' ||
  (type === 'TransactionContext' && message.includes('Current transaction is aborted'))

/** The statement was ended by `Connection.interrupt()`. */
export const isInterrupt = (error: unknown): boolean =>
  error instanceof DatabaseError && error.details.type === 'INTERRUPT'

/**
 * Another process has changed in a lake what this transaction changes or relies on. Nothing of the transaction is done,
 * and it may be tried again.
 */
export const isConflict = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  /Transaction conflict - |could not serialize access due to concurrent update/.test(
    error.details.message,
  )

/**
 * After such an error the engine refuses everything, a ROLLBACK too. One of another connection of the engine's own may be
 * quoted in the message.
 */
export const isFatal = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  (['FATAL', 'INTERNAL'].includes(error.details.type) ||
    /exception_type\\*":\\*"(?:FATAL|INTERNAL)\\*"/.test(error.details.message))

/** Whether a COMMIT in a lake that ended so may have been carried out: its answer may have been lost. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  !isConflict(error) &&
  /Failed to commit|Failed to execute query "COMMIT|server closed the connection|no connection to the server|could not receive data from server|SSL connection has been closed|terminating connection/.test(
    error.details.message,
  )

export function toDatabaseError(cause: unknown): DatabaseError {
  const message = cause instanceof Error ? cause.message : String(cause)
  return new DatabaseError(parseDetails(message), cause)
}

/** What one engine knows of its errors, beyond what they say. */
export class ErrorWords {
  readonly #hidden: HiddenValue[] = []
  readonly #explanations: ((message: string) => string | null)[] = []

  hide(values: readonly HiddenValue[]): void {
    this.#hidden.push(...values)
  }

  explain(explain: (message: string) => string | null): void {
    this.#explanations.push(explain)
  }

  /** The error of the driver repeats what is hidden, so it is not the cause. null: there is nothing to add. */
  reword(error: unknown): DatabaseError | null {
    if (this.#hidden.length === 0 && this.#explanations.length === 0) return null
    const { details } = toDatabaseError(error)
    for (const explain of this.#explanations) {
      const message = explain(details.message)
      if (message !== null)
        return new DatabaseError({ ...details, message: hide(message, this.#hidden) }, undefined)
    }
    return new DatabaseError(
      { ...details, message: hide(details.message, this.#hidden) },
      undefined,
    )
  }
}

const plainDetails = (type: string, message: string): DatabaseErrorDetails => ({
  type,
  subtype: null,
  message,
  name: null,
  candidates: [],
  position: null,
})

/** One that DuckDB does not throw itself. */
export const ownError = (type: string, message: string): DatabaseError =>
  new DatabaseError(plainDetails(type, message), null)

function parseDetails(message: string): DatabaseErrorDetails {
  const plain = plainDetails('Unknown', message)
  const start = message.indexOf('{"exception_type"')
  if (start < 0) return { ...plain, type: /^(\w[\w ]*?) Error: /.exec(message)?.[1] ?? plain.type }
  let parsed: Readonly<Record<string, string>>
  try {
    parsed = JSON.parse(message.slice(start)) as typeof parsed
  } catch {
    return plain
  }
  const position = Number(parsed['position'])
  return {
    type: parsed['exception_type'] ?? plain.type,
    subtype: parsed['error_subtype'] ?? null,
    message: parsed['exception_message'] ?? message,
    name: parsed['name'] ?? null,
    candidates: parsed['candidates']?.split(',').map((candidate) => candidate.trim()) ?? [],
    position: Number.isFinite(position) ? position : null,
    answer: parsed['response_body'],
  }
}

/** Errors that repeat values, names or the statement: a caller's text in them says nothing of a file. */
const ABOUT_TEXT: ReadonlySet<string> = new Set([
  'Binder',
  'Catalog',
  'Conversion',
  'Invalid Input',
  'Out of Range',
  'Parser',
])

/** Whether DuckDB says that a file is not what it wrote, or that the disk does not give it back. */
export const isDamage = (error: unknown): boolean =>
  error instanceof DatabaseError &&
  !ABOUT_TEXT.has(error.details.type) &&
  /Corrupt database file|Could not read|not a valid DuckDB database file/.test(
    error.details.message,
  )
