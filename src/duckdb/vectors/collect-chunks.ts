// Frees memory of DuckDB early.
//
// The memory of a chunk, and of the bytes copied from it, is freed when JavaScript's collector frees the objects that
// stand for it. The collector weighs them as bytes that survive: in a small heap it marks everything that lives each time
// that 24 MB were copied, which takes more time than the copying. Its collection of young objects frees the same bytes in
// half a millisecond, so it is run before that. One thread does it: there is too little to share, and the others
// would take the processors from DuckDB.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { limits } from '../../core/limits.ts'

let copiedBytes = 0
let collect: ((options: { type: 'minor' }) => void) | null = null

/** Is called with the bytes copied out of chunks. */
export function noteCopied(bytes: number): void {
  copiedBytes += bytes
  if (copiedBytes < limits.uncollectedBytes) return
  copiedBytes = 0
  collect ??= youngCollector()
  collect({ type: 'minor' })
}

/** The function is in contexts made after the flag is set, which this one was not. */
function youngCollector(): (options: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--no-parallel-scavenge')
  return runInNewContext('gc') as (options: { type: 'minor' }) => void
}
