// What a project changes against the manifest of another state of it, such as that of the main branch.

import type { CatalogModel, Changes, ColumnChange, ModelChange } from '../../core/catalog.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import { goneFrom, type ManifestModel, parseArtifact } from './manifest.ts'

interface Compared {
  readonly changes: Changes
  /** Models as the manifest has them. */
  readonly removed: readonly CatalogModel[]
}

/** `against` names the manifest. Throws an Error that says what is wrong with `text`. */
export function changesSince(project: CompiledProject, text: string, against: string): Compared {
  const manifest = parseArtifact(text)
  const before = manifest.models
  const models = new Map<string, ModelChange>()
  for (const model of project.models.values()) {
    const old = before.get(foldCase(model.name))
    const change = old === undefined ? added : changeOf(model, old)
    if (change !== null) models.set(model.name, change)
    else if (model.dependsOn.some((name) => models.has(name)))
      models.set(model.name, { is: 'affected', columns: [] })
  }
  const gone = goneFrom(project, manifest)
  for (const { name } of gone) models.set(name, { is: 'removed', columns: [] })
  return {
    changes: { against, models: Object.fromEntries(models) },
    removed: gone.map(asCatalogModel),
  }
}

const added: ModelChange = { is: 'added', columns: [] }

/** null: it is the same. */
function changeOf(model: Model, before: ManifestModel): ModelChange | null {
  const columns = columnChanges(model, before)
  const isSame = model.definition === before.definition && columns.length === 0
  return isSame ? null : { is: 'changed', columns }
}

function columnChanges(model: Model, before: ManifestModel): readonly ColumnChange[] {
  const typeOf = ({ type, nullable }: { type: string; nullable: boolean }) =>
    nullable ? type : `${type} NOT NULL`
  const old = new Map(before.columns.map((column) => [foldCase(column.name), column]))
  const found = model.columns.flatMap((column): readonly ColumnChange[] => {
    const earlier = old.get(foldCase(column.name))
    old.delete(foldCase(column.name))
    const { name } = column
    const after = typeOf(column)
    if (earlier === undefined) return [{ name, is: 'added', before: null, after }]
    const was = typeOf(earlier)
    return was === after ? [] : [{ name, is: 'changed', before: was, after }]
  })
  const removed = Array.from(old.values(), (column): ColumnChange => ({
    name: column.name,
    is: 'removed',
    before: typeOf(column),
    after: null,
  }))
  return [...found, ...removed]
}

function asCatalogModel({ entity_set: set, columns, ...model }: ManifestModel): CatalogModel {
  const { name, kind, description, owner, tags, depends_on, sources, path } = model
  const own = { name, kind, description, owner, tags, depends_on, sources, path, columns, set }
  return { ...own, checks: [], sql: null }
}
