// Every rejection of the collect service: code, status and meaning. docs/errors.md lists the same rows.
// Rejections of HTTP itself (413 of a body, 415 of an encoding, 431, 408, …) come from the http room.

import { RequestError, type RequestErrorOptions } from '../http/request-error.ts'

interface ErrorRow {
  readonly status: number
  readonly meaning: string
}

export const errors = {
  'not-found': { status: 404, meaning: 'No such path on this port.' },
  'unknown-target': { status: 404, meaning: 'The project has no events model with this name.' },
  'unknown-claim': { status: 404, meaning: 'No claim has ever had this id.' },
  'claim-of-another-target': { status: 400, meaning: 'The claim belongs to another target.' },
  'bad-claim-request': { status: 400, meaning: 'The body is not {"claim_id": "…"}.' },
  'method-not-allowed': {
    status: 405,
    meaning: 'The path exists; the Allow header names its methods.',
  },
  'unsupported-media-type': {
    status: 415,
    meaning: 'The Content-Type is neither missing nor JSON (nor, for a batch, NDJSON).',
  },
  unsigned: {
    status: 401,
    meaning: 'Requests to this target are signed by a webhook, and this one is not.',
  },
  'invalid-signature': {
    status: 401,
    meaning: 'The signature does not match the body and the secret of the webhook.',
  },
  'signature-expired': {
    status: 401,
    meaning: 'The time in the signature is too far from the time of the daemon.',
  },
  'not-for-token': { status: 403, meaning: 'The token is for other targets.' },
  'not-local': {
    status: 403,
    meaning: 'The admin port answers only programs on this machine, not web pages.',
  },
  'host-not-allowed': {
    status: 403,
    meaning: 'The Host header is not a loopback name, and the daemon listens on loopback only.',
  },
  'origin-not-allowed': {
    status: 403,
    meaning:
      'The request comes from a web page whose origin is not in collect.cors_origins, and the daemon listens on loopback only.',
  },
  'event-too-large': {
    status: 413,
    meaning: 'An event of the batch, or an event as it would be stored, is above the limit.',
  },
  'batch-too-large': {
    status: 413,
    meaning: 'The events of the batch, as they would be stored, are above the limit.',
  },
  'too-many-events': {
    status: 413,
    meaning: 'The batch has more than 500,000 events; send several batches.',
  },
  'invalid-utf8': { status: 400, meaning: 'The body is not UTF-8.' },
  'invalid-json': { status: 400, meaning: 'The body, or a line of NDJSON, is not JSON.' },
  'not-an-object': { status: 400, meaning: 'An event is not a JSON object.' },
  'not-an-array': { status: 400, meaning: 'A JSON batch is not an array.' },
  'too-deep': { status: 400, meaning: 'The event nests arrays and objects too deeply.' },
  'duplicate-field': { status: 400, meaning: 'An object of the event names one field twice.' },
  'lone-surrogate': {
    status: 400,
    meaning: 'A \\u escape is half of a surrogate pair, which is not a character.',
  },
  'missing-field': { status: 400, meaning: 'A column that is NOT NULL is absent or null.' },
  'invalid-value': { status: 400, meaning: 'The column cannot hold the value as it was sent.' },
  'invalid-idempotency-key': {
    status: 400,
    meaning: 'The Idempotency-Key is empty or longer than 255 characters.',
  },
  'idempotency-key-reused': {
    status: 422,
    meaning: 'The Idempotency-Key was used for a request with another body.',
  },
  'buffer-full': {
    status: 503,
    meaning: 'The buffer is at its limit until a run has flushed it; see Retry-After.',
  },
  'buffer-unavailable': {
    status: 503,
    meaning: 'The buffer cannot be written (such as a full disk); see Retry-After.',
  },
} as const satisfies Record<string, ErrorRow>

type ErrorCode = keyof typeof errors

/** The rejection to throw; its status is in the table. `message` is shown to the sender. */
export function refusal(
  code: ErrorCode,
  message: string,
  options: RequestErrorOptions = {},
): RequestError {
  return new RequestError(errors[code].status, code, message, options)
}
