// A token that nobody can guess and everybody can type after an option.

import { randomBytes } from 'node:crypto'

/** One that began with a dash would be taken for an option of a command. */
export function newToken(bytes: number, draw: (bytes: number) => Buffer = randomBytes): string {
  for (;;) {
    const token = draw(bytes).toString('base64url')
    if (!token.startsWith('-')) return token
  }
}
