// $expand: which related entities are written into the rows, and which of them (Protocol 11.2.5.2).

import { limits } from '../../core/limits.ts'
import { didYouMean } from '../../core/suggest.ts'
import { collectionQuery, openScope } from './query.ts'
import { type OrderItem, propertyOf, type RowVariable, type Expression } from './bound.ts'
import type { BoundQuery, Expansion, OutputProperty } from './bound-request.ts'
import { entityIdOutput } from './control-information.ts'
import { odataError, unsupported, unknownProperty, optionNotAllowed } from '../protocol/errors.ts'
import {
  findNavigation,
  newRow,
  type RequestScope,
  type Scope,
  THIS_ABOVE,
  scopeOfRow,
} from './scope.ts'
import type { ExpandItem, OptionName } from '../syntax/syntax.ts'
import { isCastTo } from '../edm/types.ts'
import type { EntityType, NavigationProperty, EntitySet, Property } from '../edm/model.ts'
import { operandsOf } from './size.ts'

/** Each navigation property once, in the requested order; named ones take precedence over `*`. */
export function bindExpand(items: readonly ExpandItem[], scope: Scope): readonly Expansion[] {
  const { type } = scope.row.set
  if (items.length > 0 && scope.request.expandDepth >= limits.expandDepth)
    throw odataError(
      'expression-too-deep',
      `$expand may be nested at most ${limits.expandDepth} levels deep`,
      '$expand',
    )
  const found = new Map<NavigationProperty, ExpandItem>()
  let star: ExpandItem | null = null
  for (const each of items) {
    const item = { ...each, path: withoutCasts(each.path, type) }
    const isStar = item.path[0] === '*'
    const navigation = isStar ? null : expandedNavigation(item, type)
    if (isStar ? star !== null : found.has(navigation!))
      throw odataError('duplicate-option', `${item.path[0]} is expanded more than once`)
    if (navigation === null) star = starItem(item)
    else found.set(navigation, item)
  }
  if (star !== null)
    for (const navigation of type.navigation)
      if (!found.has(navigation)) found.set(navigation, star)
  return Array.from(found, ([navigation, item]) => expansion(navigation, item, scope))
}

/** `eider.orders/items/eider.items` is `items`. */
function withoutCasts(path: readonly string[], type: EntityType): readonly string[] {
  const [name = '', ...rest] = isCastTo(path[0] ?? '', type) ? path.slice(1) : path
  const target = findNavigation(type, name)?.target.type
  const isCast = target !== undefined && isCastTo(rest[0] ?? '', target)
  return [name, ...(isCast ? rest.slice(1) : rest)]
}

const leadsTo = ({ name, navigation }: EntityType) =>
  navigation.length === 0
    ? `${name} leads to no other entities`
    : `${name} leads to ${navigation.map((other) => other.name).join(', ')}`

function expandedNavigation({ path, at }: ExpandItem, type: EntityType): NavigationProperty {
  const [name = '', ...more] = path
  const navigation = findNavigation(type, name)
  const where = `(at character ${at + 1})`
  if (navigation === undefined) {
    const isProperty = type.properties.some((property) => property.name === name)
    const hint = didYouMean(
      name,
      type.navigation.map((other) => other.name),
    )
    const problem = isProperty
      ? `${name} is not a navigation property ${where}`
      : `${type.name} has no navigation property "${name}" ${where}`
    throw unknownProperty(`${problem}; ${hint ?? leadsTo(type)}`)
  }
  if (more.length > 0)
    throw unknownProperty(
      `a path cannot be expanded: write ${name}($expand=${more.join('/')}) ${where}`,
    )
  return navigation
}

function starItem(item: ExpandItem): ExpandItem {
  if (item.form === 'count' || Object.keys(item.options).length > 0)
    throw optionNotAllowed('only /$ref or ($levels=…) can follow * in $expand')
  return item
}

const TO_ONE_OPTIONS: readonly OptionName[] = ['compute', 'select', 'expand']
/** Options that choose entities, not their properties. */
export const REFERENCE_OPTIONS: readonly OptionName[] = [
  'filter',
  'search',
  'orderby',
  'skip',
  'top',
  'count',
]
const COUNT_OPTIONS: readonly OptionName[] = ['filter', 'search']

export function requireFitting(
  { many, name }: Pick<NavigationProperty, 'many' | 'name'>,
  { form, options, levels }: ExpandItem,
): void {
  if (options.apply !== undefined) throw unsupported('$apply within $expand')
  const ofForm = { entities: null, references: REFERENCE_OPTIONS, count: COUNT_OPTIONS }[form]
  if (form === 'count' && !many)
    throw optionNotAllowed(`${name} is a single entity, which has no $count`)
  if (form !== 'entities' && levels > 1)
    throw optionNotAllowed('$levels cannot be combined with /$ref or /$count')
  for (const option of Object.keys(options) as OptionName[]) {
    if (!many && !TO_ONE_OPTIONS.includes(option))
      throw optionNotAllowed(`${name} is a single entity, which takes no $${option}`)
    if (ofForm !== null && !ofForm.includes(option))
      throw optionNotAllowed(`$${option} cannot be used with the ${form} of ${name}`)
  }
}

function expansion(navigation: NavigationProperty, item: ExpandItem, scope: Scope): Expansion {
  requireFitting(navigation, item)
  const { name, many, on } = navigation
  const row = newRow(scope, navigation.target)
  const { request } = scope
  const isFirst = request.expandDepth === 0
  const expand = nestedItems(navigation, item, request.expandDepth + 1)
  const options = { ...item.options, ...(expand.length === 0 ? {} : { expand }) }
  // A name in an alias means a property of the entity that is expanded here, so each level binds the alias again.
  const aliases = new Map([...aliasesFromAbove(request), ...item.aliases])
  const entities = scopeOfRow({ ...request, aliases }, row, {
    it: isFirst ? outerRow(scope.row) : request.it,
    openAliases: request.openAliases,
    expandDepth: request.expandDepth + 1,
  })
  const query = collectionQuery(openScope(options, entities), options)
  const output = item.form === 'references' ? [entityIdOutput(row)] : query.output
  const link = { ours: propertyOf(scope.row, on.ours), theirs: on.theirs }
  const countOnly = item.form === 'count'
  const above = isFirst ? scope.row : (request.it as RowVariable)
  const ordered = { ...query, output, order: totalOrder(query) }
  const outer = handedDownTo(ordered, above)
  return { name, many, countOnly, link, outer, query: ordered }
}

/** `$this` in an alias given within $expand is the entity of that level; expressions of the levels below cannot reach it. */
function aliasesFromAbove({ aliases, expandDepth }: RequestScope): RequestScope['aliases'] {
  if (expandDepth === 0) return aliases
  return new Map(
    Array.from(aliases, ([name, value]) => {
      const isAbove = value.kind === 'path' && value.names[0] === '$this'
      return [name, isAbove ? { ...value, names: [THIS_ABOVE] } : value] as const
    }),
  )
}

/** $levels repeats the item below itself, where there is a navigation property of that name again. */
function nestedItems(
  { target }: NavigationProperty,
  { options, levels, path, ...item }: ExpandItem,
  depth: number,
): readonly ExpandItem[] {
  const own = options.expand ?? []
  const [name = ''] = path
  const isAgain = name === '*' || findNavigation(target.type, name) !== undefined
  const ends = levels === Infinity && depth >= limits.expandDepth
  if (levels === 1 || !isAgain || ends) return own
  return [...own, { ...item, path, options, levels: levels - 1 }]
}

/** The rows of one parent are spread over the file, so an order must be given even where the file has that of the key. */
function totalOrder({ order, set, row }: BoundQuery): readonly OrderItem[] {
  if (order.length > 0) return order
  return set.type.key.map((property) => ({ value: propertyOf(row, property), descending: false }))
}

// `$it` within $expand: the row of the request, as the rows that are written into it see it.
//
// Related rows are read once for all parents, where no such row is at hand. So an expansion that speaks of it is read
// for each parent, and the properties that it speaks of are handed down from level to level, as columns `it <name>`.

/** The alias of the parent's rows where they are joined with those of an expansion. */
export const OUTER = 'outer'

const outerColumn = ({ name }: Property): string => `it ${name}`

/** Stands for `row` within $expand. */
function outerRow({ set }: RowVariable): RowVariable {
  const moved = new Map(set.type.properties.map((property) => [property, asHandedDown(property)]))
  const navigation = set.type.navigation.map((each): NavigationProperty => ({
    ...each,
    on: { ...each.on, ours: moved.get(each.on.ours)! },
  }))
  const handedDown: EntitySet = {
    ...set,
    type: { ...set.type, properties: [...moved.values()], navigation },
  }
  return { alias: OUTER, set: handedDown }
}

const asHandedDown = (property: Property): Property => ({
  ...property,
  column: { ...property.column, name: outerColumn(property), type: property.type.engine },
  clamped: false,
})

/**
 * What must be handed down to `query`, because it, or what it expands, speaks of the outer row. `above` is that row as
 * the level above has it.
 */
function handedDownTo(query: BoundQuery, above: RowVariable): readonly OutputProperty[] {
  const names = new Set(query.expand.flatMap(({ outer }) => outer.map(({ name }) => name)))
  const seen = new Set<Expression>()
  const visit = (expression: Expression) => {
    if (seen.has(expression)) return
    seen.add(expression)
    if (expression.kind === 'property' && expression.row.alias === OUTER)
      names.add(outerColumn(expression.property))
    for (const operand of operandsOf(expression)) visit(operand)
  }
  if (query.filter !== null) visit(query.filter)
  for (const { value } of [...query.order, ...query.output]) visit(value)
  return above.set.type.properties
    .filter((property) => names.has(outerColumn(property)))
    .map((property) => ({
      name: outerColumn(property),
      type: property.type,
      value: propertyOf(above, property),
    }))
}
