// $select: which properties are written, and which parts of complex ones (URL conventions 5.1.4).

import { type Expression, type OutputProperty, propertyOf, typeOf } from './bound.ts'
import { odataError, unsupported } from '../protocol/errors.ts'
import { findNavigation, findPart, findProperty, type Scope } from './scope.ts'
import type { OptionSyntax, SelectItem } from '../syntax/syntax.ts'
import type { EdmType } from '../edm/types.ts'
import { shownItems } from './items.ts'
import { hasParts, narrowed } from './narrow.ts'

/**
 * In the requested order, each once; without $select, or for a star in it, every property and all that $compute names
 * (Protocol 11.2.5.3). A navigation property alone adds nothing to the rows.
 */
export function selectedOutput(scope: Scope, { select }: OptionSyntax): readonly OutputProperty[] {
  if (select === undefined)
    return valuesOf(EVERYTHING, scope).map(([name, value]) => ({
      name,
      type: typeOf(value)!,
      value,
    }))
  const selected = new Map<string, { readonly value: Expression; readonly items: SelectItem[] }>()
  const add = (name: string, value: Expression, item: SelectItem) => {
    const known = selected.get(name)
    if (known === undefined) selected.set(name, { value, items: [item] })
    else known.items.push(item)
  }
  for (const item of select) {
    const inner = { ...item, path: item.path.slice(1) }
    for (const [name, value] of valuesOf(item, scope)) add(name, value, inner)
  }
  return Array.from(selected, ([name, { value, items }]) =>
    chosenValue(name, value, items, scope),
  ).flat()
}

/** The values that the first name of an item stands for, by their names; those of a navigation property are none. */
function valuesOf(
  { path, options, at }: SelectItem,
  { row, computed }: Scope,
): readonly (readonly [string, Expression])[] {
  const { type } = row.set
  const [name, ...parts] = path as readonly [string, ...string[]]
  if (name === '*')
    return [
      ...type.properties.map((property) => [property.name, propertyOf(row, property)] as const),
      ...computed,
    ]
  const known = computed.get(name)
  if (known !== undefined) return [[name, known]]
  if (findNavigation(type, name) === undefined)
    return [[name, propertyOf(row, findProperty(type, name, at))]]
  if (parts.length === 0 && options === undefined) return []
  throw odataError(
    'invalid-option-value',
    `${name} is not a complex property: write $expand=${name}($select=${parts.join('/') || '…'}) (at character ${at + 1})`,
  )
}

/** A value, with the number of its items before it when that is asked for. */
function chosenValue(
  name: string,
  value: Expression,
  items: readonly SelectItem[],
  scope: Scope,
): readonly OutputProperty[] {
  const type = typeOf(value)!
  const written = narrowed(type, items.flatMap(withoutSelect))
  const [asked, ...more] = items.flatMap(optionsWithin)
  if (asked === undefined) return [{ name, type: written, value }]
  const names = Object.keys(asked.options)
  const later = names.find((option) => COMPLEX_OPTIONS.includes(option))
  const at = typeAt(type, asked.path)
  const isItems = at.kind === 'collection' && later === 'search'
  if (later !== undefined && hasParts(at) && !isItems) throw unsupported(`$${later} within $select`)
  if (at.kind === 'collection' && asked.path.length > 0)
    throw unsupported('choosing items of a list that is inside of another value')
  const unfit = names.find((option) => !ITEM_OPTIONS.includes(option))
  if (more.length > 0 || asked.path.length > 0 || type.kind !== 'collection' || unfit !== undefined)
    throw odataError(
      'option-not-allowed',
      `${name} does not take these options in $select; a list takes $filter, $search, $orderby, $skip, $top and $count, once`,
    )
  const output = shownItems(value, asked.options, scope)
  return output.map((each) => ({
    ...each,
    name: each.name === 'value' ? name : `${name}${each.name}`,
    type: each.name === 'value' ? written : each.type,
  }))
}

/** What is said of a value besides `$select`, and of its parts within that. */
function optionsWithin({ path, options = {}, ...item }: SelectItem): readonly {
  readonly path: readonly string[]
  readonly options: OptionSyntax
}[] {
  requirePlain(item)
  const { select = [], ...others } = options
  const inner = select.flatMap((part) => optionsWithin({ ...part, path: [...path, ...part.path] }))
  return Object.keys(others).length === 0 ? inner : [{ path, options: others }, ...inner]
}

function requirePlain({ levels = 1, aliases }: Pick<SelectItem, 'levels' | 'aliases'>): void {
  if (levels > 1 || (aliases !== undefined && aliases.size > 0))
    throw unsupported('$levels or an alias within $select')
}

/** Those that the specification has for structs, besides `$select`. */
const COMPLEX_OPTIONS: readonly string[] = ['compute', 'search', 'expand']

/** The path is known to lead to a value. */
const typeAt = (type: EdmType, path: readonly string[]): EdmType =>
  path.reduce((whole, name) => {
    const of = whole.kind === 'collection' ? whole.item : whole
    return of.kind === 'complex' && name !== '*' ? findPart(of, name, 0).type : whole
  }, type)

const ITEM_OPTIONS: readonly string[] = ['filter', 'search', 'orderby', 'skip', 'top', 'count']

/** `address($select=city,zip)` is `address/city,address/zip`. */
export const withoutSelect = ({ path, at, options }: SelectItem): readonly SelectItem[] =>
  options?.select === undefined
    ? [{ path, at }]
    : options.select.flatMap((inner) =>
        withoutSelect({ ...inner, path: [...path, ...inner.path], at }),
      )

const EVERYTHING: SelectItem = { path: ['*'], at: 0 }
