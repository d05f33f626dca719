// Which values of the columns of a table say which of its rows a changed row of an input touches: its address. A run then
// makes the rows with the touched addresses anew, and leaves the others as they are.

import type { Followed } from './follow.ts'
import type { AddressProblem, Addresses, Detour, Trail, TrailStep } from '../../core/addresses.ts'
import { kinds } from '../../core/kinds.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject, Macro, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { type ColumnType, hasOneText, isWholeNumber } from '../../core/relation.ts'
import type { ModelBody } from '../../core/sql.ts'
import { nameOf, tokenize } from '../sql/tokens.ts'
import { isCall, isCalling, PART_OF, typeAfter } from './calls.ts'

/** `of`: the model in whose file the line is. */
export interface WhyRebuilt extends AddressProblem {
  readonly of: ModelName
}

/** Rows of the input with a value lead to rows of the table with this value in `address`, and to no others. */
export interface AddressKey extends Omit<Followed, 'model'> {
  readonly address: string
  /** In their order: the value is looked up before it is one of the address. */
  readonly via: readonly Lookup[]
}

/** Rows of a relation that have the value in the one column lead on by the other one. */
interface Lookup extends Followed {
  readonly from: string
}

/** A stored table, and a place at which the model, or a view that it looks through, reads it. */
interface AddressedInput {
  readonly model: ModelName
  /** Empty: where the input changes, the table is built anew. */
  readonly keys: readonly AddressKey[]
  /** Why there are no keys. */
  readonly because: WhyRebuilt | null
}

interface Addressing {
  readonly inputs: readonly AddressedInput[]
  /** Views that it looks through. */
  readonly views: readonly ModelName[]
  /** Why the table is always built anew; null: it depends on what changes. */
  readonly never: WhyRebuilt | null
}

const known = new WeakMap<CompiledProject, Map<Model, Addressing>>()

export function addressingOf(project: CompiledProject, model: Model): Addressing {
  const ofProject = known.get(project) ?? new Map<Model, Addressing>()
  known.set(project, ofProject)
  const found = ofProject.get(model) ?? findAddressing(project, model)
  ofProject.set(model, found)
  return found
}

function findAddressing(project: CompiledProject, model: Model): Addressing {
  const found = look(project, model, new Set())
  const inputs = found.inputs.map(({ keys, ...input }) => ({
    ...input,
    keys: best(project, input.model, keys),
  }))
  const said = (text: string) => ({ text, line: null, of: model.name })
  // One that is read twice is followed where both places are told.
  const untold = inputs.filter(({ keys }) => keys.length === 0)
  const isTold = inputs.some(({ model: name }) => !untold.some((one) => one.model === name))
  const never = found.never ?? (isTold ? null : (untold[0]?.because ?? null))
  return {
    ...found,
    inputs,
    never: inputs.length === 0 ? (never ?? said('nothing that a run builds is read')) : never,
  }
}

function look(project: CompiledProject, model: Model, open: ReadonlySet<ModelName>): Addressing {
  const said = (text: string): WhyRebuilt => ({ text, line: null, of: model.name })
  const placed = (problem: AddressProblem) => ({ ...problem, of: model.name })
  const addresses = project.trails().get(model.name)?.addresses
  const reason = neverOf(project, model)
  const never = reason === null ? null : said(reason)
  if (addresses === undefined)
    return { inputs: [], views: [], never: never ?? said('its query is not understood') }
  const inputs: AddressedInput[] = []
  const views: ModelName[] = []
  let inside: WhyRebuilt | null = null
  const names = new Map(Array.from(project.models.keys(), (name) => [foldCase(name), name]))
  const modelOf = (name: string) =>
    project.models.get(names.get(foldCase(name)) ?? (name as ModelName))
  // Who reads a view may read none of its columns to which a place leads by itself.
  const leadsOf = leadsIn(model, addresses, { modelOf, isView: open.size > 0 })
  for (const [use, { name }] of addresses.uses.entries()) {
    const input = modelOf(name)
    if (input === undefined)
      return { inputs, views, never: never ?? said(`${name} is not built by a run`) }
    const keys = leadsOf(use)
    const [first] = addresses.problems
    const problem =
      first === undefined
        ? said(`no column says which rows of ${input.name} a row is made of`)
        : placed(first)
    if (kinds[input.kind].relation === 'view' && !open.has(input.name)) {
      const through = look(project, input, new Set([...open, model.name]))
      views.push(input.name, ...through.views)
      inside ??= through.never
      inputs.push(...through.inputs.map((one) => throughView(one, keys, problem)))
      continue
    }
    const own = keys.flatMap(({ trail, ...rest }) =>
      keepsValue(trail, rest.via[0]?.type ?? rest.type) ? [{ ...rest, ...part(trail) }] : [],
    )
    inputs.push({ model: input.name, keys: own, because: own.length > 0 ? null : problem })
  }
  return {
    inputs,
    views,
    never: never ?? (addresses.whole === null ? inside : placed(addresses.whole)),
  }
}

const part = ({ column, steps }: Trail) => ({ column, steps })

interface Lead extends Pick<AddressKey, 'address' | 'type' | 'via'> {
  readonly trail: Trail
}

/** What leads from a place to the result: a column of it, or else, and of a view too, the shortest of the ways by lookups. */
function leadsIn(
  { columns }: Model,
  addresses: Addresses,
  {
    modelOf,
    isView,
  }: {
    readonly modelOf: (name: string) => Model | undefined
    readonly isView: boolean
  },
): (use: number) => readonly Lead[] {
  const direct = (use: number) =>
    columns.flatMap(({ name: address, type }, i) =>
      (addresses.columns[i] ?? [])
        .filter((trail) => trail.use === use)
        .map((trail) => ({ address, type, trail, via: [] })),
    )
  const known = new Map<string, readonly Lead[]>()
  const byLookups = (use: number, count: number): readonly Lead[] => {
    if (count === 0) return direct(use)
    const key = `${use} ${count}`
    const found = known.get(key) ?? addresses.detours.flatMap((one) => lookedUp(one, use, count))
    known.set(key, found)
    return found
  }
  const lookedUp = ({ trail, through, from }: Detour, use: number, count: number) => {
    const other = trail.use === use ? modelOf(addresses.uses[through]!.name) : undefined
    const type = other?.columns.find((one) => sameName(one.name, from))?.type
    if (other === undefined || type === undefined) return []
    return byLookups(through, count - 1)
      .filter((lead) => keepsValue(lead.trail, lead.via[0]?.type ?? lead.type))
      .map((lead) => {
        const lookup = { model: other.name, from, type, ...part(lead.trail) }
        return { ...lead, trail, via: [lookup, ...lead.via] }
      })
  }
  return (use) => {
    const own = direct(use)
    if (own.length > 0 && !isView) return own
    for (let count = 1; count < addresses.uses.length; count++) {
      const found = byLookups(use, count)
      if (found.length > 0) return [...own, ...found]
    }
    return own
  }
}

/** What leads from a table to a column of the view, and from there on. */
function throughView(
  { model, keys, because }: AddressedInput,
  leads: readonly Lead[],
  problem: WhyRebuilt,
): AddressedInput {
  const own = leads.flatMap(({ trail, ...lead }) =>
    keys
      .filter(
        (key) =>
          sameName(key.address, trail.column) &&
          keepsValue({ ...trail, type: key.type }, lead.via[0]?.type ?? lead.type),
      )
      .map((key) => ({ ...lead, ...continued(key, trail.steps, lead.via) })),
  )
  return { model, keys: own, because: own.length > 0 ? null : (because ?? problem) }
}

/** The value of the view goes through these steps, and is looked up by those that follow. */
function continued(
  { column, steps, via }: AddressKey,
  more: readonly TrailStep[],
  next: readonly Lookup[],
): Pick<AddressKey, 'column' | 'steps' | 'via'> {
  const last = via.at(-1)
  if (last === undefined) return { column, steps: [...steps, ...more], via: next }
  const inView = { ...last, steps: [...last.steps, ...more] }
  return { column, steps, via: [...via.slice(0, -1), inView, ...next] }
}

/** Whether the value of the input, by these steps, is the one that stands in the address. */
function keepsValue({ steps, type = '' }: Trail, address: ColumnType): boolean {
  if (!hasOneText(address)) return false
  const last = steps.at(-1)
  const casts = steps.flatMap((step) => ('cast' in step ? [step.cast] : []))
  if (last === undefined || 'cast' in last || isCalling(last)) {
    const form = typeAfter(type, steps)
    return form === address || (form !== null && isWholeNumber(form) && isWholeNumber(address))
  }
  return [type, ...casts, address].every((one) => TIME.test(one))
}

const TIME = /^(?:DATE|TIMESTAMP(?:_\w+| WITH TIME ZONE)?)$/

/** The few that tell most rows apart: what names a row of the input alone, else what is no text. */
function best(
  project: CompiledProject,
  input: ModelName,
  keys: readonly AddressKey[],
): readonly AddressKey[] {
  const model = project.models.get(input)
  const added = model === undefined ? [] : kinds[model.kind].addedColumns.map(({ name }) => name)
  const own = model === undefined ? [] : rowKeyOf(model)
  const isOwn = ({ column, steps }: AddressKey) =>
    steps.length === 0 && own.some((name) => sameName(name, column))
  const rank = (key: AddressKey) => {
    if (isOwn(key)) return 0
    return TIME.test(key.type) ? 1 : key.type === 'BOOLEAN' ? 3 : 2
  }
  // Who is looked up has less to look up itself: of two that change at once, none waits for the other.
  const least = Math.min(...keys.map(({ via }) => via.length))
  const ranked = keys
    .filter(({ via }) => via.length === least)
    .filter(({ column }) => !added.some((name) => sameName(name, column)))
    .toSorted((a, b) => rank(a) - rank(b))
  // To look up more than one value of a row would cost more than it leaves out.
  if (least > 0) return ranked.slice(0, 1)
  const named = ranked.filter(isOwn)
  const isWhole = own.every((name) => named.some(({ column }) => sameName(name, column)))
  return (own.length > 0 && isWhole ? named : ranked).slice(0, limits.addressKeys)
}

/** Columns by which few rows are alike: rows that an append adds have other watermarks than those before. */
function rowKeyOf(model: Model): readonly string[] {
  if ('uniqueKey' in model && model.uniqueKey.length > 0) return model.uniqueKey
  if (model.expose !== null && model.expose.key.length > 0) return model.expose.key
  return model.kind === 'append' && model.watermark !== null ? [model.watermark.column] : []
}

/** What makes all of a model anew whatever has changed. */
function neverOf({ macros }: CompiledProject, model: Model): string | null {
  if (model.kind === 'table' && model.isRebuilt === true) return '@rebuild: always'
  if (model.volatile) return 'it gives other rows each time'
  if (model.sources.length > 0) return `it reads the source ${model.sources[0]}`
  return 'body' in model ? macroIn(macros, model.body) : null
}

/** One that the text calls, directly or not, and that has more in it than an expression of one row, or the name of a function. */
function macroIn(macros: readonly Macro[], body: ModelBody): string | null {
  if (macros.length === 0) return null
  const calls = macros.map(({ name }) => name).filter(isCall)
  const open = [body]
  const seen = new Set<string>()
  for (const one of open) {
    const words = new Set(tokenize(one.text).map((token) => foldCase(nameOf(token) ?? token.text)))
    if (one !== body && ['over', 'select', 'from'].some((word) => words.has(word)))
      return `the macro ${[...seen].at(-1) ?? ''}, which may look at other rows`
    const call = calls.find(
      (name) => words.has(name) || [...PART_OF].some((word) => words.has(word)),
    )
    if (call !== undefined) return `the macro ${call}, which has the name of a function`
    for (const macro of macros) {
      if (seen.has(macro.name) || !words.has(macro.name)) continue
      seen.add(macro.name)
      open.push(macro.body)
    }
  }
  return null
}
