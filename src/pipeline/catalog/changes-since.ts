// What a project changes against the manifest of another state of it, such as that of the main branch.

import { columnChanges } from '../plan/next-publication.ts'
import type {
  CatalogModel,
  Changes,
  ColumnChange,
  ModelChange,
  CatalogColumn,
} from '../../core/catalog.ts'
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
  const columns = changesOfColumns(model, before)
  const isSame = model.definition === before.definition && columns.length === 0
  return isSame ? null : { is: 'changed', columns }
}

function changesOfColumns(model: Model, before: ManifestModel): readonly ColumnChange[] {
  const typed = ({ name, type, nullable }: Omit<CatalogColumn, 'description'>) => ({
    name,
    type: nullable ? type : `${type} NOT NULL`,
  })
  return columnChanges(before.columns.map(typed), model.columns.map(typed), false).map(
    ({ column: name, from, to }) => {
      const is = from === null ? 'added' : to === null ? 'removed' : 'changed'
      return { name, is, before: from, after: to }
    },
  )
}

function asCatalogModel({ entity_set: set, columns, ...model }: ManifestModel): CatalogModel {
  const { name, kind, description, owner, tags, depends_on, sources, path } = model
  const own = { name, kind, description, owner, tags, depends_on, sources, path, columns, set }
  return { ...own, checks: [], sql: null }
}
