// The header Idempotency-Key: a request that is sent again is answered as the first and stored once.

import { keyOfBody, requestKey, type RequestKey } from '../../buffer/request-key.ts'
import { limits } from '../../core/limits.ts'
import type { RequestHead } from '../../http/head.ts'
import { refusal } from '../errors.ts'

/** null without the header. The body counts as it is after decompression. Throws 400 for a key too short or too long. */
export function readRequestKey(request: RequestHead, body: Uint8Array): RequestKey | null {
  const key = request.headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && key !== '' && key.length <= limits.requestKeyLength)
    return requestKey(key, body)
  throw refusal(
    'invalid-idempotency-key',
    `the Idempotency-Key must have 1 to ${limits.requestKeyLength} characters`,
    { target: 'Idempotency-Key' },
  )
}

/** The key of what a signed sender sends: a delivery that comes again, from the service or from somebody who has recorded it, is stored once. */
export const deliveryKey = (name: string, body: Uint8Array): RequestKey =>
  // No header has such a character, so no sender can choose this key.
  keyOfBody(body, (digest) => `\0webhook ${name} ${digest}`)
