// Authentication. Without a token anybody who reaches the port has access.

import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { NamedToken } from '../core/named-tokens.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { RequestHead } from './fast/plain-post.ts'
import { RequestError } from './request-error.ts'

/** One header line for each challenge: browsers, Olingo and the JDK do not see Basic after a comma. */
const CHALLENGES = ['Bearer realm="eider"', 'Basic realm="eider", charset="UTF-8"']

/** Throws 401 unless the request shows `token`, as Bearer or as the password of Basic. Compares in constant time. */
export function requireToken(request: RequestHead, token: string | null): void {
  if (hasToken(request, token)) return
  throw new RequestError(401, 'unauthorized', 'a valid token is required', {
    headers: { 'WWW-Authenticate': CHALLENGES },
  })
}

/** True when the request shows `token`, or none is needed. */
export function hasToken(request: RequestHead, token: string | null): boolean {
  if (token === null) return true
  const shown = shownToken(request.headers.authorization ?? '')
  return shown !== null && equalInConstantTime(shown, token)
}

/** What a service accepts: a token without a name, and those with one. Nothing: anybody may come. */
export interface Accepted<T extends NamedToken> {
  readonly token: string | null
  readonly named: readonly T[]
}

/**
 * The token that a request shows; null for the one without a name, or where none is needed. Throws 401. The time that it
 * takes does not tell which one is nearly right: each is compared, as a hash, in constant time.
 */
export function identify<T extends NamedToken>(
  request: RequestHead,
  { token, named }: Accepted<T>,
  now: Date,
): T | null {
  if (token === null && named.length === 0) return null
  const shown = shownToken(request.headers.authorization ?? '')
  const digest = createHash('sha256')
    .update(shown ?? '')
    .digest()
  let isPlain = false
  let found: T | null = null
  if (token !== null) isPlain = timingSafeEqual(digest, createHash('sha256').update(token).digest())
  for (const one of named) if (timingSafeEqual(digest, Buffer.from(one.hash, 'hex'))) found ??= one
  if (shown !== null && isPlain) return null
  if (shown === null || found === null)
    throw unauthorized('unauthorized', 'a valid token is required')
  if (found.expiresAt === null || now < found.expiresAt) return found
  const at = found.expiresAt.toISOString().replace('.000', '')
  throw unauthorized('token-expired', `the token has expired (${at}); ask for a new one`)
}

const unauthorized = (code: string, message: string) =>
  new RequestError(401, code, message, { headers: { 'WWW-Authenticate': CHALLENGES } })

function shownToken(authorization: string): string | null {
  const [, scheme = '', credentials = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? []
  // A token is what its owner chose, in UTF-8; node:http gives each byte as a character.
  if (/^bearer$/i.test(scheme)) return Buffer.from(credentials, 'latin1').toString('utf8')
  if (!/^basic$/i.test(scheme)) return null
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

function equalInConstantTime(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '')
  return (
    bare.toLowerCase() === 'localhost' ||
    bare === '::1' ||
    (isIP(bare) === 4 && bare.startsWith('127.'))
  )
}

/** Refuses to open a port to other machines without a token, unless explicitly allowed. */
export function requireSafeBinding(
  host: string,
  token: string | null,
  allowAnonymous: boolean,
): void {
  if (isLoopback(host) || token !== null || allowAnonymous) return
  throw new EnvironmentError(
    'open-without-token',
    `${host} can be reached from other machines and no token is set`,
    {
      hint: 'set a token (--token), or pass --allow-anonymous to accept requests from anybody',
    },
  )
}
