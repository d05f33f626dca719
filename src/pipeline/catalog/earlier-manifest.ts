// target/manifest.json, as another state of the project has written it, and what of a model is not as it says there.

import type {
  CatalogKind,
  CatalogModel,
  Changes,
  ColumnChange,
  ModelChange,
  CatalogColumn,
} from '../../core/catalog.ts'
import { hashOf } from '../../core/hash.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import { textsOf } from '../../core/relation.ts'
import { columnChanges } from '../plan/next-publication.ts'

interface ManifestDocument {
  readonly schema_version: number
  readonly models: readonly ManifestModel[]
}

interface ManifestModel extends Pick<
  CatalogModel,
  'name' | 'description' | 'owner' | 'tags' | 'depends_on' | 'sources' | 'columns'
> {
  readonly kind: CatalogKind
  readonly path: string
  readonly entity_set: string | null
  readonly key: readonly string[] | null
  readonly definition: string
  /** annotationsOf(); absent in manifests of earlier versions, as is `contents`. */
  readonly annotations?: string
  readonly contents?: string | null
}

export interface Manifest {
  /** By name in lower case. */
  readonly models: ReadonlyMap<string, ManifestModel>
}

/** Throws an Error that says what is wrong with the text. */
export function parseArtifact(text: string): Manifest {
  let document: Partial<ManifestDocument> | null
  try {
    document = JSON.parse(text) as Partial<ManifestDocument> | null
  } catch {
    throw new Error('it is not JSON')
  }
  if (document?.schema_version !== 1 || !Array.isArray(document.models))
    throw new Error('it is not a manifest with schema_version 1')
  const { models } = document as ManifestDocument
  return { models: new Map(models.map((model) => [foldCase(model.name), model])) }
}

/** What the header of a file says beyond what decides the rows. */
export function annotationsOf(model: Model): string {
  const { description, tags, owner, checks, columns, meaning } = model
  const texts = columns.flatMap((column) => {
    const { description: text, ...others } = textsOf(column)
    const more = Object.keys(others).length === 0 ? [] : [others]
    return text === undefined && more.length === 0 ? [] : [[column.name, text ?? '', ...more]]
  })
  const held = checks.map(({ severity, text }) => [severity, text])
  const said = [description, tags, owner, held, texts]
  return hashOf(32, meaning === undefined ? said : [...said, meaning])
}

/** Hashes of the files of seeds, by their paths. */
export type Contents = ReadonlyMap<string, string>

export const contentsOf = (model: Model, contents: Contents): string | null =>
  model.kind === 'seed' ? (contents.get(model.source.path) ?? null) : null

/**
 * What its author changed in a model, in a few words; null: nothing, though what it reads may have changed. White space,
 * comments and the order of files do not count.
 */
export function editOf(model: Model, { models }: Manifest, contents: Contents): string | null {
  const before = models.get(foldCase(model.name))
  if (before === undefined) return 'new'
  if (before.kind !== model.kind) return `kind changed from ${before.kind} to ${model.kind}`
  if (before.definition !== model.definition) return 'definition changed'
  const isExposed = model.expose !== null
  if (isExposed !== (before.entity_set !== null)) return isExposed ? 'exposed' : 'no longer exposed'
  if (before.contents != null && before.contents !== contentsOf(model, contents))
    return `file ${model.source.path} changed`
  if (before.annotations !== undefined && before.annotations !== annotationsOf(model))
    return 'annotations changed'
  return null
}

export function goneFrom(
  { models, failed }: Pick<CompiledProject, 'models' | 'failed'>,
  manifest: Manifest,
): readonly ManifestModel[] {
  const known = new Set([...models.keys(), ...failed.keys()].map(foldCase))
  return [...manifest.models].flatMap(([name, model]) => (known.has(name) ? [] : [model]))
}

interface Compared {
  readonly changes: Changes
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

/** null where it is the same. */
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
