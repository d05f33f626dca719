// What the page knows of the service's entity model, read from `$metadata` as JSON (CSDL 4.01), and of its values.

import { writeLiteral } from '../address/literal.ts'
import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'

export interface Schema {
  readonly sets: readonly EntitySet[]
  /** Whether a set can be had as one file of columns. */
  readonly hasParquet: boolean
  set(name: string): EntitySet | undefined
}

export interface EntitySet {
  readonly name: string
  readonly description: string | undefined
  readonly key: readonly string[]
  readonly properties: readonly Property[]
  readonly navigations: readonly Navigation[]
  readonly measures: readonly Measure[]
}

/** A number of any rows of a set, which requests aggregate by its name. */
export interface Measure {
  readonly name: string
  readonly description: string | undefined
  readonly label: string | undefined
  /** Such as EUR. */
  readonly unit: string | undefined
}

export interface Property {
  readonly name: string
  readonly description: string | undefined
  /** Primitive, such as Edm.Int64; of a list the type of its items. Edm.Untyped for a struct. */
  readonly edm: string
  readonly isList: boolean
  readonly precision: number | undefined
  readonly scale: number | undefined
  /** The fields of a struct or a list of structs; undefined for all others. */
  readonly fields: readonly Property[] | undefined
}

export interface Navigation {
  readonly name: string
  readonly target: string
  readonly isMany: boolean
  readonly partner: string | undefined
  /** Own property to the property of the target that it equals; empty on the side of many. */
  readonly constraint: readonly (readonly [own: string, other: string])[]
}

/** An element of the model. Names that begin with `$` or `@` say something about it, all others are its members. */
interface Csdl {
  readonly $Kind?: string
  readonly $Type?: string
  readonly $Key?: readonly string[]
  readonly $Collection?: boolean
  readonly $Nullable?: boolean
  readonly $Precision?: number
  readonly $Scale?: number | string
  readonly $Partner?: string
  readonly $ReferentialConstraint?: Readonly<Record<string, string>>
  readonly $NavigationPropertyBinding?: Readonly<Record<string, string>>
  readonly '@Org.OData.Core.V1.Description'?: string
  readonly '@Org.OData.Capabilities.V1.SupportedFormats'?: readonly string[]
}

type Elements = Readonly<Record<string, Csdl>>

export function readSchema(document: unknown): Schema {
  const csdl = Object(document) as Readonly<Record<string, Elements | string>>
  const { $EntityContainer: place } = csdl
  if (typeof place !== 'string') return { sets: [], hasParquet: false, set: () => undefined }
  const types = (csdl[place.slice(0, place.lastIndexOf('.'))] ?? {}) as Elements
  const container = types[localName(place)] ?? {}
  const sets = membersOf(container).flatMap(([name, set]) => {
    const type = types[localName(set.$Type ?? '')]
    return type === undefined ? [] : [readSet(name, set, type, types)]
  })
  const byName = new Map(sets.map((set) => [set.name, set]))
  const formats = container['@Org.OData.Capabilities.V1.SupportedFormats'] ?? []
  return {
    sets,
    hasParquet: formats.some((format) => format.includes('parquet')),
    set: (name) => byName.get(name),
  }
}

const localName = (name: string) => name.slice(name.lastIndexOf('.') + 1)

const membersOf = (element: Csdl) =>
  Object.entries(element as Elements).filter(([name]) => !/^\$|@/.test(name))

/** Members are read when somebody asks for them: hundreds of wide sets are listed, and one of them is shown. */
function readSet(name: string, set: Csdl, type: Csdl, types: Elements): EntitySet {
  let members: Pick<EntitySet, 'properties' | 'navigations'> | undefined
  const read = () => (members ??= readMembers(set, type, types))
  return {
    name,
    description: type['@Org.OData.Core.V1.Description'],
    key: type.$Key ?? [],
    get properties() {
      return read().properties
    },
    get navigations() {
      return read().navigations
    },
    measures: readMeasures(set),
  }
}

const MEASURE = '@Org.OData.Aggregation.V1.CustomAggregate#'

/** An annotation of the set for each, and annotations of that which say more. */
function readMeasures(set: Csdl): readonly Measure[] {
  const said = Object(set) as Readonly<Record<string, string | undefined>>
  const terms = Object.keys(said).filter((term) => term.startsWith(MEASURE))
  return terms
    .filter((term) => !term.includes('@', 1))
    .map((term) => ({
      name: term.slice(MEASURE.length),
      description: said[`${term}@Org.OData.Core.V1.Description`],
      label: said[`${term}@com.sap.vocabularies.Common.v1.Label`],
      unit:
        said[`${term}@Org.OData.Measures.V1.ISOCurrency`] ??
        said[`${term}@Org.OData.Measures.V1.Unit`],
    }))
}

function readMembers(
  { $NavigationPropertyBinding: targets = {} }: Csdl,
  type: Csdl,
  types: Elements,
) {
  const isNavigation = ([, { $Kind }]: readonly [string, Csdl]) => $Kind === 'NavigationProperty'
  const members = membersOf(type)
  return {
    properties: members
      .filter((member) => !isNavigation(member))
      .map(([name, member]) => readProperty(name, member, types)),
    navigations: members.filter(isNavigation).map(([name, member]) => ({
      name,
      target: targets[name] ?? localName(member.$Type ?? ''),
      isMany: member.$Collection === true,
      partner: member.$Partner,
      constraint: Object.entries(member.$ReferentialConstraint ?? {}),
    })),
  }
}

function readProperty(name: string, member: Csdl, types: Elements): Property {
  const type = member.$Type ?? 'Edm.String'
  const isPrimitive = type.startsWith('Edm.')
  return {
    name,
    description: member['@Org.OData.Core.V1.Description'],
    edm: isPrimitive ? type : 'Edm.Untyped',
    isList: member.$Collection === true,
    precision: member.$Precision,
    scale: typeof member.$Scale === 'number' ? member.$Scale : undefined,
    fields: isPrimitive
      ? undefined
      : membersOf(types[localName(type)] ?? {}).map(([field, of]) =>
          readProperty(field, of, types),
        ),
  }
}

/** What a computed name must not be. */
export const memberNames = (set: EntitySet) =>
  [...set.properties, ...set.navigations, ...set.measures].map(({ name }) => name)

export function navigationOf(set: EntitySet, column: string): Navigation | undefined {
  return set.navigations.find(
    ({ isMany, constraint }) => !isMany && constraint.some(([own]) => own === column),
  )
}

/** The type that values of a column have in a URL: of a list its items', of `customer/country` that of the country. */
export function typeOfPath(schema: Schema, set: EntitySet, path: string): string | undefined {
  const [first = '', ...rest] = path.split('/')
  const property = set.properties.find(({ name }) => name === first)
  if (property !== undefined) {
    return rest.length === 0 ? property.edm : typeOfField(property.fields, rest)
  }
  const navigation = set.navigations.find(({ name }) => name === first)
  if (navigation === undefined || navigation.isMany) return undefined
  const target = schema.set(navigation.target)
  if (rest.length === 0) return 'Edm.Untyped'
  return target && typeOfPath(schema, target, rest.join('/'))
}

function typeOfField(fields: Property['fields'], path: readonly string[]): string | undefined {
  const [first, ...rest] = path
  const field = fields?.find(({ name }) => name === first)
  if (field === undefined) return undefined
  return rest.length === 0 ? field.edm : typeOfField(field.fields, rest)
}

/** Undefined where the model does not say by which columns the two belong together. */
export function relatedRows(
  schema: Schema,
  set: EntitySet,
  navigation: Navigation,
  row: Row,
): Route | undefined {
  const target = schema.set(navigation.target)
  const partner = target?.navigations.find(({ name }) => name === navigation.partner)
  if (target === undefined || partner === undefined || partner.constraint.length === 0)
    return undefined
  const conditions = partner.constraint.map(([theirs, ours]) => {
    const property = set.properties.find(({ name }) => name === ours)
    const value = row[ours]
    if (property === undefined || value === null || value === undefined) return undefined
    return `${theirs} eq ${writeLiteral(textOf(value), property.edm)}`
  })
  if (conditions.includes(undefined)) return undefined
  const query = writeOptions(new Map([['$filter', conditions.join(' and ')]]))
  return { view: 'rows', set: target.name, query }
}

export type Value =
  string | number | boolean | null | readonly Value[] | { readonly [field: string]: Value }

export type Row = { readonly [property: string]: Value }

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : `${value as string}`
}

export interface Label {
  readonly text: string
  /** Null, the empty text and "others": words of the page, which must not look like the values of these names. */
  readonly isWord: boolean
}

export function labelOf(value: unknown): Label {
  if (value === null || value === undefined) return { text: 'null', isWord: true }
  return value === ''
    ? { text: 'empty text', isWord: true }
    : { text: textOf(value), isWord: false }
}

export type ColumnKind =
  'number' | 'time' | 'text' | 'boolean' | 'id' | 'duration' | 'clock' | 'bytes' | 'list' | 'struct'

const kinds: Readonly<Record<string, ColumnKind>> = {
  'Edm.Byte': 'number',
  'Edm.SByte': 'number',
  'Edm.Int16': 'number',
  'Edm.Int32': 'number',
  'Edm.Int64': 'number',
  'Edm.Decimal': 'number',
  'Edm.Single': 'number',
  'Edm.Double': 'number',
  'Edm.Date': 'time',
  'Edm.DateTimeOffset': 'time',
  'Edm.String': 'text',
  'Edm.Boolean': 'boolean',
  'Edm.Guid': 'id',
  'Edm.Duration': 'duration',
  'Edm.TimeOfDay': 'clock',
  'Edm.Binary': 'bytes',
}

export type TypedColumn = Pick<Property, 'name' | 'edm' | 'isList' | 'scale'>

export function kindOf({ edm, isList }: Pick<TypedColumn, 'edm' | 'isList'>): ColumnKind {
  return isList ? 'list' : (kinds[edm] ?? 'struct')
}

/** Edm.Decimal(12,2) as people say it. */
export function shortType({ edm, isList, precision, scale }: Property): string {
  const digits =
    edm === 'Edm.Decimal' && precision !== undefined ? `(${precision},${scale ?? 0})` : ''
  const name = edm === 'Edm.Untyped' ? 'struct' : edm.replace('Edm.', '') + digits
  return isList ? `list of ${name}` : name
}

export function isIntegral({ edm, scale }: TypedColumn): boolean {
  return edm === 'Edm.Decimal' ? scale === 0 : /^Edm\.(?:S?Byte|Int)/.test(edm)
}

/** Whether values may be NaN or infinite, which no histogram has a place for. */
export function isFloating({ edm }: TypedColumn): boolean {
  return edm === 'Edm.Double' || edm === 'Edm.Single'
}

export function hasTime({ edm }: TypedColumn): boolean {
  return edm === 'Edm.DateTimeOffset'
}

const literals = new Set(['null', 'true', 'false', 'INF', 'NaN'])

/** A column as an expression. One that has the name of a literal would be read as that, and is not grouped by. */
export function pathTo(name: string): string {
  return literals.has(name) ? `$it/${name}` : name
}

/** Names that neither a column nor a name given before has. */
export function freeNames(taken: Iterable<string>): (wanted: string) => string {
  const all = new Set(taken)
  return (wanted) => {
    let name = wanted
    for (let i = 2; all.has(name); i += 1) name = `${wanted}${i}`
    all.add(name)
    return name
  }
}

/** The value at a path in a row of an answer; an entity that is not there has none. */
export function valueAt(row: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = row
  for (const name of path.split('/')) {
    if (value === null || typeof value !== 'object') return null
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? null
}
