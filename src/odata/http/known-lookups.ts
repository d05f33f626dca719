// Lookups that differ from an earlier one in the key alone, and are answered without being parsed and bound.
//
// The first of a form, as `set(7)` or `set('a')?$select=name` with certain headers, is answered as any other request. If its
// row was found by its key, the answer has what others need: which headers they have, and what stands around the row. A
// key is taken from a URL only where it is, letter by letter and without its escapes, the text by which rows are found.
// All else goes the usual way: keys that are written otherwise, and those that are not found.

import { limits } from '../../core/limits.ts'
import type { ContentCoding } from '../../http/content-coding.ts'
import type { Answer, AnsweredLookup } from '../answer/context.ts'
import { ROOT_PATH } from '../protocol/service-root.ts'
import { type Answers, type AnswerStats, type AskedAnswer, answerKey } from './answers.ts'

/** How an earlier lookup was answered, and how many rows that were. */
interface KnownForm {
  readonly lookup: AnsweredLookup
  readonly rows: number
}

export class KnownLookups implements Answers {
  readonly #next: Answers
  /** By the key of a request whose URL has the kinds of the parts of its key instead of these. */
  readonly #forms = new Map<string, KnownForm>()
  #snapshotId = ''

  /** All other requests are asked of `next`. */
  constructor(next: Answers) {
    this.#next = next
  }

  find(asked: AskedAnswer): Answer | null {
    return this.#find(asked) ?? this.#next.find(asked)
  }

  async answer(asked: AskedAnswer, make: () => Promise<Answer>): Promise<Answer> {
    const answer = await this.#next.answer(asked, make)
    const { lookup, headers } = answer
    if (lookup !== undefined && headers['Eider-Snapshot'] === asked.snapshotId)
      this.#learn(asked, { lookup, rows: answer.rows() })
    return answer
  }

  givesAgain(...asked: Parameters<Answers['givesAgain']>): boolean {
    return this.#next.givesAgain(...asked)
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
    const form = read === null ? undefined : this.#forms.get(read.form)
    if (read === null || form === undefined) return null
    const { lookup, rows } = form
    const target = asked.url.slice(`${ROOT_PATH}/`.length)
    const body = lookup.bodyOf(
      read.key.map(({ text }) => text),
      target,
    )
    if (body === null) return null
    return { status: 200, headers: lookup.headersOf(target), body, rows: () => rows }
  }

  #learn(asked: AskedAnswer, form: KnownForm): void {
    const read = readLookup(asked)
    if (read === null || !isReadOff(read, form.lookup)) return
    if (asked.snapshotId !== this.#snapshotId || this.#forms.size >= limits.lookupForms)
      this.#forms.clear()
    this.#snapshotId = asked.snapshotId
    this.#forms.set(read.form, form)
  }
}

interface ReadLookup {
  readonly form: string
  /** The parts of the key, in the order of the URL. */
  readonly key: readonly ReadValue[]
  /** Their names; empty where the only part has none. */
  readonly names: readonly string[]
}

/** A key in parentheses, with what follows it. */
const IN_PARENTHESES = /^(\/odata\/\w+\()([^()]+)(\)[\w/$]*(?:\?.*)?)$/
/** A key as a segment, and what follows it. */
const AS_SEGMENT = /^(\/odata\/\w+\/)([\w-]+)((?:[/?].*)?)$/
/** A key in a condition that is the whole filter. */
const IN_FILTER =
  /^(\/odata\/\w+\?(?:.*&)?(?:\$|%24)filter=(\w+)(?:%20|\+)eq(?:%20|\+))([^&()]+)((?:&.*)?)$/

function readLookup(asked: AskedAnswer): ReadLookup | null {
  const { url } = asked
  const [, before, inside, after] = IN_PARENTHESES.exec(url) ?? []
  if (before !== undefined) return readParts(asked, before, inside!.split(','), after!)
  const [, start, segment, rest] = AS_SEGMENT.exec(url) ?? []
  if (start !== undefined) return readParts(asked, start, [segment!], rest!)
  const [, beginning, name, value, end] = IN_FILTER.exec(url) ?? []
  if (beginning === undefined) return null
  const read = readParts(asked, beginning, [value!], end!)
  return read && { ...read, names: [name!] }
}

function readParts(
  asked: AskedAnswer,
  before: string,
  parts: readonly string[],
  after: string,
): ReadLookup | null {
  const key: ReadValue[] = []
  const names: string[] = []
  let form = before
  for (const part of parts) {
    const [, named = '', value = ''] = /^(\w+=)?(.*)$/s.exec(part) ?? []
    const read = readValue(value)
    if (read === null) return null
    if (named !== '') names.push(named.slice(0, -1))
    key.push(read)
    form += `${named}${read.kind},`
  }
  const known = answerKey({ ...asked, url: form + after })
  return known === null ? null : { form: known, key, names }
}

/**
 * Values in the form in which the engine writes them, or one that gives this letter by letter. A quote in a text, escaped
 * or not, is left to the parser of requests, as are characters that no text of a URL needs.
 */
const VALUE =
  /^(?:(?<number>0|-?[1-9]\d{0,37})|(?<decimal>-?(?:0|[1-9]\d{0,37})\.\d{1,38})|'(?<text>(?:[\w.~-]|%(?!27|[01])[\da-fA-F]{2})*)'|(?<guid>[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12})|(?<date>\d{4}-\d\d-\d\d)|(?<moment>\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?Z)|(?<clock>(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?))$/

interface ReadValue {
  readonly kind: keyof typeof TYPES
  readonly text: string
}

/** The types that values of a form are read for. */
const TYPES = {
  number: /^Edm\.(?:S?Byte|Int\d\d|Decimal)$/,
  decimal: /^Edm\.Decimal$/,
  text: /^Edm\.String$/,
  guid: /^Edm\.Guid$/,
  date: /^Edm\.Date$/,
  moment: /^Edm\.DateTimeOffset$/,
  clock: /^Edm\.TimeOfDay$/,
} as const

function readValue(value: string): ReadValue | null {
  const groups = VALUE.exec(value)?.groups as Readonly<Record<ReadValue['kind'], string>>
  if (groups === undefined) return null
  const [kind, text] = Object.entries(groups).find(([, found]) => found !== undefined) as [
    ReadValue['kind'],
    string,
  ]
  switch (kind) {
    case 'text':
      return text.includes('%') ? decoded(text) : { kind, text }
    case 'guid':
      return { kind, text: text.toLowerCase() }
    case 'moment':
      return { kind, text: text.replace('T', ' ').slice(0, -1) }
    default:
      return { kind, text }
  }
}

function decoded(text: string): ReadValue | null {
  try {
    return { kind: 'text', text: decodeURIComponent(text) }
  } catch {
    return null
  }
}

/** Whether rows are found by keys as they are in URLs of that form, part by part. */
function isReadOff({ key, names }: ReadLookup, { set, key: texts }: AnsweredLookup): boolean {
  const parts = set.type.key
  if (key.length !== parts.length || (names.length === 0 && parts.length > 1)) return false
  return parts.every(({ name, type }, i) => {
    const { kind, text } = key[i]!
    const isNamed = names.length === 0 || names[i] === name
    return isNamed && TYPES[kind].test(type.name) && text === texts[i]
  })
}
