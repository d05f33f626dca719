// Services that sign their requests instead of showing a token: HMAC-SHA256 over the body as it was sent, with a secret that
// the service and the daemon share. eider.yml calls them webhooks.
//
//   github   X-Hub-Signature-256: sha256=<hex>             over the body
//   stripe   Stripe-Signature: t=<seconds>,v1=<hex>,…      over "<seconds>.<body>"; several v1 while a secret is replaced

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { AccessError, type Credential, type SignedSender } from './credential.ts'

const HEADERS = { github: 'X-Hub-Signature-256', stripe: 'Stripe-Signature' } as const

const FORMS = {
  github: 'sha256= and 64 hexadecimal digits',
  stripe: 't=, the seconds, ",v1=" and 64 hexadecimal digits',
} as const

/** In lower case: the headers with a signature, which differs with each request. */
export const signatureHeaders = Object.values(HEADERS).map((name) => name.toLowerCase())

interface Signature {
  /** What is signed before the body. */
  readonly prefix: string
  readonly digests: readonly Buffer[]
  /** Unix time in milliseconds; null in shapes without one. */
  readonly atMs: number | null
}

/** With a token, the holder of one may post to the target of a signed sender too. */
export const signedSenders: Credential = {
  judges: ({ authorization }, { signer, token, named }) =>
    signer != null && (authorization === undefined || (token === null && named.length === 0)),
  identify(headers, { signer }) {
    const sender = signer!
    readSignature(sender, headers)
    const { name, target: text, source, span } = sender
    return {
      name,
      expiresAt: null,
      scope: [{ text, source, span }],
      requireBody: (body, ofRequest, nowMs) =>
        requireSigned(sender, readSignature(sender, ofRequest), body, nowMs),
    }
  },
}

/** The signature of a request, before its body is read. Throws AccessError. */
function readSignature({ shape }: SignedSender, headers: IncomingHttpHeaders): Signature {
  const name = HEADERS[shape]
  const text = headers[name.toLowerCase()]
  if (typeof text !== 'string')
    throw new AccessError('unsigned', `a request to this path is signed in ${name}`, name)
  // What is signed are the bytes on the wire, which nobody has after they are decompressed.
  if (headers['content-encoding'] !== undefined)
    throw invalid(name, 'a signed body is sent without Content-Encoding')
  const signature = shape === 'github' ? gitHubSignature(text) : stripeSignature(text)
  if (signature === null) throw invalid(name, `${name} is not a signature; it is ${FORMS[shape]}`)
  return signature
}

/** Throws AccessError for a signature that no secret makes of this body, or that is too old. */
function requireSigned(
  { shape, secrets, toleranceMs }: SignedSender,
  { prefix, digests, atMs }: Signature,
  body: Uint8Array,
  nowMs: number,
): void {
  const name = HEADERS[shape]
  let isRight = false
  // All are compared, whichever is right.
  for (const secret of secrets) {
    const right = createHmac('sha256', secret).update(prefix).update(body).digest()
    for (const digest of digests) if (timingSafeEqual(right, digest)) isRight = true
  }
  if (!isRight) throw invalid(name, `${name} does not match the body and the secret of the webhook`)
  if (atMs === null || Math.abs(nowMs - atMs) <= toleranceMs) return
  throw new AccessError(
    'signature-expired',
    `the time in ${name} is more than ${toleranceMs / 1000} s from now`,
    name,
  )
}

const invalid = (target: string, message: string) =>
  new AccessError('invalid-signature', message, target)

function gitHubSignature(text: string): Signature | null {
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(text) ?? []
  return hex === undefined ? null : { prefix: '', digests: [Buffer.from(hex, 'hex')], atMs: null }
}

/** A secret is replaced by one other at a time; more digests than that would be work for nothing. */
const MOST_DIGESTS = 8

function stripeSignature(text: string): Signature | null {
  const parts = text.split(',').map((part) => part.trim())
  const values = (name: string) =>
    parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1))
  const [time = ''] = values('t')
  const digests = values('v1').filter((hex) => /^[0-9a-f]{64}$/i.test(hex))
  if (!/^\d{1,12}$/.test(time) || digests.length === 0 || digests.length > MOST_DIGESTS) return null
  const buffers = digests.map((hex) => Buffer.from(hex, 'hex'))
  return { prefix: `${time}.`, digests: buffers, atMs: Number(time) * 1000 }
}
