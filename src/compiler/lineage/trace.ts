// Lineage over all models: from a column back to the columns that come from outside.

import { kinds } from '../../core/kinds.ts'
import type { ColumnOrigin, CompiledProject, Kind, Lineage } from '../../core/model.ts'
import { type ModelName, sameName } from '../../core/names.ts'

/** A column with the columns that it is computed from, which have their own in turn. */
export interface TracedColumn extends ColumnOrigin {
  readonly kind: Kind | 'source'
  /** null: unknown. Empty: it comes from outside (events, seed, source), or is not computed from a column. */
  readonly from: readonly TracedColumn[] | null
}

/** Each column of a model. A column that is reached twice is the same object. */
export function traceModel(project: CompiledProject, model: ModelName): readonly TracedColumn[] {
  const lineage = project.lineage()
  const traced = new Map<string, TracedColumn>()
  return (project.models.get(model)?.columns ?? []).map(({ name: column }) =>
    trace({ project, lineage, traced }, { model, column }),
  )
}

interface Tracing {
  readonly project: CompiledProject
  readonly lineage: ReadonlyMap<ModelName, Lineage>
  readonly traced: Map<string, TracedColumn>
}

function trace(tracing: Tracing, { model, column }: ColumnOrigin): TracedColumn {
  const { project, lineage, traced } = tracing
  const key = `${model}\0${column}`
  const known = traced.get(key)
  if (known !== undefined) return known
  const of = project.models.get(model as ModelName)
  const index = of?.columns.findIndex(({ name }) => sameName(name, column)) ?? -1
  const origins = of === undefined ? [] : (lineage.get(of.name)?.[index] ?? null)
  const from = origins?.map((origin) => trace(tracing, origin)) ?? null
  const found = { model, column, kind: of?.kind ?? ('source' as const), from }
  traced.set(key, found)
  return found
}

/** The fields of events and columns of seeds and sources at the end of all ways; null where one of the ways is not known. */
export function sourcesOf(column: TracedColumn): readonly ColumnOrigin[] | null {
  const found = new Map<string, ColumnOrigin>()
  const open = [column]
  const seen = new Set<TracedColumn>(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { model, column: name, kind, from } = next
    if (from === null) return null
    if (kind === 'source' || !kinds[kind].hasQuery)
      found.set(`${model}\0${name}`, { model, column: name })
    for (const origin of from) {
      if (seen.has(origin)) continue
      seen.add(origin)
      open.push(origin)
    }
  }
  return [...found.values()].toSorted((a, b) => (textOf(a) < textOf(b) ? -1 : 1))
}

const textOf = ({ model, column }: ColumnOrigin) => `${model}.${column}`
