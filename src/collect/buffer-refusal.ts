// Rejections of the buffer as HTTP responses.

import {
  BufferFullError,
  BufferUnavailableError,
  ClaimTargetError,
  KeyReusedError,
  UnknownClaimError,
} from '../buffer/errors.ts'
import { limits } from '../core/limits.ts'
import { refusal } from './errors.ts'

/** The RequestError for an error of the buffer; another error as it is. */
export function bufferRefusal(error: unknown): unknown {
  if (error instanceof BufferFullError || error instanceof BufferUnavailableError) {
    const code = error instanceof BufferFullError ? 'buffer-full' : 'buffer-unavailable'
    const headers = { 'Retry-After': String(limits.retryAfterSeconds) }
    return refusal(code, error.message, { headers, cause: error })
  }
  if (error instanceof UnknownClaimError) return refusal('unknown-claim', error.message)
  if (error instanceof ClaimTargetError) return refusal('claim-of-another-target', error.message)
  if (error instanceof KeyReusedError) return refusal('idempotency-key-reused', error.message)
  return error
}
