// Whether a model is built, and why: the one place that decides it, for a run and for a plan.
//
// A fingerprint is text with a part for each thing that a model was built from: its definition, the version of each
// model that it reads, the contents of each file that it reads, the day if that counts. Comparing the parts tells what changed. One more names the
// rule of a model whose rows keep theirs (rules/parts.ts). That of an events model says which rows it has: the definition,
// and the last segments that went in, of each spelling that its name has had.

import { definitionOf } from '../../compiler/definition-hash.ts'
import { sampleKey } from '../borrow/sample.ts'
import { hashOf } from '../../core/hash.ts'
import { kinds, takesRange } from '../../core/kinds.ts'
import type { EventsModel, Model } from '../../core/model.ts'
import { type ModelName, targetsOf } from '../../core/names.ts'
import { oldRowsText } from '../build/old-rows.ts'
import { relationType } from '../build/materialize/relation.ts'
import type { WatermarkRange, Slice } from '../../core/step.ts'
import { dayOf, rebuiltAgain } from './volatile.ts'
import { ruleKey, withoutRule } from '../rules/parts.ts'
import { keepsRules, ownKey } from '../rules/rule.ts'
import { recordOf, type RunContext } from '../run-context.ts'
import type { FlushPosition, ModelRecord } from '../../store/state.ts'

/** Nothing here queries DuckDB. */
export type DecisionContext = Pick<
  RunContext,
  | 'project'
  | 'selected'
  | 'state'
  | 'catalog'
  | 'lost'
  | 'fileHashes'
  | 'fullRefresh'
  | 'forwardOnly'
  | 'sample'
  | 'withGaps'
  | 'oldRows'
  | 'startedAt'
>

/** What changes while a run, or a plan of one, goes on. */
export interface PlanProgress {
  /** The version that an earlier model has now; undefined when it was never built. */
  readonly versionOf: (name: ModelName) => string | undefined
  /** Models before this one that will be built, so that nobody knows their version yet. Empty while models are built. */
  readonly pending: ReadonlySet<ModelName>
  /** The last segments that went into events models. */
  readonly positions: ReadonlyMap<ModelName, FlushPosition>
  /** Events models for which events wait in the buffer. Empty once they have been flushed. */
  readonly waiting: ReadonlySet<ModelName>
}

export interface Decision {
  readonly model: Model
  readonly slice: Slice
  readonly fingerprint: string
  /** Why the slice is missing or no longer right, in one line; null when nothing has changed. */
  readonly because: string | null
  /** What has to be done then: build it, or only remove rows that are too old. */
  readonly does: 'build' | 'remove'
}

export function decide(
  context: DecisionContext,
  model: Model,
  slice: Slice,
  progress: PlanProgress,
): Decision {
  const decision = decideToBuild(context, model, slice, progress)
  const old = context.oldRows.get(model.name)
  if (decision.because !== null || old === undefined) return { ...decision, does: 'build' }
  return { ...decision, because: oldRowsText(old), does: 'remove' }
}

function decideToBuild(
  context: DecisionContext,
  model: Model,
  slice: Slice,
  progress: PlanProgress,
): Omit<Decision, 'does'> {
  if (model.kind === 'events') return { model, slice, ...decideEvents(context, model, progress) }
  const parts = partsOf(model, progress.versionOf, context)
  // Rows that are asked for are not what the table has, so what was built before does not count.
  const because =
    slice === 'whole' ? reasonToBuild(context, model, parts, progress.pending) : 'backfill'
  return { model, slice, fingerprint: [...parts, ...ruleIn(context, model)].join('.'), because }
}

/**
 * A decision for each selected model, before any of them is built. What is read from a model that will be
 * built counts as changed, though a merge may turn out to change nothing.
 */
export function decideAll(
  context: DecisionContext,
  { positions, waiting, range }: Asked,
): readonly Decision[] {
  const { project, selected, state } = context
  const pending = new Set<ModelName>()
  const versionOf = (name: ModelName) => state.models.get(name)?.version
  const decisions: Decision[] = []
  for (const name of selected) {
    const model = project.models.get(name)!
    const progress = { versionOf, pending, positions, waiting }
    const slice = range !== null && takesRange(model) ? range : 'whole'
    const decision = decide(context, model, slice, progress)
    if (decision.because !== null) pending.add(name)
    decisions.push(decision)
  }
  return decisions
}

export interface Asked extends Pick<PlanProgress, 'positions' | 'waiting'> {
  /** The range of the column in models of kinds that take one (`--start`, `--end`); null: none. */
  readonly range: WatermarkRange | null
  /** The length of the pieces that the range is built in (`--by`); null: it is built at once. */
  readonly by: string | null
}

/** `state:modified`: the model itself or a file that it reads is not what was built; what it reads does not count. */
export function isModified(
  model: Model,
  { state, fileHashes }: Pick<RunContext, 'state' | 'fileHashes'>,
): boolean {
  const record = state.models.get(model.name)
  if (reasonOfDefinition(model, record) !== null) return true
  if (model.kind === 'events' || record === undefined) return false
  const before = record.fingerprint.split('.').slice(1 + model.dependsOn.length)
  return model.files.some((file, i) => before[i] !== shortHash(fileHashes.get(file)))
}

function decideEvents(
  { state, lost }: DecisionContext,
  model: EventsModel,
  { positions, waiting }: PlanProgress,
): Pick<Decision, 'fingerprint' | 'because'> {
  const last = targetsOf(model.name, positions.keys()).map((target) =>
    [target, ...[...positions.get(target)!].flat()].join(),
  )
  const fingerprint = hashOf(16, [model.definition, last.join(';')])
  const record = state.models.get(model.name)
  const isNew = waiting.has(model.name) || record?.fingerprint !== fingerprint
  const others = lost.has(model.name) ? MISSING : isNew ? 'new events' : null
  return { fingerprint, because: reasonOfDefinition(model, record) ?? others }
}

function reasonToBuild(
  context: DecisionContext,
  model: Model,
  parts: readonly string[],
  pending: ReadonlySet<ModelName>,
): string | null {
  const record = recordOf(context, model)
  const redefined = reasonOfDefinition(model, record ?? undefined)
  if (redefined !== null || record === null) return redefined
  const outside = FROM_OUTSIDE.get(record.fingerprint.split('.')[0])
  if (outside !== undefined) return outside
  if (context.fullRefresh) return 'full refresh'
  const changed = changedInput(model, withoutRule(record.fingerprint), parts, pending)
  if (changed !== null) return changed
  const again = rebuiltAgain(context.project, model)
  if (again === 'always') return 'volatile'
  if (again === 'daily' && !record.fingerprint.split('.').includes(dayPart(context)))
    return 'another day'
  if (context.forwardOnly && keepsRules(model)) return 'forward only'
  const other = otherDefinition(withoutRule(record.fingerprint), parts)
  if (other !== null) return other
  const exists = relationType(context.catalog, model.name) === kinds[model.kind].relation
  if (!exists) return MISSING
  return context.withGaps.has(model.name) ? 'some periods were never built' : null
}

/** The fingerprints of tables whose rows are those of no inputs. */
export const RESTORED = 'restored'
export const ADOPTED = 'adopted'

const FROM_OUTSIDE: ReadonlyMap<string | undefined, string> = new Map([
  [RESTORED, 'rows were restored'],
  [ADOPTED, 'rows were adopted'],
])

const MISSING = 'missing in the warehouse'

/** Why the relation that an earlier run created does not belong to this model; null: it does. */
function reasonOfDefinition(model: Model, record: ModelRecord | undefined): string | null {
  if (record === undefined || record.removed) return 'first build'
  if (record.kind !== model.kind) return `kind changed from ${record.kind} to ${model.kind}`
  return record.definition === model.definition ? null : 'definition changed'
}

function changedInput(
  { dependsOn, files, sources }: Model,
  before: readonly string[],
  parts: readonly string[],
  pending: ReadonlySet<ModelName>,
): string | null {
  const differs = (i: number) => before[i] !== parts[i]
  const upstream = dependsOn.find((name, i) => pending.has(name) || differs(1 + i))
  if (upstream !== undefined) return `upstream ${upstream} changed`
  const file = files.find((_, i) => differs(1 + dependsOn.length + i))
  if (file === undefined) return null
  return `${sources.includes(file) ? 'source' : 'file'} ${file} changed`
}

/** Whether a table is what its SELECT gave of inputs as they were: other rows in these are all that can be new. */
export function isWhatItWas(context: RunContext, model: Model): boolean {
  const record = recordOf(context, model)
  if (record === null || context.fullRefresh || reasonOfDefinition(model, record) !== null)
    return false
  const before = withoutRule(record.fingerprint)
  const now = partsOf(model, context.versionOf, context)
  const files = 1 + model.dependsOn.length
  return (
    before.length === now.length &&
    now.every((part, i) => (i > 0 && i < files) || part === before[i])
  )
}

/** A range that was built by another definition says so, and not by which one the rest of the table was. */
function otherDefinition(before: readonly string[], parts: readonly string[]): string | null {
  if (before[0] === EDITED || before.length !== parts.length) return 'definition changed'
  return before[0] === parts[0] ? null : 'another sample'
}

const EDITED = 'edited'

/**
 * The fingerprint once a range of the table is built: of the rows outside of it nothing is read, so they are still those of
 * the inputs that were read before.
 */
export function ofRange(
  context: DecisionContext,
  model: Model,
  { fingerprint, definition }: ModelRecord,
): string {
  const [first = '', ...inputs] = withoutRule(fingerprint)
  const known = definition === model.definition ? first : EDITED
  return [known, ...inputs, ...ruleIn(context, model)].join('.')
}

function ruleIn(context: DecisionContext, model: Model): readonly string[] {
  if (keepsRules(model)) return [ruleKey(context, model)]
  return 'rule' in model ? [ownKey(model)] : []
}

/**
 * The definition, then one part for each of `dependsOn` and of `files`, which follow from the definition, then the day where
 * that counts: of the begin of the run, so that what is built after midnight is built again.
 */
function partsOf(
  model: Model,
  versionOf: PlanProgress['versionOf'],
  context: DecisionContext,
): readonly string[] {
  const { definition, dependsOn, files } = model
  const { fileHashes, sample, project } = context
  return [
    sample === null ? definition : definitionOf(definition, sampleKey(sample)),
    ...dependsOn.map((name) => shortHash(versionOf(name))),
    ...files.map((file) => shortHash(fileHashes.get(file))),
    ...(rebuiltAgain(project, model) === 'daily' ? [dayPart(context)] : []),
  ]
}

const dayPart = ({ startedAt }: Pick<DecisionContext, 'startedAt'>) => `day-${dayOf(startedAt)}`

const shortHash = (text: string | undefined) => definitionOf(text ?? null).slice(0, 16)
