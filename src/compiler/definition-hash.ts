// The definition of a model as a hash: equal for files that mean the same.

import { hashOf } from '../core/hash.ts'

/** 32 digits of core/hash.ts. */
export function definitionOf(...parts: readonly unknown[]): string {
  return hashOf(32, parts)
}
