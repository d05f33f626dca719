// Which OData type a column of DuckDB has (docs/odata/data.md, Types).
//
// Each OData type has one engine type that holds its values inside a query: a column of another engine type is cast
// to it when it is read, so that expressions and the JSON writer meet no other types than those named here.

import { isODataIdentifier } from '../../core/names.ts'
import { type ColumnType, columnType } from '../../core/relation.ts'
import { parseType, type TypeTree } from '../../core/type-syntax.ts'
import { type GeoName, type GeoShape, geoTypeOf } from './geo.ts'

export type EdmType = PrimitiveType | ComplexType | CollectionType

interface Facets {
  /** DuckDB's type of a value of this type in every query that this service makes. */
  readonly engine: ColumnType
  /** Digits of a Decimal; digits of the fraction of a second. */
  readonly precision: number | null
  /** Digits after the point of a Decimal. */
  readonly scale: number | null
  /** Members of an engine ENUM, which is served as its text. */
  readonly members: readonly string[] | null
}

export interface PrimitiveType extends Facets {
  readonly kind: 'primitive'
  readonly name: EdmName
  /** The reference system of a place, by its EPSG number; 0 for none that has one. Others have no SRID. */
  readonly srid?: number
}

export type EdmName = (typeof edm)[keyof typeof edm]['name'] | 'Edm.Decimal' | GeoName

/** A STRUCT. Its name is the name of the type in $metadata, without the namespace. */
export interface ComplexType extends Facets {
  readonly kind: 'complex'
  readonly name: string
  readonly properties: readonly ComplexProperty[]
}

interface ComplexProperty {
  readonly name: string
  readonly type: EdmType
}

/** The type of an object that a request writes out, which has no other. */
export const untypedObject: ComplexType = {
  kind: 'complex',
  name: 'Edm.Untyped',
  engine: columnType('VARCHAR'),
  precision: null,
  scale: null,
  members: null,
  properties: [],
}

/** A LIST. The value itself is never null, as OData has it: where DuckDB has NULL, it is empty. */
export interface CollectionType extends Facets {
  readonly kind: 'collection'
  readonly name: string
  readonly item: PrimitiveType | ComplexType
}

const edmType = <const Name extends string>(
  name: Name,
  engine: string,
  { precision = null, scale = null }: Partial<Pick<Facets, 'precision' | 'scale'>> = {},
) =>
  ({
    kind: 'primitive',
    name,
    engine: columnType(engine),
    precision,
    scale,
    members: null,
  }) as const

export const edm = {
  Binary: edmType('Edm.Binary', 'BLOB'),
  Boolean: edmType('Edm.Boolean', 'BOOLEAN'),
  Byte: edmType('Edm.Byte', 'TINYINT'),
  Date: edmType('Edm.Date', 'DATE'),
  DateTimeOffset: edmType('Edm.DateTimeOffset', 'TIMESTAMP', { precision: 6 }),
  Double: edmType('Edm.Double', 'DOUBLE'),
  Duration: edmType('Edm.Duration', 'INTERVAL', { precision: 6 }),
  Guid: edmType('Edm.Guid', 'UUID'),
  Int16: edmType('Edm.Int16', 'SMALLINT'),
  Int32: edmType('Edm.Int32', 'INTEGER'),
  Int64: edmType('Edm.Int64', 'BIGINT'),
  SByte: edmType('Edm.SByte', 'TINYINT'),
  Single: edmType('Edm.Single', 'FLOAT'),
  String: edmType('Edm.String', 'VARCHAR'),
  TimeOfDay: edmType('Edm.TimeOfDay', 'TIME', { precision: 6 }),
} as const

/** A Decimal of at most 38 digits. */
export function decimalType(precision: number, scale: number): PrimitiveType {
  return edmType('Edm.Decimal', `DECIMAL(${precision},${scale})`, { precision, scale })
}

/** Integers of up to 39 digits, which no DECIMAL holds. */
export const hugeDecimal = edmType('Edm.Decimal', 'HUGEINT', { precision: 39, scale: 0 })
const unsignedHugeDecimal = edmType('Edm.Decimal', 'UHUGEINT', { precision: 39, scale: 0 })

const typeOfEngineType: Readonly<Record<string, PrimitiveType>> = {
  BOOLEAN: edm.Boolean,
  TINYINT: edm.Byte,
  SMALLINT: edm.Int16,
  INTEGER: edm.Int32,
  BIGINT: edm.Int64,
  HUGEINT: hugeDecimal,
  // An unsigned type is served as the next signed one that holds it.
  UTINYINT: edm.Int16,
  USMALLINT: edm.Int32,
  UINTEGER: edm.Int64,
  UBIGINT: decimalType(20, 0),
  UHUGEINT: unsignedHugeDecimal,
  FLOAT: edm.Single,
  DOUBLE: edm.Double,
  VARCHAR: edm.String,
  DATE: edm.Date,
  TIME: edm.TimeOfDay,
  TIMESTAMP: edm.DateTimeOffset,
  TIMESTAMP_S: edm.DateTimeOffset,
  TIMESTAMP_MS: edm.DateTimeOffset,
  // Nanoseconds are cut to microseconds, as the declared Precision says.
  TIMESTAMP_NS: edm.DateTimeOffset,
  'TIMESTAMP WITH TIME ZONE': edm.DateTimeOffset,
  UUID: edm.Guid,
  BLOB: edm.Binary,
  INTERVAL: edm.Duration,
}

/** What the type of a column alone does not tell. */
interface ColumnTraits {
  /** A TINYINT is an Edm.Byte only while it holds no negative value. */
  readonly negative: boolean
  /**
   * What the complex type is called that a STRUCT becomes; types inside of it have this name plus a suffix. Null
   * where lists, structs and places are to be served as their text, as in a key.
   */
  readonly typeName: string | null
  /** That of all rows of a GEOMETRY; null or absent: they have several, or it is not known. */
  readonly shape?: GeoShape | null
}

/**
 * The OData type of a column. Served as their text are maps, unions, lists of lists, structs with a field that cannot be
 * named in OData, places inside of lists and structs, and everything else without its own type.
 */
export function edmTypeOf(type: ColumnType, traits: ColumnTraits): EdmType {
  if (type === 'TINYINT' && traits.negative) return edm.SByte
  const plain = typeOfEngineType[type]
  if (plain !== undefined) return plain
  const geo = traits.typeName === null ? null : geoTypeOf(type, traits.shape ?? null)
  if (geo !== null) return geo
  if (!/^(?:STRUCT|DECIMAL|ENUM)\(|\]$/.test(type)) return edm.String
  return typeOfTree(parseType(type), traits)
}

function typeOfTree(tree: TypeTree, traits: ColumnTraits): EdmType {
  switch (tree.is) {
    case 'scalar': {
      const [precision = 18, scale = 0] = tree.parameters
      if (tree.name === 'DECIMAL') return decimalType(precision, scale)
      return typeOfEngineType[tree.name] ?? edm.String
    }
    case 'enum':
      return { ...edm.String, members: tree.members }
    case 'struct':
      return complexType(tree.fields, traits.typeName) ?? edm.String
    case 'list': {
      if (traits.typeName === null || ['list', 'map', 'union'].includes(tree.element.is))
        return edm.String
      const item = itemType(tree.element, traits)
      return item === null ? edm.String : collectionOf(item)
    }
    default:
      return edm.String
  }
}

/** Null for an item that OData cannot show as what it is. */
function itemType(tree: TypeTree, traits: ColumnTraits): CollectionType['item'] | null {
  const item = typeOfTree(tree, { ...traits, negative: true })
  if (item.kind === 'collection' || (tree.is === 'struct' && item.kind === 'primitive')) return null
  return item
}

/** Null when a field has no name that OData allows. */
function complexType(
  fields: ReadonlyMap<string, TypeTree>,
  typeName: string | null,
): ComplexType | null {
  const names = [...fields.keys()]
  if (typeName === null || names.length === 0 || !names.every(isODataIdentifier)) return null
  const properties = Array.from(fields, ([name, tree]): ComplexProperty => {
    const type = typeOfTree(tree, { negative: true, typeName: `${typeName}_${name}` })
    return { name, type: byteless(type) }
  })
  const engine = properties.map(({ name, type }) => `"${name}" ${type.engine}`).join(', ')
  return {
    ...NO_FACETS,
    kind: 'complex',
    name: typeName,
    engine: columnType(`STRUCT(${engine})`),
    properties,
  }
}

const NO_FACETS = { precision: null, scale: null, members: null } as const

/** Nested values are ignored, and any TINYINT is an Edm.SByte. */
const byteless = <Type extends EdmType>(type: Type | PrimitiveType): Type | PrimitiveType =>
  type.name === 'Edm.Byte' ? edm.SByte : type

export function collectionOf(of: CollectionType['item']): CollectionType {
  const item = byteless(of)
  return {
    ...NO_FACETS,
    kind: 'collection',
    name: `Collection(${item.name})`,
    engine: columnType(`${item.engine}[]`),
    item,
  }
}

export const NAMESPACE = 'eider'
/** The name of the entity container. */
export const CONTAINER = 'Default'

/** The name of an entity type or a complex type with its namespace. */
export const qualifiedName = ({ name }: { readonly name: string }): string => `${NAMESPACE}.${name}`

/** Whether a segment of a path is a cast to this type. No type has a derived one, so such a cast changes nothing. */
export const isCastTo = (segment: string, type: { readonly name: string }): boolean =>
  segment === qualifiedName(type)
