// What a run has to build, and why. Pure: states and file hashes are given.
//
// A fingerprint is text with a part for each thing that a model was built from: its definition, the version of each
// model that it reads, the contents of each file that it reads. Comparing the parts tells what changed.

import type { CompiledProject, Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { definitionOf } from './definition.ts'

/** What is remembered of a model that was built. */
export interface ModelState {
  readonly fingerprint: string
  /** Changes when the rows do. */
  readonly version: string
  readonly kind: string
}

export type Action = 'build' | 'unchanged'

export interface Step {
  readonly model: Model
  readonly action: Action
  /** One line. */
  readonly because: string
}

export interface Plan {
  readonly steps: readonly Step[]
}

/**
 * What `model` is built from. `fileHashes` holds a hash of the contents for each name in `model.files`. Letters, digits
 * and dots only.
 */
export function fingerprint(
  model: Model,
  upstreamVersions: ReadonlyMap<ModelName, string>,
  fileHashes: ReadonlyMap<string, string>,
): string {
  return partsOf(model, upstreamVersions, fileHashes).join('.')
}

/** A step for each model, in the order of `models`. A model is built when anything that it reads is. */
export function plan(
  models: CompiledProject['models'],
  states: ReadonlyMap<ModelName, ModelState>,
  fileHashes: ReadonlyMap<string, string>,
): Plan {
  const versions = new Map(Array.from(states, ([name, { version }]) => [name, version]))
  const built = new Set<ModelName>()
  const steps = Array.from(models.values(), (model): Step => {
    const parts = partsOf(model, versions, fileHashes)
    const because = reasonToBuild(model, states.get(model.name), parts, built)
    if (because === null) return { model, action: 'unchanged', because: 'nothing changed' }
    built.add(model.name)
    return { model, action: 'build', because }
  })
  return { steps }
}

function reasonToBuild(
  model: Model,
  state: ModelState | undefined,
  parts: readonly string[],
  built: ReadonlySet<ModelName>,
): string | null {
  if (state === undefined) return 'never built'
  if (state.kind !== model.kind) return `kind changed from ${state.kind} to ${model.kind}`
  const before = state.fingerprint.split('.')
  if (before[0] !== parts[0] || before.length !== parts.length) return 'definition changed'
  const upstream = model.dependsOn.find(
    (name, i) => built.has(name) || before[1 + i] !== parts[1 + i],
  )
  if (upstream !== undefined) return `upstream ${upstream} changed`
  if (parts.some((part, i) => part !== before[i])) return 'reads files that changed'
  return model.volatile ? 'volatile' : null
}

/** The definition, then one part for each of `dependsOn` and of `files`, which follow from the definition. */
function partsOf(
  { definition, dependsOn, files }: Model,
  upstreamVersions: ReadonlyMap<ModelName, string>,
  fileHashes: ReadonlyMap<string, string>,
): readonly string[] {
  return [
    definition,
    ...dependsOn.map((name) => shortHash(upstreamVersions.get(name))),
    ...files.map((file) => shortHash(fileHashes.get(file))),
  ]
}

const shortHash = (text: string | undefined) => definitionOf(text ?? null).slice(0, 16)
