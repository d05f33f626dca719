// What the catalog of a published state says of its sets and of the models of the project, an object a line.

import { knownModels } from '../../compiler/select.ts'
import type {
  CatalogColumn,
  CatalogModel,
  CatalogModelColumn,
  CatalogSet,
  CatalogSource,
} from '../../core/catalog.ts'
import type { CompiledExternal } from '../../core/sources.ts'
import type { CompiledProject, FailedModel, Lineage, Model } from '../../core/model.ts'
import { entitySetName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { PublishedRelation } from '../../core/snapshot.ts'

/** How much is said of models, from all to least. */
export const DETAILS = ['sql', 'lineage', 'columns', 'names'] as const
type Detail = (typeof DETAILS)[number]

export function describeSet(relation: PublishedRelation): CatalogSet {
  const { model, description, rows, bytes, key, columns } = relation
  const name = entitySetName(model)
  return { name, model, description, rows, bytes, key, columns: columns.map(describeColumn) }
}

export function describeModels(
  project: CompiledProject,
  detail: Detail = 'sql',
): readonly CatalogModel[] {
  const has = (part: Detail) => DETAILS.indexOf(part) >= DETAILS.indexOf(detail)
  const lineage = has('lineage') ? project.lineage() : new Map<string, Lineage>()
  return Array.from(knownModels(project).values(), (model) => {
    const described = describeModel(model)
    const of = lineage.get(model.name) ?? []
    return {
      ...described,
      columns: has('columns') ? columnsOf(model, of) : [],
      sql: has('sql') ? described.sql : null,
    }
  })
}

export const describeSources = ({ external }: CompiledProject): readonly CatalogSource[] =>
  (external?.tables ?? []).map(describeSource)

/** A model that does not compile is described by what its file says all the same. */
function describeModel(model: Model | FailedModel): CatalogModel {
  const { name, kind, tags, dependsOn, sources, source } = model
  const compiled = 'mistakes' in model ? null : model
  const checks = (compiled?.checks ?? []).map(({ severity, text, on }) => ({
    severity,
    text: on === undefined ? text : `${on}: ${text}`,
  }))
  return {
    name,
    kind,
    description: compiled?.description ?? null,
    owner: compiled?.owner ?? null,
    tags,
    set: compiled?.expose == null ? null : entitySetName(name),
    depends_on: dependsOn,
    sources,
    columns: [],
    checks,
    path: source.path,
    // The text of a seed is data.
    sql: kind === 'seed' ? null : source.text,
  }
}

function columnsOf(model: Model | FailedModel, lineage: Lineage): readonly CatalogModelColumn[] {
  if ('mistakes' in model) return []
  return model.columns.map((column, i) => ({
    ...describeColumn(column),
    lineage: lineage[i] ?? null,
  }))
}

function describeColumn({ name, type, nullable, description }: Column): CatalogColumn {
  return { name, type, nullable, ...(description === undefined ? {} : { description }) }
}

const describeSource = ({ name, columns }: CompiledExternal): CatalogSource => ({
  name,
  columns: columns.map(describeColumn),
})
