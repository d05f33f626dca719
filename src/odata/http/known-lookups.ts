// Lookups that differ from an earlier one in the key alone, and are answered without being parsed and bound.
//
// The first of a form, as `set(7)` or `set('a')?$select=name` with certain headers, is answered as any other request. If its
// row was found by its key, the answer has what others need: which headers they have, and what stands around the row. A
// key is taken from a URL only where it needs no decoding and is, letter by letter, the text by which rows are found.
// All else goes the usual way: keys that are written otherwise, and those that are not found.

import { limits } from '../../core/limits.ts'
import type { ContentCoding } from '../../http/content-coding.ts'
import type { Answer, AnsweredLookup } from '../answer/context.ts'
import type { RowsByKey } from '../engine/rows-by-key.ts'
import { ROOT_PATH } from '../protocol/service-root.ts'
import { type Answers, type AnswerStats, type AskedAnswer, answerKey } from './answers.ts'

export class KnownLookups implements Answers {
  readonly #next: Answers
  readonly #rowsByKey: RowsByKey
  /** By the key of a request whose URL has the kind of its key instead of the key. */
  readonly #forms = new Map<string, AnsweredLookup>()
  #snapshotId = ''

  /** All other requests are asked of `next`. */
  constructor(next: Answers, rowsByKey: RowsByKey) {
    this.#next = next
    this.#rowsByKey = rowsByKey
  }

  find(asked: AskedAnswer): Answer | null {
    return this.#find(asked) ?? this.#next.find(asked)
  }

  async answer(asked: AskedAnswer, make: () => Promise<Answer>): Promise<Answer> {
    const answer = await this.#next.answer(asked, make)
    const { lookup, headers } = answer
    if (lookup !== undefined && headers['Eider-Snapshot'] === asked.snapshotId)
      this.#learn(asked, lookup)
    return answer
  }

  compress(body: Buffer, coding: ContentCoding): Promise<Buffer> {
    return this.#next.compress(body, coding)
  }

  stats(): AnswerStats {
    return this.#next.stats()
  }

  #find(asked: AskedAnswer): Answer | null {
    if (this.#forms.size === 0 || asked.snapshotId !== this.#snapshotId) return null
    const read = readLookup(asked)
    const lookup = read === null ? undefined : this.#forms.get(read.form)
    if (read === null || lookup === undefined) return null
    const row = this.#rowsByKey.find({ ...lookup, key: [read.key] })
    if (row === null) return null
    const headers = lookup.headersOf(asked.url.slice(`${ROOT_PATH}/`.length))
    return { status: 200, headers, body: lookup.bodyOf(row), rows: () => 1 }
  }

  #learn(asked: AskedAnswer, lookup: AnsweredLookup): void {
    const read = readLookup(asked)
    if (read === null || !isReadOff(read.key, lookup)) return
    if (asked.snapshotId !== this.#snapshotId || this.#forms.size >= limits.lookupForms)
      this.#forms.clear()
    this.#snapshotId = asked.snapshotId
    this.#forms.set(read.form, lookup)
  }
}

/** Whole numbers in the form in which they are written, texts and GUIDs; of characters that mean themselves in a URL. */
const LOOKUP =
  /^(\/odata\/\w+\()(?:(0|-?[1-9]\d{0,17})|'([\w.~-]*)'|([\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}))(\)(?:\?.*)?)$/

function readLookup(asked: AskedAnswer): { readonly form: string; readonly key: string } | null {
  const [, before, number, text, guid, after] = LOOKUP.exec(asked.url) ?? []
  if (before === undefined) return null
  const kind = number !== undefined ? 'number' : text !== undefined ? 'text' : 'guid'
  const form = answerKey({ ...asked, url: `${before}${kind}${after}` })
  return form === null ? null : { form, key: number ?? text ?? guid!.toLowerCase() }
}

/** Whether rows are found by keys as they are in URLs of that form. */
function isReadOff(key: string, { set, key: texts }: AnsweredLookup): boolean {
  const [part, ...more] = set.type.key
  const isPlain = /^Edm\.(?:S?Byte|Int\d\d|String|Guid)$/.test(part!.type.name)
  return more.length === 0 && isPlain && texts[0] === key
}
