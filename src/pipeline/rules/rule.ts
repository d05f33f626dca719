// The rule of a model whose rows stay: what the values of its rows follow from. That is its own SELECT, and those of the
// views and rebuilt tables that it reads, down to events, seeds, sources and tables whose rows stay as well.
//
// A table whose changes the model follows is no part of it: rows of it that the edited SELECT makes otherwise are read
// again. An append would not replace what it has of them, so there they count.
//
// Of a view or a table only the columns count that are read of it, where the compiler can tell these apart
// (compiler/lineage/rule-parts.ts).
//
// As text, next to a definition (`<definition>.<own>-<reads>`) and in a fingerprint: `own` is a hash; `reads` has a hash of
// the name and one of the rule of each view and table, and where it is known what is read of it one of what that follows
// from, with a plus sign between them. Two are the same where either hash is. Earlier versions have recorded neither or only the
// first, and what is not known counts as being the same.
//
// A view or table that a run leaves out has the rule by which it was built last, which its fingerprint has: `rule-<own>`.

import type {
  AppendModel,
  CompiledProject,
  MergeModel,
  Model,
  NamesRead,
  PeriodModel,
  RuleParts,
  TableModel,
  ViewModel,
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
  /** What `own` was while columns had their former names. */
  readonly former?: readonly string[]
}

/** What decides which rules are in force. */
export type InForce = Pick<RunContext, 'project' | 'selected' | 'state'>

/** By the models that are selected, which are others in each run. */
const known = new WeakMap<InForce['selected'], Map<RuledModel, Rule>>()

export function ruleOf(context: InForce, model: RuledModel): Rule {
  const { selected } = context
  const ofRun = known.get(selected) ?? new Map<RuledModel, Rule>()
  known.set(selected, ofRun)
  const found = ofRun.get(model)
  if (found !== undefined) return found
  const reads = new Map<string, string>()
  for (const read of madeAnew(context, model)) {
    const { input } = read
    if (isInForce(context, input))
      reads.set(nameKey(input.name), input.rule.slice(0, RULE) + ruleAsRead(read))
    else {
      const built = ownIn(context.state.models.get(input.name)!)
      if (built !== null) reads.set(nameKey(input.name), built.slice(0, RULE))
    }
  }
  const former = (model.formerRules ?? []).map((one) => one.slice(0, OWN))
  const rule = { own: model.rule.slice(0, OWN), reads, former }
  ofRun.set(model, rule)
  return rule
}

/** Whether it is in the warehouse as it is in its file, or will be. */
function isInForce({ selected, state }: InForce, { name, definition }: MadeAnew): boolean {
  const record = state.models.get(name)
  return selected.has(name) || record === undefined || record.definition === definition
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

type MadeAnew = ViewModel | TableModel

const isMadeAnew = (model: Model): model is MadeAnew =>
  model.kind === 'view' || model.kind === 'table'

/** What is read of a view or of a table. */
interface Read {
  readonly input: MadeAnew
  /** Names that its readers name; null: any. */
  names: ReadonlySet<string> | null
}

/** Views and tables that are built from nothing, which the model reads directly or through others of them; by name. */
function madeAnew(context: InForce, model: RuledModel): readonly Read[] {
  const { project } = context
  const found = new Map<ModelName, Read>()
  const visit = (reader: Model, names: NamesRead) => {
    for (const name of readBy(project, reader)) {
      const input = project.models.get(name)
      if (input === undefined || !isMadeAnew(input) || isFollowed(project, model, input)) continue
      const before = found.get(name)
      const all =
        names === null || before?.names === null
          ? null
          : new Set([...(before?.names ?? []), ...names])
      if (before !== undefined && all?.size === before.names?.size) continue
      const read = { input, names: all }
      found.set(name, read)
      visit(input, isInForce(context, input) ? namesThrough(read) : null)
    }
  }
  visit(model, ('names' in model ? model.names : null) ?? null)
  return [...found.values()].toSorted((a, b) => (a.input.name < b.input.name ? -1 : 1))
}

/** The parts that what is read follows from, with the columns that these name; null: they are not told apart. */
function partsRead({ input: { parts, columns }, names }: Read): RuleParts | null {
  if (parts === undefined || names === null) return null
  const read = new Set<number>()
  const add = (some: NamesRead) => {
    // What is not known may name all of them.
    const isNamed = (name: string) =>
      some === null || some.includes(name) || some.includes(`${name}.`)
    for (const [i, { name }] of columns.entries()) {
      if (read.has(i) || !isNamed(foldCase(name))) continue
      read.add(i)
      add(parts.columns[i]!.names)
    }
  }
  add([...names])
  // An alias may be meant wherever the query names a column.
  add(parts.rest.names)
  return { ...parts, columns: parts.columns.filter((_, i) => read.has(i)) }
}

/** Names that are read of what the input itself reads. */
function namesThrough(read: Read): NamesRead {
  const parts = partsRead(read)
  if (parts === null) return read.input.names ?? null
  const each = [parts.rest, ...parts.columns].map(({ names }) => names)
  return each.some((names) => names === null) ? null : each.flatMap((names) => names ?? [])
}

/** Empty: nobody knows what is read of it. */
function ruleAsRead(read: Read): string {
  const parts = partsRead(read)
  if (parts === null) return ''
  return hashOf(16, [parts.rest.rule, parts.columns.map(({ rule }) => rule)]).slice(0, RULE)
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

/** `other`: the later one, to which the former names are known. */
export const isSameRule = (one: Rule, other: Rule): boolean =>
  isSameOwn(one, other) && changedReads(one, other).length === 0

export const isSameOwn = (one: Rule, other: Rule): boolean =>
  one.own === other.own || other.former?.includes(one.own) === true

/** Hashes of the names of what both read, by other rules. What only one of them reads is said by the SELECT that names it. */
function changedReads({ reads: before }: Rule, { reads: now }: Rule): readonly string[] {
  return [...(now ?? [])].flatMap(([name, rule]) => {
    const other = before?.get(name)
    return other === undefined || isSameRead(other, rule) ? [] : [name]
  })
}

/** As a whole, or in what is read of it where both say so. */
function isSameRead(one: string, other: string): boolean {
  const [asRead, otherAsRead] = [one.slice(RULE), other.slice(RULE)]
  return one.slice(0, RULE) === other.slice(0, RULE) || (asRead !== '' && asRead === otherAsRead)
}

/** Models that had another rule then, where the own rule of the model is the same; by name. */
export function changedInputs(
  context: InForce,
  model: RuledModel,
  rule: Rule,
): readonly ModelName[] {
  const changed = new Set(changedReads(rule, ruleOf(context, model)))
  return madeAnew(context, model).flatMap(({ input: { name } }) =>
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
