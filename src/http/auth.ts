// Authentication. Without a token anybody who reaches the port has access.

import { createHash, timingSafeEqual } from 'node:crypto'
import { isIP } from 'node:net'
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
