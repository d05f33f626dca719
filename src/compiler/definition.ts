// The definition of a model as a hash: equal for files that mean the same.

import { createHash } from 'node:crypto'

/** 32 hexadecimal digits that depend on every part and on their order. The parts are what JSON can print. */
export function definitionOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}
