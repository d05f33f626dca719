// Every rejection of the collect service: code and status. docs/errors.md lists the same rows, with their meanings.
// Rejections of HTTP itself (413 of a body, 415 of an encoding, 431, 408, …) come from the http room.

import { RequestError, type RequestErrorOptions } from '../http/request-error.ts'

export const errors = {
  'not-found': 404,
  'unknown-target': 404,
  'unknown-claim': 404,
  'claim-of-another-target': 400,
  'bad-claim-request': 400,
  'method-not-allowed': 405,
  'unsupported-media-type': 415,
  unsigned: 401,
  'invalid-signature': 401,
  'signature-expired': 401,
  'not-for-token': 403,
  'not-local': 403,
  'host-not-allowed': 403,
  'origin-not-allowed': 403,
  'event-too-large': 413,
  'batch-too-large': 413,
  'too-many-events': 413,
  'invalid-utf8': 400,
  'invalid-json': 400,
  'not-an-object': 400,
  'not-an-array': 400,
  'too-deep': 400,
  'duplicate-field': 400,
  'lone-surrogate': 400,
  'missing-field': 400,
  'invalid-value': 400,
  'invalid-idempotency-key': 400,
  'idempotency-key-reused': 422,
  'buffer-full': 503,
  'buffer-unavailable': 503,
} as const satisfies Record<string, number>

/** The rejection to throw; its status is in the table. `message` is shown to the sender. */
export function refusal(
  code: keyof typeof errors,
  message: string,
  options: RequestErrorOptions = {},
): RequestError {
  return new RequestError(errors[code], code, message, options)
}
