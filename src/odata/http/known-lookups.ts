// Lookups that differ from an earlier one in the key alone, and are answered without being parsed and bound.
//
// The first of a form, as `set(7)` or `set('a')?$select=name` with certain headers, is answered as any other request. If its
// row comes from a file, the answer tells how others are made: which headers they have, and what stands around the row. A
// key is taken from a URL only where it needs no decoding and is, letter by letter, the text that the file has for it.
// All else goes the usual way: keys that are written otherwise, and those that the file does not have.

import { limits } from '../../core/limits.ts'
import type { Answer, AnsweredLookup } from '../answer/context.ts'
import type { RowsByKey } from '../engine/rows-by-key.ts'
import type { Reader } from '../protocol/reader.ts'
import type { RequestHeaders } from '../protocol/negotiate.ts'
import { ROOT_PATH } from '../protocol/service-root.ts'
import { requestKey } from './answer-cache.ts'

interface Asked {
  /** Of the current snapshot. */
  readonly snapshotId: string
  /** From the root of the server on. */
  readonly url: string
  readonly headers: RequestHeaders
  readonly reader: Reader
}

export interface KnownLookups {
  /** The answer, for one of a known form whose row can be read at once; null for all others. */
  find(asked: Asked): Answer | null
  /** From an answer that was made. */
  learn(asked: Asked, answer: Answer): void
}

export function createKnownLookups(rowsByKey: RowsByKey): KnownLookups {
  let of = ''
  const known = new Map<string, AnsweredLookup>()

  function forget(snapshotId: string): void {
    of = snapshotId
    known.clear()
  }

  return {
    find({ snapshotId, url, headers, reader }) {
      if (snapshotId !== of) forget(snapshotId)
      if (known.size === 0) return null
      const asked = readLookup(url)
      const form = asked === null ? null : requestKey(asked.form, headers, reader)
      const lookup = form === null ? undefined : known.get(form)
      if (asked === null || lookup === undefined) return null
      const row = rowsByKey.find({ ...lookup, key: [asked.key] })
      if (row === null) return null
      const body = lookup.bodyOf(row)
      return {
        status: 200,
        headers: lookup.headersOf(url.slice(`${ROOT_PATH}/`.length)),
        body,
        rows: () => 1,
      }
    },

    learn({ snapshotId, url, headers, reader }, { lookup, headers: answered }) {
      if (lookup === undefined || answered['Eider-Snapshot'] !== snapshotId) return
      const asked = readLookup(url)
      const form = asked === null ? null : requestKey(asked.form, headers, reader)
      if (asked === null || form === null || !isReadOff(asked.key, lookup)) return
      if (snapshotId !== of || known.size >= limits.lookupForms) forget(snapshotId)
      known.set(form, lookup)
    },
  }
}

/** Whole numbers in the form in which they are written, texts and GUIDs; of characters that mean themselves in a URL. */
const LOOKUP =
  /^(\/odata\/\w+\()(?:(0|-?[1-9]\d{0,17})|'([\w.~-]*)'|([\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}))(\)(?:\?.*)?)$/

/** The URL without its key, and the key. */
function readLookup(url: string): { readonly form: string; readonly key: string } | null {
  const [, before, number, text, guid, after] = LOOKUP.exec(url) ?? []
  if (before === undefined) return null
  const kind = number !== undefined ? 'number' : text !== undefined ? 'text' : 'guid'
  return { form: `${before}${kind}${after}`, key: number ?? text ?? guid!.toLowerCase() }
}

const TYPES: readonly string[] = [
  'Edm.Byte',
  'Edm.SByte',
  'Edm.Int16',
  'Edm.Int32',
  'Edm.Int64',
  'Edm.String',
  'Edm.Guid',
]

/** Whether the file has its keys as they are in URLs of that form. */
function isReadOff(key: string, { set, key: texts }: AnsweredLookup): boolean {
  const [part, ...more] = set.type.key
  return more.length === 0 && TYPES.includes(part!.type.name) && texts[0] === key
}
