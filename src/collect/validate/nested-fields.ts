// Fields of a STRUCT that its type does not have, wherever it is nested in a column: most likely typing mistakes where
// they look like a field that the object lacks, as at the top of an event (misspelt.ts). A rule has seen that there are
// some (Spans.hasUnknownField) before anything here looks for them.

import type { TypeTree } from '../../core/type-syntax.ts'
import { lookalike, type Lookalikes, type MisspeltFields } from './misspelt.ts'
import { ARRAY, OBJECT, type Spans } from './spans.ts'

interface Struct {
  readonly is: 'struct'
  readonly names: readonly string[]
  readonly fields: ReadonlyMap<string, Nested | null>
  readonly lookalikes: Lookalikes
}

/** A type with a STRUCT in it. */
export type Nested =
  | Struct
  | { readonly is: 'items'; readonly of: Nested }
  | { readonly is: 'values'; readonly of: Nested }
  | { readonly is: 'member'; readonly fields: ReadonlyMap<string, Nested | null> }

/** null for a type without a STRUCT. */
export function nestedOf(tree: TypeTree): Nested | null {
  switch (tree.is) {
    case 'scalar':
    case 'enum':
      return null
    case 'list': {
      const of = nestedOf(tree.element)
      return of && { is: 'items', of }
    }
    case 'map': {
      const of = nestedOf(tree.value)
      return of && { is: 'values', of }
    }
    default: {
      const fields = new Map([...tree.fields].map(([name, type]) => [name, nestedOf(type)]))
      if (tree.is === 'struct')
        return { is: 'struct', names: [...fields.keys()], fields, lookalikes: new Map() }
      return [...fields.values()].some((field) => field !== null) ? { is: 'member', fields } : null
    }
  }
}

/** Where a value stands: as a message says it, and without numbers of list items and keys of a MAP, where all are alike. */
interface Place {
  readonly shown: string
  readonly alike: string
}

/** Notes the fields inside of a valid value that look like typing mistakes. */
export function noteNested(
  misspelt: MisspeltFields,
  spans: Spans,
  node: number,
  type: Nested,
  column: string,
): void {
  const visit = (at: number, nested: Nested, place: Place): void => {
    if (nested.is === 'items') {
      if (spans.kind(at) !== ARRAY) return
      const alike = `${place.alike}[]`
      for (let item = at + 1, i = 0; item < spans.next(at); item = spans.next(item), i++)
        visit(item, nested.of, { shown: `${place.shown}[${i}]`, alike })
      return
    }
    if (spans.kind(at) !== OBJECT) return
    // Read once, however many of its fields are unknown.
    let own: ReadonlySet<string> | null = null
    const has = (field: string) => (own ??= new Set(spans.names(at))).has(field)
    for (let name = at + 1; name < spans.next(at); name = spans.next(name + 1)) {
      const field = spans.text(name)
      const inner = nested.is === 'values' ? nested.of : nested.fields.get(field)
      if (inner) visit(name + 1, inner, stepTo(place, field, nested.is === 'values' ? '{}' : field))
      else if (inner === undefined && nested.is === 'struct') noteField(nested, place, field, has)
    }
  }
  const noteField = (
    struct: Struct,
    place: Place,
    name: string,
    has: (field: string) => boolean,
  ) => {
    const meant = lookalike(name, () => struct.names, struct.lookalikes)
    if (meant === null || has(meant)) return
    misspelt.noteField(stepTo(place, name), stepTo(place, meant).shown)
  }
  visit(node, type, { shown: column, alike: column })
}

const stepTo = ({ shown, alike }: Place, name: string, step = name): Place => ({
  shown: `${shown}.${name}`,
  alike: `${alike}.${step}`,
})
