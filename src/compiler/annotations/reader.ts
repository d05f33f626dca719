// A place in the text of an annotation, from which its parts are taken one after the other, and the names in it.

import type { Span } from '../../core/source-text.ts'

export const COMMA = /[ \t]*,[ \t]*/y
export const OPEN = /[ \t]*\([ \t]*/y
export const CLOSE = /[ \t]*\)/y

export class Mismatch extends Error {
  readonly at: number
  constructor(at: number) {
    super('the value has another form')
    this.at = at
  }
}

/** A place in a text. Patterns are sticky: they match at that place or not at all. */
export class AnnotationReader {
  readonly #text: string
  readonly #base: number
  #at = 0

  constructor(text: string, base: number) {
    this.#text = text
    this.#base = base
  }

  /** In the file. */
  get offset(): number {
    return this.#base + this.#at
  }

  /** Where a text began that was just taken. */
  start(taken: string): number {
    return this.#at - taken.trimStart().length
  }

  isAtEnd(): boolean {
    return this.#at === this.#text.length
  }

  end(): void {
    if (!this.isAtEnd()) throw this.#mismatch()
  }

  take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const [found] = pattern.exec(this.#text) ?? []
    this.#at += found?.length ?? 0
    return found ?? null
  }

  expect(pattern: RegExp): string {
    const found = this.take(pattern)
    if (found === null) throw this.#mismatch()
    return found
  }

  /** At the next word: a place within blanks shows nothing. */
  #mismatch(): Mismatch {
    this.take(/[ \t]*/y)
    return new Mismatch(this.#at)
  }

  /** What stands between quotes; null when no quote begins here. */
  quoted(pattern: RegExp): string | null {
    const quote = pattern.source.charAt(0)
    if (this.#text[this.#at] !== quote) return null
    const found = this.take(pattern)
    if (found === null) throw new Mismatch(this.#text.length)
    return found.slice(1, -1).replaceAll(quote + quote, quote)
  }

  list<Item>(read: (reader: AnnotationReader) => Item): readonly Item[] {
    const items = [read(this)]
    while (this.take(COMMA) !== null) items.push(read(this))
    return items
  }
}

/** A column that an annotation names, as written there. */
export interface NamedColumn {
  readonly name: string
  readonly span: Span
}

/** A model that an annotation names, as written there but for its quotes. */
export interface NamedModel {
  readonly name: string
  readonly span: Span
}

const BARE_NAME = /[\p{L}_][\p{L}0-9_$]*/uy
/** Ends at a quote that no other one follows: two stand for one within the name. */
const QUOTED_NAME = /"(?:""|[^"])+"(?!")/y

export function column(r: AnnotationReader): NamedColumn {
  const start = r.offset
  const name = r.quoted(QUOTED_NAME) ?? r.expect(BARE_NAME)
  return { name, span: { start, end: r.offset } }
}

export function model(r: AnnotationReader): NamedModel {
  const schema = column(r)
  r.expect(/\./y)
  const table = column(r)
  return {
    name: `${schema.name}.${table.name}`,
    span: { start: schema.span.start, end: table.span.end },
  }
}
