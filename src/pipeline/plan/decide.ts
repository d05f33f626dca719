// What a run has to build, and why. Pure: states and file hashes are given. `run` and `plan` both ask here.
//
// A fingerprint is text with a part for each thing that a model was built from: its definition, the version of each
// model that it reads, the contents of each file that it reads. Comparing the parts tells what changed.

import type { Model } from '../../core/model.ts'
import type { ModelName } from '../../core/names.ts'
import { definitionOf } from '../../compiler/definition.ts'

/** What is remembered of a model that was built. */
export interface ModelState {
  readonly fingerprint: string
  /** Changes when the rows do. */
  readonly version: string
  readonly definition: string
  readonly kind: string
  /** True while the project does not have the model. */
  readonly removed: boolean
}

/** What a decision looks at. */
export interface Situation {
  readonly states: ReadonlyMap<ModelName, ModelState>
  /** Versions of the models that come before, as far as they are known. */
  readonly versions: ReadonlyMap<ModelName, string>
  /** Models before this one that will be built, so that nobody knows their version yet. Empty in a run. */
  readonly pending: ReadonlySet<ModelName>
  /** Hash of the contents for each name in `model.files`. */
  readonly fileHashes: ReadonlyMap<string, string>
  readonly fullRefresh: boolean
  /** Whether the warehouse has the relation that the model would make. */
  readonly exists: (model: Model) => boolean
  /** Events models for which events wait in the buffer or have just been flushed. */
  readonly withNewEvents: ReadonlySet<ModelName>
}

export type Action = 'build' | 'unchanged'

/** Why a model must be built, in one line; null when it is fresh. */
export interface Decision {
  readonly fingerprint: string
  readonly because: string | null
}

export interface Step {
  readonly model: Model
  readonly action: Action
  readonly because: string
}

export interface Plan {
  readonly steps: readonly Step[]
}

/** Letters, digits and dots only. */
export function fingerprint(
  model: Model,
  upstreamVersions: ReadonlyMap<ModelName, string>,
  fileHashes: ReadonlyMap<string, string>,
): string {
  return partsOf(model, upstreamVersions, fileHashes).join('.')
}

/** The one place that says whether a model is built, and why. */
export function decide(model: Model, situation: Situation): Decision {
  const parts = partsOf(model, situation.versions, situation.fileHashes)
  const state = situation.states.get(model.name)
  const because = reasonToBuild(model, state, parts, situation)
  return { fingerprint: parts.join('.'), because }
}

/**
 * A step for each of `models`, which are in order. What is read from a model that will be built counts as changed,
 * though a merge may turn out to change nothing.
 */
export function plan(
  models: Iterable<Model>,
  given: Omit<Situation, 'versions' | 'pending'>,
): Plan {
  const versions = new Map(Array.from(given.states, ([name, { version }]) => [name, version]))
  const pending = new Set<ModelName>()
  const steps = Array.from(models, (model): Step => {
    const { because } = decide(model, { ...given, versions, pending })
    if (because === null) return { model, action: 'unchanged', because: freshness(model) }
    pending.add(model.name)
    return { model, action: 'build', because }
  })
  return { steps }
}

/** What is said of a model that is not built. */
export const freshness = ({ kind }: Model): string =>
  kind === 'events' ? 'no new events' : 'nothing changed'

function reasonToBuild(
  model: Model,
  state: ModelState | undefined,
  parts: readonly string[],
  situation: Situation,
): string | null {
  if (state === undefined || state.removed) return 'first build'
  if (state.kind !== model.kind) return `kind changed from ${state.kind} to ${model.kind}`
  if (state.definition !== model.definition) return 'definition changed'
  if (model.kind === 'events') return situation.withNewEvents.has(model.name) ? 'new events' : null
  if (situation.fullRefresh) return 'full refresh'
  const changed = changedInput(model, state.fingerprint.split('.'), parts, situation.pending)
  if (changed !== null) return changed
  if (model.volatile) return 'volatile'
  return situation.exists(model) ? null : 'missing in the warehouse'
}

/** `state:modified`: the model itself or a file that it reads is not what was built; what it reads does not count. */
export function isModified(
  model: Model,
  { states, fileHashes }: Pick<Situation, 'states' | 'fileHashes'>,
): boolean {
  const state = states.get(model.name)
  if (state === undefined || state.removed) return true
  if (state.kind !== model.kind || state.definition !== model.definition) return true
  if (model.kind === 'events') return false
  const before = state.fingerprint.split('.').slice(1 + model.dependsOn.length)
  return model.files.some((file, i) => before[i] !== shortHash(fileHashes.get(file)))
}

function changedInput(
  { dependsOn, files }: Model,
  before: readonly string[],
  parts: readonly string[],
  pending: ReadonlySet<ModelName>,
): string | null {
  const differs = (i: number) => before[i] !== parts[i]
  const upstream = dependsOn.find((name, i) => pending.has(name) || differs(1 + i))
  if (upstream !== undefined) return `upstream ${upstream} changed`
  const file = files.find((_, i) => differs(1 + dependsOn.length + i))
  if (file !== undefined) return `file ${file} changed`
  return before.length === parts.length && !differs(0) ? null : 'definition changed'
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
