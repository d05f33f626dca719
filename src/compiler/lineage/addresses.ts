// Which values of the columns of a table say which of its rows a changed row of an input touches: its address. A run then
// makes the rows with the touched addresses anew, and leaves the others as they are.

import type { AddressProblem, Addresses, Trail, TrailStep } from '../../core/addresses.ts'
import { kinds } from '../../core/kinds.ts'
import { limits } from '../../core/limits.ts'
import type { CompiledProject, Macro, Model } from '../../core/model.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import { type ColumnType, hasOneText, isWholeNumber } from '../../core/relation.ts'
import type { ModelBody } from '../../core/sql.ts'
import { nameOf, tokenize } from '../sql/tokens.ts'

/** `of`: the model in whose file the line is. */
export interface WhyRebuilt extends AddressProblem {
  readonly of: ModelName
}

/** Rows of the input with a value lead to rows of the table with this value in `address`, and to no others. */
export interface AddressKey {
  readonly address: string
  /** The type of the address. */
  readonly type: ColumnType
  readonly column: string
  readonly steps: readonly TrailStep[]
  /** In their order: the value is looked up before it is one of the address. */
  readonly via: readonly Lookup[]
}

/** Rows of a relation that have the value in the one column lead on by the other one. */
interface Lookup {
  readonly model: ModelName
  readonly from: string
  readonly type: ColumnType
  readonly column: string
  readonly steps: readonly TrailStep[]
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
  const leadsOf = leadsIn(model, addresses, modelOf)
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

/** What leads from a place to the result: a column of it, or else the shortest of the ways by lookups. */
function leadsIn(
  { columns }: Model,
  addresses: Addresses,
  modelOf: (name: string) => Model | undefined,
): (use: number) => readonly Lead[] {
  const direct = (use: number) =>
    columns.flatMap(({ name: address, type }, i) =>
      (addresses.columns[i] ?? [])
        .filter((trail) => trail.use === use)
        .map((trail) => ({ address, type, trail, via: [] })),
    )
  const lookedUp = (use: number, open: ReadonlySet<number>): readonly Lead[] => {
    const own = direct(use)
    if (own.length > 0) return own
    const found = addresses.detours
      .filter(({ trail, through }) => trail.use === use && !open.has(through))
      .flatMap(({ trail, through, from }) => {
        const other = modelOf(addresses.uses[through]!.name)
        const type = other?.columns.find((one) => sameName(one.name, from))?.type
        if (other === undefined || type === undefined) return []
        return lookedUp(through, new Set([...open, through]))
          .filter((lead) => keepsValue(lead.trail, lead.via[0]?.type ?? lead.type))
          .map((lead) => {
            const lookup = { model: other.name, from, type, ...part(lead.trail) }
            return { ...lead, trail, via: [lookup, ...lead.via] }
          })
      })
    const least = Math.min(...found.map(({ via }) => via.length))
    return found.filter(({ via }) => via.length === least)
  }
  return (use) => lookedUp(use, new Set([use]))
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
          key.via.length === 0 &&
          sameName(key.address, trail.column) &&
          keepsValue({ ...trail, type: key.type }, lead.via[0]?.type ?? lead.type),
      )
      .map(({ column, steps }) => ({ ...lead, column, steps: [...steps, ...trail.steps] })),
  )
  return { model, keys: own, because: own.length > 0 ? null : (because ?? problem) }
}

/** Whether the value of the input, by these steps, is the one that stands in the address. */
function keepsValue({ steps, type = '' }: Trail, address: ColumnType): boolean {
  if (!hasOneText(address)) return false
  const last = steps.at(-1)
  const casts = steps.flatMap((step) => ('cast' in step ? [step.cast] : []))
  if (last === undefined || 'cast' in last) {
    const form = last === undefined ? type : last.cast
    return form === address || (isWholeNumber(form) && isWholeNumber(address))
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
  const ranked = keys
    .filter(({ column }) => !added.some((name) => sameName(name, column)))
    .toSorted((a, b) => rank(a) - rank(b))
  // To look up more than one value of a row would cost more than it leaves out.
  if (ranked.some(({ via }) => via.length > 0)) return ranked.slice(0, 1)
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
  const macro = 'body' in model ? lookingMacro(macros, model.body) : null
  return macro === null ? null : `the macro ${macro}, which may look at other rows`
}

/** One that the text calls, directly or not, and that has more in it than an expression of one row. */
function lookingMacro(macros: readonly Macro[], body: ModelBody): string | null {
  if (macros.length === 0) return null
  const open = [body]
  const seen = new Set<string>()
  for (const one of open) {
    const words = new Set(tokenize(one.text).map((token) => foldCase(nameOf(token) ?? token.text)))
    if (one !== body && ['over', 'select', 'from'].some((word) => words.has(word)))
      return [...seen].at(-1) ?? ''
    for (const macro of macros) {
      if (seen.has(macro.name) || !words.has(macro.name)) continue
      seen.add(macro.name)
      open.push(macro.body)
    }
  }
  return null
}
