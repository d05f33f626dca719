// The rule of a model whose rows stay: what the values of its rows follow from. That is its own SELECT, and those of the
// views and rebuilt tables that it reads, down to events, seeds, sources and tables whose rows stay as well.
//
// A table whose changes the model follows is no part of it: rows of it that the edited SELECT makes otherwise are read
// again. An append would not replace what it has of them, so there they count.
//
// As text, next to a definition (`<definition>.<own>-<reads>`) and in a fingerprint: `own` is a hash; `reads` has a hash of
// the name and one of the rule of each view and table, with a plus sign between them. Earlier versions have recorded
// neither or only the first, and what is not known counts as being the same.
//
// A view or table that a run leaves out has the rule by which it was built last, which its fingerprint has: `rule-<own>`.

import { kinds } from '../../core/kinds.ts'
import type {
  AppendModel,
  CompiledProject,
  MergeModel,
  Model,
  PeriodModel,
} from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { hashOf } from '../../core/hash.ts'
import type { ModelRecord } from '../../store/state.ts'
import { followingOf } from '../changes/following.ts'
import type { RunContext } from '../run-context.ts'

/** Kinds whose rows keep the rule that made them, until it is read again. Past versions of an scd2 are history. */
export type RuledModel = AppendModel | MergeModel | PeriodModel

export const keepsRules = (model: Model): model is RuledModel =>
  model.kind === 'append' || model.kind === 'merge' || model.kind === 'period'

export interface Rule {
  readonly own: string
  /** Hashes of rules by those of names; null: not known. */
  readonly reads: ReadonlyMap<string, string> | null
}

/** What decides which rules are in force. */
export type InForce = Pick<RunContext, 'project' | 'selected' | 'state'>

/** By the models that are selected, which are others in each run. */
const known = new WeakMap<InForce['selected'], Map<RuledModel, Rule>>()

export function ruleOf(context: InForce, model: RuledModel): Rule {
  const { project, selected } = context
  const ofRun = known.get(selected) ?? new Map<RuledModel, Rule>()
  known.set(selected, ofRun)
  const found = ofRun.get(model)
  if (found !== undefined) return found
  const reads = new Map<string, string>()
  for (const input of madeAnew(project, model)) {
    const rule = ruleInForce(context, input)
    if (rule !== null) reads.set(nameKey(input.name), rule.slice(0, RULE))
  }
  const rule = { own: model.rule.slice(0, OWN), reads }
  ofRun.set(model, rule)
  return rule
}

/** null: not known. */
function ruleInForce(
  { selected, state }: InForce,
  { name, rule, definition }: MadeAnew,
): string | null {
  const record = state.models.get(name)
  if (selected.has(name) || record === undefined || record.definition === definition) return rule
  return ownIn(record)
}

/** For the fingerprint of a model. */
export const ownKey = ({ rule }: { readonly rule: string }): string => `rule-${rule.slice(0, OWN)}`

/** null: an earlier version of eider has built it. */
const ownIn = ({ fingerprint }: ModelRecord): string | null =>
  partOfRule(fingerprint)?.split('-')[1] ?? null

export const partOfRule = (fingerprint: string): string | undefined =>
  fingerprint.split('.').find((part) => part.startsWith('rule-'))

const OWN = 16
const NAME = 8
const RULE = 12

const nameKey = (name: ModelName): string => hashOf(16, [foldCase(name)]).slice(0, NAME)

type MadeAnew = Model & { readonly rule: string }

/** Views and tables that are built from nothing, which the model reads directly or through others of them; by name. */
function madeAnew(project: CompiledProject, model: RuledModel): readonly MadeAnew[] {
  const found = new Map<ModelName, MadeAnew>()
  const visit = (reader: Model) => {
    for (const name of readBy(project, reader)) {
      const input = project.models.get(name)
      const isMade = input !== undefined && 'rule' in input && !kinds[input.kind].keepsRows
      if (!isMade || found.has(name) || isFollowed(project, model, input)) continue
      found.set(name, input)
      visit(input)
    }
  }
  visit(model)
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Without those that only its checks read. */
function readBy(
  project: CompiledProject,
  { name, dependsOn, checks }: Model,
): readonly ModelName[] {
  const checked = new Set(
    checks.flatMap(({ test }) => (test.is === 'references' ? [test.model] : [])),
  )
  if (checked.size === 0) return dependsOn
  const uses = new Set(
    project
      .trails()
      .get(name)
      ?.uses.map((use) => use.name),
  )
  return dependsOn.filter((input) => !checked.has(input) || uses.has(input))
}

/** Whether all that an edit of the table changes is read again, and put in the place of what there is. */
function isFollowed(project: CompiledProject, model: RuledModel, input: Model): boolean {
  if (model.kind === 'append' || input.kind !== 'table') return false
  const following = followingOf(project, model)
  if (following === null || following.looksAround) return false
  const isIt = (name: string) => foldCase(name) === foldCase(input.name)
  return (
    following.followed.some((one) => isIt(one.model)) &&
    !following.others.some((one) => isIt(one.name))
  )
}

export const isSameRule = (one: Rule, other: Rule): boolean =>
  one.own === other.own && changedReads(one, other).length === 0

/** Hashes of the names of what both read, by other rules. What only one of them reads is said by the SELECT that names it. */
function changedReads({ reads: before }: Rule, { reads: now }: Rule): readonly string[] {
  return [...(now ?? [])].flatMap(([name, rule]) => {
    const other = before?.get(name)
    return other === undefined || other === rule ? [] : [name]
  })
}

/** Models that had another rule then, where the own rule of the model is the same; by name. */
export function changedInputs(
  context: InForce,
  model: RuledModel,
  rule: Rule,
): readonly ModelName[] {
  const changed = new Set(changedReads(rule, ruleOf(context, model)))
  return madeAnew(context.project, model).flatMap(({ name }) =>
    changed.has(nameKey(name)) ? [name] : [],
  )
}

export function textOfRule({ own, reads }: Rule): string {
  if (reads === null) return own
  return `${own}-${Array.from(reads, ([name, rule]) => name + rule).join('+')}`
}

/** null: there is none. */
export function ruleFrom(text: string | null): Rule | null {
  const [own = '', reads] = text?.split('-') ?? []
  if (own === '') return null
  return { own, reads: reads === undefined ? null : readsFrom(reads) }
}

const readsFrom = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split('+')
      .filter((part) => part !== '')
      .map((part) => [part.slice(0, NAME), part.slice(NAME)]),
  )
