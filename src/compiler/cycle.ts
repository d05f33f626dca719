// Models that wait for each other, as a mistake with its place.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { ModelName } from '../core/names.ts'
import { positionOf } from '../core/source.ts'
import type { Draft } from './bind/draft.ts'

/** At the annotation that closes the circle where there is one: it is easier to remove than a table of a query. */
export function cycleDiagnostic(cycle: readonly ModelName[], drafts: readonly Draft[]): Diagnostic {
  const edges = cycle.map((name, i) => {
    const next = cycle[(i + 1) % cycle.length]!
    const place = drafts.find((draft) => draft.name === name)!.placeOf(next)
    const { lineText } = positionOf(place.source, place.span.start)
    return { name, next, place, isAnnotation: /^\s*--/.test(lineText) }
  })
  const { name, next, place, isAnnotation } = edges.find((edge) => edge.isAnnotation) ?? edges[0]!
  const hint =
    cycle.length === 1
      ? 'a table that keeps its rows is @kind: append or @kind: merge, and does not read itself'
      : isAnnotation
        ? `this line makes ${name} wait for ${next}; leave it out, or put it on a model that reads both`
        : 'move what they share into a model that both of them read'
  return diagnostic('dependency-cycle', { models: cycle }, place, hint)
}
