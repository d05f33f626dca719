// target/manifest.json, as another state of the project has written it, and what of a model is not as it says there.

import type { CatalogKind, CatalogModel } from '../../core/catalog.ts'
import { hashOf } from '../../core/hash.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'

interface ManifestDocument {
  readonly schema_version: number
  readonly models: readonly ManifestModel[]
}

export interface ManifestModel extends Pick<
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
export function annotationsOf({ description, tags, owner, checks, columns }: Model): string {
  const texts = columns.flatMap(({ name, description: text }) =>
    text === undefined ? [] : [[name, text]],
  )
  const held = checks.map(({ severity, text }) => [severity, text])
  return hashOf(32, [description, tags, owner, held, texts])
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
