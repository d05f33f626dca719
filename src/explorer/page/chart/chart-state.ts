// What a chart shows, as it stands in the address: /sets/{set}/chart?x=placed_at&y=goods_total&method=sum&per=month
//
// And the columns that a chart can be made of: those of the set, and those of the entities that each row leads to.

import { chartMethods } from '../../../core/boards.ts'
import type { CatalogSet } from '../../../core/catalog.ts'
import {
  type ColumnKind,
  type EntitySet,
  kindOf,
  type Measure,
  type Property,
  type Schema,
  type TypedColumn,
} from '../model/schema.ts'
import { type TimeUnit, timeUnits } from './time-units.ts'

const methods = chartMethods
/** `measure`: what is shown is no column, but a measure of the set, which says how it is made. */
export type Method = (typeof methods)[number] | 'measure'

export const methodNames: Readonly<Record<Method, string>> = {
  sum: 'sum',
  average: 'average',
  min: 'least',
  max: 'greatest',
  count: 'count',
  countdistinct: 'different values',
  measure: 'measure',
}

export interface ChartState {
  /** A column, or a path along to-one navigation: `customer/country`. null: as proposed. */
  readonly x: string | null
  /** A column or, with the method `measure`, a measure. null: rows are counted. */
  readonly y: string | null
  readonly method: Method
  readonly by: string | null
  /** null: as the values propose. */
  readonly per: TimeUnit | null
  /** Bars before the rest is "others". */
  readonly first: number
  readonly filter: string | null
  /** With the period before the one that the filter asks for. */
  readonly isCompared: boolean
}

export const DEFAULT_FIRST = 20
const MOST_FIRST = 500

export function readChartState(options: {
  get(name: string): string | null | undefined
}): ChartState {
  const text = (name: string) => options.get(name) || null
  const y = text('y')
  const method = [...methods, 'measure' as const].find((one) => one === options.get('method'))
  const first = Number(options.get('first') ?? DEFAULT_FIRST)
  return {
    x: text('x'),
    y,
    method: y === null ? 'count' : (method ?? 'sum'),
    by: text('by'),
    per: timeUnits.find((one) => one === options.get('per')) ?? null,
    first: Number.isInteger(first) && first > 0 ? Math.min(first, MOST_FIRST) : DEFAULT_FIRST,
    filter: text('$filter'),
    isCompared: text('compare') === 'before',
  }
}

/** Without an x the address leaves it to the page what to show: the first of what is proposed. */
export function shownState(asked: ChartState, [first]: readonly Proposal[]): ChartState {
  return asked.x === null ? { ...asked, ...first } : asked
}

/** The options of an address, without those that say what would be so anyway. */
export function writeChartState(state: ChartState): Readonly<Record<string, string | undefined>> {
  const { x, y, method, by, per, first, filter, isCompared } = state
  return {
    x: x ?? undefined,
    y: y ?? undefined,
    method: y === null ? undefined : method,
    by: by ?? undefined,
    per: per ?? undefined,
    first: first === DEFAULT_FIRST ? undefined : String(first),
    $filter: filter ?? undefined,
    compare: isCompared ? 'before' : undefined,
  }
}

export function methodsFor(column: TypedColumn): readonly Method[] {
  return kindOf(column) === 'number' ? methods : ['count', 'countdistinct']
}

export const canBeX = (column: TypedColumn) =>
  ['time', 'number', 'text', 'boolean', 'id', 'clock'].includes(kindOf(column))

/** Colours tell a handful of values apart, so times and numbers have none. */
export const canBeColour = (column: TypedColumn) =>
  ['text', 'boolean', 'id'].includes(kindOf(column))

interface ChartableSet {
  readonly columns: readonly TypedColumn[]
  readonly key: readonly string[]
  readonly foreignKeys: readonly string[]
  readonly measures: readonly string[]
  /** Columns by which measures are mostly asked for: the one with the time of a row first, if it is known. */
  readonly dimensions: readonly string[]
}

type Proposal = Pick<ChartState, 'x' | 'y' | 'method'>

/** Charts that are worth a first look: best first, none twice. What the project has defined comes before guesses. */
export function proposals(set: ChartableSet): readonly Proposal[] {
  const { columns, key, foreignKeys } = set
  const isId = ({ name }: TypedColumn) => key.includes(name) || foreignKeys.includes(name)
  const ofKind = (kind: ColumnKind) => columns.filter((column) => kindOf(column) === kind)
  const times = ofKind('time').toSorted(timesFirst)
  const numbers = ofKind('number').filter((column) => !isId(column))
  // A part of a key of several columns occurs often, as the share of a stock and a day does.
  const isOften = ({ name }: TypedColumn) =>
    !foreignKeys.includes(name) && (key.length > 1 || !key.includes(name))
  const categories = [...ofKind('text'), ...ofKind('boolean')]
    .filter(isOften)
    .toSorted((a, b) => Number(isTitle(a)) - Number(isTitle(b)))
  const value = valueOf(numbers)
  const countBy = (x: TypedColumn): Proposal => ({ x: x.name, y: null, method: 'count' })
  const sumBy = (x: TypedColumn): readonly Proposal[] =>
    value === null ? [] : [{ x: x.name, ...value }]
  const found = [
    ...ofMeasures(set, [...times, ...categories]),
    ...times.slice(0, 1).flatMap((time) => [...sumBy(time), countBy(time)]),
    ...categories.slice(0, 3).map(countBy),
    ...categories.slice(0, 1).flatMap(sumBy),
    ...numbers.slice(0, 3).map(countBy),
    ...times.slice(1, 2).map(countBy),
    ...(times.length + categories.length + numbers.length === 0
      ? columns.filter(canBeX).slice(0, 1).map(countBy)
      : []),
  ]
  return found.slice(0, MOST_PROPOSALS)
}

/** Words of names, between lines or capitals. */
const words = ({ name }: TypedColumn): readonly string[] =>
  name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)

const hasWord = (column: TypedColumn, of: ReadonlySet<string>) =>
  words(column).some((word) => of.has(word))

const AMOUNTS = new Set(
  'amount amounts total revenue sales gross net turnover takings cost costs fee fees quantity'.split(
    ' ',
  ),
)
/** What has a level, of which a sum means nothing. */
const LEVELS = new Set(
  'price rate rates rating ratings ratio score temp temperature percent percentage share average avg mean margin age height weight speed humidity pressure'.split(
    ' ',
  ),
)
const TITLES = new Set('title name description comment note text url email'.split(' '))
const isTitle = (column: TypedColumn) => hasWord(column, TITLES)

/** The number that a person asks for first, and whether it is added up. What has decimals is mostly an amount; a whole number may be a year. */
function valueOf(numbers: readonly TypedColumn[]): Pick<Proposal, 'y' | 'method'> | null {
  const isLevel = (column: TypedColumn) => hasWord(column, LEVELS)
  const amount =
    numbers.find((column) => hasWord(column, AMOUNTS) && !isLevel(column)) ??
    numbers.find((column) => column.edm === 'Edm.Decimal' && !isLevel(column))
  if (amount !== undefined) return { y: amount.name, method: 'sum' }
  const level = numbers.find(isLevel)
  return level === undefined ? null : { y: level.name, method: 'average' }
}

/** The first measures by the first dimension, and one of them by the second. `others`: where no dimensions are known. */
function ofMeasures(set: ChartableSet, others: readonly TypedColumn[]): readonly Proposal[] {
  const { measures, dimensions, columns } = set
  const [first] = measures
  if (first === undefined) return []
  const named = dimensions.filter((name) =>
    columns.some((column) => column.name === name && canBeX(column)),
  )
  const [x, second] = named.length > 0 ? named : others.map(({ name }) => name)
  if (x === undefined) return []
  const by = (measure: string, column: string): Proposal => ({
    x: column,
    y: measure,
    method: 'measure',
  })
  return [
    ...measures.slice(0, MOST_MEASURES).map((measure) => by(measure, x)),
    ...(second === undefined ? [] : [by(first, second)]),
  ]
}

const MOST_MEASURES = 3

/** More would have to be read instead of looked at. */
const MOST_PROPOSALS = 7

/** When something happened says more than when it changed or came in. */
export function timesFirst(a: Pick<TypedColumn, 'name'>, b: Pick<TypedColumn, 'name'>): number {
  const rank = ({ name }: Pick<TypedColumn, 'name'>) =>
    /chang|updat|modif|receiv|load/i.test(name) ? 1 : 0
  return rank(a) - rank(b)
}

interface PathColumn {
  /** `status`, or `customer/country`. */
  readonly path: string
  readonly property: Property
}

export interface ColumnGroup {
  /** The navigation that leads there; null for the set's own columns. */
  readonly navigation: string | null
  readonly columns: readonly PathColumn[]
}

export function columnGroups(schema: Schema, set: EntitySet): readonly ColumnGroup[] {
  const own = set.properties.map((property) => ({ path: property.name, property }))
  const others = set.navigations.flatMap(({ name, isMany, target }) => {
    const properties = isMany ? undefined : schema.set(target)?.properties
    if (properties === undefined) return []
    const columns = properties.map((property) => ({ path: `${name}/${property.name}`, property }))
    return [{ navigation: name, columns }]
  })
  return [{ navigation: null, columns: own }, ...others]
}

export function columnAt(groups: readonly ColumnGroup[], path: string): Property | undefined {
  return groups.flatMap(({ columns }) => columns).find((column) => column.path === path)?.property
}

/** `published`: what the catalog says of the set, where there is one. */
export function chartable(set: EntitySet, published?: CatalogSet): ChartableSet {
  const foreignKeys = set.navigations
    .filter(({ isMany }) => !isMany)
    .flatMap(({ constraint }) => constraint.map(([own]) => own))
  const { time = null, dimensions = [] } = published?.meaning ?? {}
  return {
    columns: set.properties,
    key: set.key,
    foreignKeys,
    measures: set.measures.map(({ name }) => name),
    dimensions: [...(time === null ? [] : [time]), ...dimensions],
  }
}

type Described = Pick<ChartState, 'x' | 'y' | 'method'>

/** Such as "sum of total", "rows", "Revenue (EUR)". */
export function describeValue(
  { y, method }: Pick<Described, 'y' | 'method'>,
  measures: readonly Measure[],
): string {
  if (y === null) return 'rows'
  if (method !== 'measure') return `${methodNames[method]} of ${y}`
  const { label, unit } = measures.find(({ name }) => name === y) ?? {}
  return `${label ?? y}${unit === undefined ? '' : ` (${unit})`}`
}

export const describeChart = (state: Described, measures: readonly Measure[]) =>
  `${describeValue(state, measures)} by ${state.x}`
