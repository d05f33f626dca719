// Authentication. Without a token anybody who reaches the port has access.

import { isIP } from 'node:net'
import { type AccessList, AccessError, type Who } from '../access/credential.ts'
import { identify } from '../access/credentials.ts'
import { EnvironmentError } from '../core/failures.ts'
import type { RequestHead } from './head.ts'
import { RequestError } from './request-error.ts'

/** One header line for each challenge: browsers, Olingo and the JDK do not see Basic after a comma. */
const CHALLENGES = ['Bearer realm="eider"', 'Basic realm="eider", charset="UTF-8"']

/** Throws where all tokens are gone: a port that asked for one does not open for a change of a file. */
export function requireStillClosed(
  before: AccessList,
  { token, named }: AccessList,
  key: 'odata.tokens' | 'collect.tokens',
): void {
  if (token !== null || named.length > 0 || before.named.length === 0) return
  throw new EnvironmentError('last-token', `the last token was removed from ${key}`, {
    hint: 'restart the server to accept requests from anybody',
  })
}

/** Who a request is from; see access/credentials.ts. Throws RequestError, or rejects with it. */
export function whoAsks(
  { headers }: RequestHead,
  accepted: AccessList,
  now?: () => Date,
): Who | Promise<Who> {
  const who = challenging(() => identify(headers, accepted, now))
  return who instanceof Promise ? who.catch(challenge) : who
}

/** What the work returns. Where it throws AccessError, this throws RequestError: 401 with a challenge. */
export function challenging<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    return challenge(error)
  }
}

function challenge(error: unknown): never {
  if (!(error instanceof AccessError)) throw error
  const { code, message, target } = error
  const headers = { 'WWW-Authenticate': CHALLENGES }
  throw new RequestError(401, code, message, { headers, ...(target !== null && { target }) })
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

// Web pages reach a loopback address too: from any site by a form or a script, or under their own host name that
// resolves to 127.0.0.1 (DNS rebinding). A server on such an address tells them by the headers Host and Origin.

/** The name or address in a Host header, without the port; null if it is not a host. */
export function hostName(header: string): string | null {
  const [, name] = /^(\[[\da-f:.]+\]|[\w.~-]+)(?::\d{1,5})?$/i.exec(header) ?? []
  return name?.toLowerCase() ?? null
}

/** A server on a loopback address answers to loopback names only. `name` as of hostName(). */
export function answersTo(name: string, listeningOn: string): boolean {
  return !isLoopback(listeningOn) || isLoopback(name)
}

/** On a loopback address, pages of `allowed` origins only, `*` being any; a program sends no Origin header. */
export function takesOrigin(
  origin: string | undefined,
  listeningOn: string,
  allowed: readonly string[],
): boolean {
  return (
    origin === undefined ||
    !isLoopback(listeningOn) ||
    allowed.some((one) => one === '*' || one === origin)
  )
}
