// How many streamed answers are open at once. Each has rows in DuckDB and on their way to its client
// for as long as the client takes them, without a place in the admission control while it does nothing.

import { overloaded } from './admission.ts'

export interface OpenStreams {
  /** A slot, until it is disposed of. Throws RequestError 503 when all are taken. */
  enter(): AsyncDisposable
  readonly isFull: boolean
  readonly count: number
}

export function createOpenStreams(most: number): OpenStreams {
  let count = 0
  return {
    enter() {
      if (count >= most) throw overloaded()
      count++
      return {
        async [Symbol.asyncDispose]() {
          count--
        },
      }
    },
    get isFull() {
      return count >= most
    },
    get count() {
      return count
    },
  }
}
