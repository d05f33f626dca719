// What the page knows of the service's entity model, read from `$metadata` as JSON (CSDL 4.01).

import { writeLiteral } from '../address/literal.ts'
import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { textOf, type Row } from './value.ts'

export interface Schema {
  readonly sets: readonly EntitySet[]
  /** Whether a set can be had as one file of columns. */
  readonly hasParquet: boolean
  set(name: string): EntitySet | undefined
}

export interface EntitySet {
  readonly name: string
  readonly description: string | undefined
  /** Empty for a set without a key: its rows have no address of their own. */
  readonly key: readonly string[]
  readonly properties: readonly Property[]
  readonly navigations: readonly Navigation[]
}

export interface Property {
  readonly name: string
  readonly description: string | undefined
  /** Primitive, such as Edm.Int64; of a list the type of its items. Edm.Untyped for a struct. */
  readonly edm: string
  readonly isList: boolean
  readonly isNullable: boolean
  readonly precision: number | undefined
  readonly scale: number | undefined
  /** The fields of a struct or a list of structs; undefined for all others. */
  readonly fields: readonly Property[] | undefined
}

export interface Navigation {
  readonly name: string
  /** The entity set it leads to. */
  readonly target: string
  readonly isMany: boolean
  readonly partner: string | undefined
  /** Own property to the property of the target that it equals; empty on the side of many. */
  readonly constraint: readonly (readonly [own: string, other: string])[]
}

type Json = Readonly<Record<string, unknown>>

const DESCRIPTION = '@Org.OData.Core.V1.Description'
const NO_SETS: readonly EntitySet[] = []

export function readSchema(document: unknown): Schema {
  const csdl = asObject(document)
  const [namespace, containerName = ''] = splitQualified(asText(csdl['$EntityContainer']))
  const types = asObject(csdl[namespace])
  const sets = membersOf(asObject(types[containerName])).flatMap(([name, set]) => {
    const [, type] = splitQualified(asText(set['$Type']))
    return type === undefined ? NO_SETS : [readSet(name, set, asObject(types[type]), types)]
  })
  const byName = new Map(sets.map((set) => [set.name, set]))
  return {
    sets,
    hasParquet: hasParquet(asObject(types[containerName])),
    set: (name) => byName.get(name),
  }
}

/** The navigation that a column is the foreign key of. */
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

function hasParquet(container: Json): boolean {
  const formats = container['@Org.OData.Capabilities.V1.SupportedFormats']
  return Array.isArray(formats) && formats.some((format) => String(format).includes('parquet'))
}

/** Members are read when somebody asks for them: hundreds of wide sets are listed, and one of them is shown. */
function readSet(name: string, set: Json, type: Json, types: Json): EntitySet {
  let members: Pick<EntitySet, 'properties' | 'navigations'> | undefined
  const read = () => (members ??= readMembers(set, type, types))
  return {
    name,
    description: optionalText(type[DESCRIPTION]),
    key: Array.isArray(type['$Key']) ? type['$Key'].map(String) : [],
    get properties() {
      return read().properties
    },
    get navigations() {
      return read().navigations
    },
  }
}

function readMembers(
  set: Json,
  type: Json,
  types: Json,
): Pick<EntitySet, 'properties' | 'navigations'> {
  const members = membersOf(type)
  const bindings = asObject(set['$NavigationPropertyBinding'])
  return {
    properties: members
      .filter(([, member]) => member['$Kind'] !== 'NavigationProperty')
      .map(([property, member]) => readProperty(property, member, types)),
    navigations: members
      .filter(([, member]) => member['$Kind'] === 'NavigationProperty')
      .map(([navigation, member]) => readNavigation(navigation, member, bindings)),
  }
}

function readProperty(name: string, member: Json, types: Json): Property {
  const type = optionalText(member['$Type']) ?? 'Edm.String'
  const [, local = ''] = splitQualified(type)
  const isPrimitive = type.startsWith('Edm.')
  return {
    name,
    description: optionalText(member[DESCRIPTION]),
    edm: isPrimitive ? type : 'Edm.Untyped',
    isList: member['$Collection'] === true,
    isNullable: member['$Nullable'] === true,
    precision: optionalNumber(member['$Precision']),
    scale: optionalNumber(member['$Scale']),
    fields: isPrimitive
      ? undefined
      : membersOf(asObject(types[local])).map(([field, of]) => readProperty(field, of, types)),
  }
}

function readNavigation(name: string, member: Json, bindings: Json): Navigation {
  const [, type = ''] = splitQualified(asText(member['$Type']))
  const constraint = Object.entries(asObject(member['$ReferentialConstraint']))
  return {
    name,
    target: optionalText(bindings[name]) ?? type,
    isMany: member['$Collection'] === true,
    partner: optionalText(member['$Partner']),
    constraint: constraint.map(([own, other]) => [own, asText(other)]),
  }
}

/** Names that begin with `$` or `@` say something about the object itself. */
function membersOf(object: Json): [string, Json][] {
  return Object.entries(object)
    .filter(([name]) => !/^[$@]/.test(name) && !name.includes('@'))
    .map(([name, value]) => [name, asObject(value)])
}

function splitQualified(name: string): [string, string | undefined] {
  const at = name.lastIndexOf('.')
  return at === -1 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)]
}

function asObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {}
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function optionalNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Undefined where the model does not say by which columns the two belong together. */
export function relatedRows(
  schema: Schema,
  set: EntitySet,
  navigation: Navigation,
  row: Row,
): Extract<Route, { view: 'rows' }> | undefined {
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
