// Authentication. Without a token anybody who reaches the port has access.

import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
import type { NamedToken } from '../core/named-tokens.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { RequestHead } from './head.ts'
import { RequestError } from './request-error.ts'

/** One header line for each challenge: browsers, Olingo and the JDK do not see Basic after a comma. */
const CHALLENGES = ['Bearer realm="eider"', 'Basic realm="eider", charset="UTF-8"']

/** What a service accepts: a token without a name, and those with one. Nothing: anybody may come. */
export interface Accepted<T extends NamedToken> {
  readonly token: string | null
  readonly named: readonly T[]
}

/**
 * The token that a request shows, as Bearer or as the password of Basic; null for the one without a name, or where none
 * is needed. Throws 401. The time that it takes does not tell which one is nearly right: each is compared, as a hash, in
 * constant time.
 */
export function identify<T extends NamedToken>(
  request: RequestHead,
  { token, named }: Accepted<T>,
  now = () => new Date(),
): T | null {
  if (token === null && named.length === 0) return null
  const shown = shownToken(request.headers.authorization ?? '')
  const digest = digestOf(shown ?? '')
  const isPlain = token !== null && timingSafeEqual(digest, digestOf(token))
  let found: T | null = null
  for (const one of named) if (timingSafeEqual(digest, Buffer.from(one.hash, 'hex'))) found ??= one
  if (shown !== null && isPlain) return null
  if (shown === null || found === null)
    throw unauthorized('unauthorized', 'a valid token is required')
  if (found.expiresAt === null || !hasExpired(found, now())) return found
  const at = found.expiresAt.toISOString().replace('.000', '')
  throw unauthorized('token-expired', `the token has expired (${at}); ask for a new one`)
}

/** Throws where all tokens are gone: a port that asked for one does not open for a change of a file. */
export function requireStillClosed(
  before: Accepted<NamedToken>,
  { token, named }: Accepted<NamedToken>,
  key: 'odata.tokens' | 'collect.tokens',
): void {
  if (token !== null || named.length > 0 || before.named.length === 0) return
  throw new EnvironmentError('last-token', `the last token was removed from ${key}`, {
    hint: 'restart the server to accept requests from anybody',
  })
}

export const hasExpired = ({ expiresAt }: NamedToken, now = new Date()): boolean =>
  expiresAt !== null && now >= expiresAt

/** Options of every 401. */
export const CHALLENGED = { headers: { 'WWW-Authenticate': CHALLENGES } }

const unauthorized = (code: string, message: string) =>
  new RequestError(401, code, message, CHALLENGED)

const digestOf = (text: string) => createHash('sha256').update(text).digest()

function shownToken(authorization: string): string | null {
  const [, scheme = '', credentials = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? []
  // A token is what its owner chose, in UTF-8; node:http gives each byte as a character.
  if (/^bearer$/i.test(scheme)) return Buffer.from(credentials, 'latin1').toString('utf8')
  if (!/^basic$/i.test(scheme)) return null
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
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
