// Tokens of which only hashes are known: what eider.yml says of each, and whether a request shows one.

import { createHash, timingSafeEqual, randomBytes } from 'node:crypto'
import { AccessError, type Credential, type NamedToken, type Principal } from './credential.ts'
import type { WrittenFilter } from './reader.ts'

/** Names of tokens and of signed senders. Without flags: the JSON Schema of eider.yml has it too. */
export const NAME_IN_LOG = /^[A-Za-z0-9_-]{1,60}$/

export interface ReaderToken extends NamedToken {
  readonly rows: readonly WrittenFilter[]
}

/**
 * A token comes as Bearer, or as the password of Basic. The time that it takes does not tell which one is nearly right:
 * each is compared, as a hash, in constant time.
 */
export const hashedTokens: Credential = {
  judges: (_headers, { token, named }) => token !== null || named.length > 0,
  identify(headers, { token, named }, now) {
    const shown = shownToken(headers.authorization ?? '')
    const digest = digestOf(shown ?? '')
    const isPlain = token !== null && timingSafeEqual(digest, digestOf(token))
    let found: NamedToken | null = null
    for (const one of named)
      if (timingSafeEqual(digest, Buffer.from(one.hash, 'hex'))) found ??= one
    if (shown !== null && isPlain) return null
    if (shown === null || found === null)
      throw new AccessError('unauthorized', shown === null ? NO_TOKEN : WRONG_TOKEN)
    if (found.expiresAt === null || !hasExpired(found, now())) return found
    const at = found.expiresAt.toISOString().replace('.000', '')
    throw new AccessError('token-expired', `the token has expired (${at}); ask for a new one`)
  },
}

const NO_TOKEN =
  'a token is required: send "Authorization: Bearer TOKEN", or the token as the password of Basic'
const WRONG_TOKEN =
  'this token is not valid; it stands after "Authorization: Bearer", or is the password of Basic'

export const hasExpired = ({ expiresAt }: Principal, now = new Date()): boolean =>
  expiresAt !== null && now >= expiresAt

const digestOf = (text: string) => createHash('sha256').update(text).digest()

function shownToken(authorization: string): string | null {
  const [, scheme = '', credentials = ''] = /^(\S+) +(.*)$/.exec(authorization) ?? []
  // A token is what its owner chose, in UTF-8; node:http gives each byte as a character.
  if (/^bearer$/i.test(scheme)) return Buffer.from(credentials, 'latin1').toString('utf8')
  if (!/^basic$/i.test(scheme)) return null
  const pair = Buffer.from(credentials, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

// A token that nobody can guess and everybody can type after an option.

/** One that began with a dash would be taken for an option of a command. */
export function newToken(bytes: number, draw: (bytes: number) => Buffer = randomBytes): string {
  for (;;) {
    const token = draw(bytes).toString('base64url')
    if (!token.startsWith('-')) return token
  }
}
