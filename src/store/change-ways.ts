// How changes of tables lead from one version to another.

import { foldCase, type ModelName } from '../core/names.ts'

export interface Versions {
  readonly before: string
  readonly after: string
}

/** A change of a column of a table. */
interface Way extends Versions {
  readonly model: ModelName
  readonly column: string
}

/** How far a model has read a column of a table. */
export interface Position {
  readonly model: ModelName
  readonly column: string
  readonly version: string
}

/** Those that lead on from where models have read, and whether they lead somewhere. */
export function waysFrom<W extends Way>(
  positions: readonly Position[],
  ways: readonly W[],
): { readonly passed: ReadonlySet<W>; readonly leadTo: (position: Position) => boolean } {
  const keyOf = (model: string, column: string, version: string) =>
    [foldCase(model), foldCase(column), version].join('\0')
  const from = new Map<string, W[]>()
  for (const way of ways) {
    const key = keyOf(way.model, way.column, way.before)
    from.set(key, [...(from.get(key) ?? []), way])
  }
  const passed = new Set<W>()
  const reached = new Set(
    positions.map(({ model, column, version }) => keyOf(model, column, version)),
  )
  for (const key of reached)
    for (const way of from.get(key) ?? []) {
      passed.add(way)
      reached.add(keyOf(way.model, way.column, way.after))
    }
  const leadTo = ({ model, column, version }: Position) =>
    reached.has(keyOf(model, column, version))
  return { passed, leadTo }
}
