// Whole answers in memory, up to a number of bytes; what was used last stays longest.

import { compress, type ContentCoding } from '../../http/content-coding.ts'
import type { Answer } from '../answer/context.ts'

export interface CachedAnswers {
  find(key: string): Answer | null
  /** `answer` has its body whole. */
  put(key: string, answer: Answer): void
  /** `body` in that coding. The compressed form of a cached body is cached too. */
  readonly compress: (body: Buffer, coding: ContentCoding) => Promise<Buffer>
  readonly entries: number
  readonly bytes: number
}

interface Entry {
  readonly key: string
  readonly answer: Answer
  readonly coded: Map<ContentCoding, Promise<Buffer>>
  bytes: number
}

/** What an entry takes besides its body and key: headers and the objects around them. */
const ENTRY_BYTES = 1_000

/** With `maxBytes` 0 nothing is cached. */
export function createCachedAnswers(maxBytes: number): CachedAnswers {
  const entries = new Map<string, Entry>()
  const entryOf = new WeakMap<Buffer, Entry>()
  let bytes = 0

  function grow(entry: Entry, more: number): void {
    entry.bytes += more
    bytes += more
    for (const oldest of entries.values()) {
      if (bytes <= maxBytes) return
      entries.delete(oldest.key)
      bytes -= oldest.bytes
    }
  }

  return {
    find(key) {
      const entry = entries.get(key)
      if (entry === undefined) return null
      entries.delete(key)
      entries.set(key, entry)
      return entry.answer
    },

    put(key, made) {
      if (entries.has(key)) return
      // Only the number is kept: the function would keep DuckDB's result alive.
      const rows = made.rows()
      const { lookup: _, ...kept } = made
      const answer = { ...kept, rows: () => rows }
      const entry: Entry = { key, answer, coded: new Map(), bytes: 0 }
      entries.set(key, entry)
      if (Buffer.isBuffer(answer.body)) entryOf.set(answer.body, entry)
      const bodyBytes = Buffer.isBuffer(answer.body) ? answer.body.length : 0
      grow(entry, bodyBytes + 2 * key.length + ENTRY_BYTES)
    },

    compress(body, coding) {
      const entry = entryOf.get(body)
      const known = entry?.coded.get(coding)
      if (known !== undefined) return known
      const coded = compress(body, coding)
      if (entry === undefined) return coded
      entry.coded.set(coding, coded)
      return coded.then((made) => {
        if (entries.get(entry.key) === entry) grow(entry, made.length)
        return made
      })
    },

    get entries() {
      return entries.size
    },
    get bytes() {
      return bytes
    },
  }
}
