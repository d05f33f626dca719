// Changes of texts and files that belong together: made whole, or not at all.

import type { Span } from '../core/source-text.ts'

export interface SpanEdit extends Span {
  readonly text: string
}

/** Paths are relative to the project directory. */
export interface Change {
  readonly edits: ReadonlyMap<string, readonly SpanEdit[]>
  readonly moves: readonly { readonly from: string; readonly to: string }[]
}

/** Why something is not changed, for people. */
export class Refusal extends Error {
  override name = 'Refusal'
}

/** Edits do not overlap. */
function applied(text: string, edits: readonly SpanEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((all, { start, end, text: by }) => all.slice(0, start) + by + all.slice(end), text)
}

export class EditsByFile {
  readonly #edits = new Map<string, Map<number, SpanEdit>>()
  readonly #texts = new Map<string, string>()

  add({ path, text }: { readonly path: string; readonly text: string }, edit: SpanEdit): void {
    this.#texts.set(path, text)
    const known = this.#edits.get(path) ?? new Map<number, SpanEdit>()
    known.set(edit.start, edit)
    this.#edits.set(path, known)
  }

  get edits(): ReadonlyMap<string, readonly SpanEdit[]> {
    return new Map(Array.from(this.#edits, ([path, edits]) => [path, [...edits.values()]]))
  }

  /** What the files hold afterwards. */
  get texts(): ReadonlyMap<string, string> {
    return new Map(
      Array.from(this.edits, ([path, edits]) => [path, applied(this.#texts.get(path)!, edits)]),
    )
  }
}

/** A name as SQL and annotations take it. */
export const written = (name: string): string =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quoted(name)

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
