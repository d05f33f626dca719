// Rejections of the buffer, as types that a caller can answer: the first two become 503, the others 400 and 404.

import { EnvironmentError } from '../core/failures.ts'
import { hintOfSystem, isQuota, problemOfSystem } from '../files/system-errors.ts'

/** The disk did not accept the events: full, read-only or failing. None of them will ever be delivered. */
export class BufferUnavailableError extends EnvironmentError {
  override name = 'BufferUnavailableError'
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('buffer-unavailable', message, options)
  }
}

/** A size limit of the buffer is reached: too much waits for the disk, or too much waits for a run. */
export class BufferFullError extends Error {
  override name = 'BufferFullError'
}

/** The id names no segment that was ever handed out. */
export class UnknownClaimError extends Error {
  override name = 'UnknownClaimError'
  constructor(id: string) {
    super(`unknown claim ${JSON.stringify(id)}`)
  }
}

/** The id belongs to another target than the one it was sent to. */
export class ClaimTargetError extends Error {
  override name = 'ClaimTargetError'
  constructor(id: string, target: string) {
    super(`claim ${JSON.stringify(id)} is not a claim of ${target}`)
  }
}

/** A request shows the key of an earlier one, but its body is another. */
export class KeyReusedError extends Error {
  override name = 'KeyReusedError'
  constructor() {
    super('the key was used for a request with another body')
  }
}

export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && isQuota(error)) return 'EDQUOT'
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}

/** What the system refuses is not a bug. */
export function explain(error: unknown, dir: string): never {
  if (!(error instanceof Error && 'syscall' in error)) throw error
  throw new EnvironmentError(
    'buffer-unusable',
    `the event buffer ${dir} cannot be used: ${problemOfSystem(error)}`,
    {
      hint: hintOfSystem(error) ?? 'check that its disk has space and can be written',
      cause: error,
    },
  )
}
