// Identities: short, stable names for contents.

import { createHash } from 'node:crypto'

/** 16 hexadecimal digits that depend on every part and on their order. The parts are what JSON can print. */
export function hashOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}
