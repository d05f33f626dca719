// Identities: short, stable names for contents.

import { createHash } from 'node:crypto'

/** Hexadecimal digits that depend on every part and on their order. The parts are what JSON can print. */
export function hashOf(digits: 16 | 32, parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, digits)
}
