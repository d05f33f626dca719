// A catalog for strangers: nothing of models that are not exposed, and neither paths, owners, SQL nor runs. Where values
// come through models that are left out, they come from the exposed ones before those.

import type {
  Catalog,
  CatalogModel,
  CatalogModelColumn,
  CatalogOrigin,
  CatalogState,
} from '../core/catalog.ts'

/** Yields after each model. */
export function* exposedModels(
  models: readonly CatalogModel[],
  sets: ReadonlySet<string>,
): Generator<CatalogModel, void> {
  const byName = new Map(models.map((model) => [model.name, model]))
  const isExposed = (name: string) => sets.has(name)
  const above = createDependencies(byName, isExposed)
  const origins = createOrigins(byName, isExposed)
  for (const model of models) {
    const depends = above(model.name)
    if (!isExposed(model.name)) continue
    yield {
      name: model.name,
      kind: model.kind,
      description: model.description,
      owner: null,
      tags: model.tags,
      set: model.set,
      depends_on: [...depends],
      sources: [],
      columns: model.columns.map((column) => ({ ...column, lineage: origins(column) })),
      checks: [],
      path: null,
      sql: null,
    }
  }
}

export function exposedStates(
  states: Catalog['states'],
  sets: ReadonlySet<string>,
): Catalog['states'] {
  const shown = Object.entries(states).filter(([name]) => sets.has(name))
  const wordless = ([name, state]: readonly [string, CatalogState]) =>
    [name, { ...state, because: '', warnings: [] }] as const
  return Object.fromEntries(shown.map(wordless))
}

/** The exposed models that a model reads, itself or by way of others. Ask in the order of the catalog. */
function createDependencies(
  byName: ReadonlyMap<string, CatalogModel>,
  isExposed: (name: string) => boolean,
) {
  const known = new Map<string, ReadonlySet<string>>()
  return (name: string): ReadonlySet<string> => {
    const found = new Set<string>()
    for (const read of byName.get(name)?.depends_on ?? [])
      if (isExposed(read)) found.add(read)
      else for (const one of known.get(read) ?? []) found.add(one)
    known.set(name, found)
    return found
  }
}

function createOrigins(
  byName: ReadonlyMap<string, CatalogModel>,
  isExposed: (name: string) => boolean,
) {
  const known = new Map<string, readonly CatalogOrigin[] | null>()
  const columns = new Map<string, ReadonlyMap<string, CatalogModelColumn>>()

  function columnOf({ model, column }: CatalogOrigin): CatalogModelColumn | undefined {
    const found =
      columns.get(model) ??
      new Map((byName.get(model)?.columns ?? []).map((one) => [one.name.toLowerCase(), one]))
    columns.set(model, found)
    return found.get(column.toLowerCase())
  }

  function through(origin: CatalogOrigin): readonly CatalogOrigin[] | null {
    if (isExposed(origin.model)) return [origin]
    const key = `${origin.model}.${origin.column}`
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const column = columnOf(origin)
    // A table of a source, from which no exposed model has its values.
    const found = column === undefined ? [] : originsOf(column)
    known.set(key, found)
    return found
  }

  function originsOf({ lineage }: CatalogModelColumn): readonly CatalogOrigin[] | null {
    if (lineage === null) return null
    const found = new Map<string, CatalogOrigin>()
    for (const origin of lineage) {
      const all = through(origin)
      if (all === null) return null
      for (const one of all) found.set(`${one.model}.${one.column}`, one)
    }
    return [...found.values()]
  }

  return originsOf
}
