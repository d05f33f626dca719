// Where the row with a key stands in a file, in 18 to 24 bytes of memory for each row.
//
// A hash table of the numbers of rows, in the order of the file: the earlier of two rows with one hash is found first. The
// index alone proves nothing. A reader of a row compares its key, and its bytes by their checksum.

import { limits } from '../../../core/limits.ts'

export interface RowPlace {
  /** Offset of its first byte in the file. */
  readonly start: number
  readonly bytes: number
  readonly crc: number
}

/** What an index consists of, to be handed from one thread to another. */
export interface RowIndexParts {
  readonly starts: Uint32Array<ArrayBuffer>
  readonly crcs: Uint32Array<ArrayBuffer>
  readonly hashes: Uint32Array<ArrayBuffer>
  /** Numbers of rows, from 1 on; 0 is an empty slot. At most two thirds of them are taken. */
  readonly slots: Uint32Array<ArrayBuffer>
  /** Without it, somebody who chooses keys could choose some that have one hash. */
  readonly seed: number
  /** Whether all rows can be found by their keys. */
  isComplete: boolean
}

export class RowIndex {
  readonly parts: RowIndexParts
  #added = 0

  /** Takes the parts of an index that is complete. */
  constructor(parts: RowIndexParts) {
    this.parts = parts
  }

  /** For up to so many rows, in a file of less than 4 GiB. */
  static empty(rows: number): RowIndex {
    return new RowIndex({
      starts: new Uint32Array(rows + 1),
      crcs: new Uint32Array(rows),
      hashes: new Uint32Array(rows),
      slots: new Uint32Array(2 ** Math.ceil(Math.log2(rows * 1.5 + 2))),
      seed: Math.floor(Math.random() * 2 ** 32),
      isComplete: true,
    })
  }

  get added(): number {
    return this.#added
  }

  hash(bytes: Uint8Array, from = 0, to = bytes.length): number {
    let hash = this.parts.seed
    for (let i = from; i < to; i++) {
      hash = Math.imul(hash ^ bytes[i]!, 0x5bd1e995)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return (hash ^ (hash >>> 16)) >>> 0
  }

  /** The next row of the file. One that is not `findable` only takes its bytes. */
  add(hash: number, { start, bytes, crc }: RowPlace, findable: boolean): void {
    const { starts, crcs, hashes, slots } = this.parts
    const row = this.#added++
    starts[row] = start
    starts[row + 1] = start + bytes
    crcs[row] = crc
    hashes[row] = hash
    const mask = slots.length - 1
    for (let i = 0; findable && i < limits.rowFileProbes; i++) {
      const slot = (hash + i) & mask
      if (slots[slot] !== 0) continue
      slots[slot] = row + 1
      return
    }
    this.parts.isComplete = false
  }

  /** The rows with that hash, in the order of the file. */
  *places(hash: number): Generator<RowPlace, void> {
    const { starts, crcs, hashes, slots } = this.parts
    const mask = slots.length - 1
    for (let i = 0; i < limits.rowFileProbes; i++) {
      const row = slots[(hash + i) & mask]! - 1
      if (row < 0) return
      if (hashes[row] !== hash) continue
      const start = starts[row]!
      yield { start, bytes: starts[row + 1]! - start, crc: crcs[row]! }
    }
  }
}
