// The functions of the query language, one row each: what they take, what they return, and the call that stands for them in
// the bound request. A name with several rows is chosen by its arguments; where the SQL differs, so does the call. Every
// function returns null when an argument is null. sql/functions.ts says how a call is printed.

import { type GeoShape, type GeoSurface, geoType, WGS84 } from '../../edm/geo.ts'
import { decimalType, edm, type EdmType } from '../../edm/types.ts'

interface Signature<Call> {
  readonly name: string
  readonly call: Call
  /** For each parameter the types it takes, by their names. The literal null is taken as the first of them. */
  readonly parameters: Parameters
  readonly result: Result
}

type Parameters = readonly (readonly EdmType[])[]
/** Some results have the type of the first argument, or one like it. */
type Result = EdmType | ((first: EdmType) => EdmType)

const TEXT = [edm.String]
const INTEGER = [edm.Int64, edm.Int32, edm.Int16, edm.Byte, edm.SByte]
const FLOAT = [edm.Double, edm.Single]
const DECIMAL = [decimalType(38, 0)]
const DAY = [edm.DateTimeOffset, edm.Date]
const CLOCK = [edm.DateTimeOffset, edm.TimeOfDay]
const INSTANT = [edm.DateTimeOffset]
const DURATION = [edm.Duration]
/** A column of several shapes is taken for each: of a value with another shape the function is null. */
const shapesOn =
  (surface: GeoSurface) =>
  (...shapes: readonly GeoShape[]) =>
    [...shapes, null].map((shape) => geoType(surface, surface === 'Geography' ? WGS84 : 0, shape))
const ON_EARTH = shapesOn('Geography')
const IN_PLANE = shapesOn('Geometry')
const LINES = ['LineString', 'MultiLineString'] as const
const AREAS = ['Polygon', 'MultiPolygon'] as const

/** The call has the name of the function, unless another one is given. */
const row = <const Name extends string, const Call extends string = Name>(
  name: Name,
  parameters: Parameters,
  result: Result,
  call: Call = name as string as Call,
): Signature<Call> => ({ name, call, parameters, result })

const sameType = (type: EdmType) => type
const withoutFraction = (type: EdmType) =>
  type.scale === 0 ? type : decimalType(type.precision!, 0)

const rows = [
  row('contains', [TEXT, TEXT], edm.Boolean),
  row('startswith', [TEXT, TEXT], edm.Boolean),
  row('endswith', [TEXT, TEXT], edm.Boolean),
  row('tolower', [TEXT], edm.String),
  row('toupper', [TEXT], edm.String),
  row('length', [TEXT], edm.Int32),
  row('trim', [TEXT], edm.String),
  row('concat', [TEXT, TEXT], edm.String),
  row('indexof', [TEXT, TEXT], edm.Int32),
  row('substring', [TEXT, INTEGER], edm.String, 'substringFrom'),
  row('substring', [TEXT, INTEGER, INTEGER], edm.String),
  row('year', [DAY], edm.Int32),
  row('month', [DAY], edm.Int32),
  row('day', [DAY], edm.Int32),
  row('hour', [CLOCK], edm.Int32),
  row('minute', [CLOCK], edm.Int32),
  row('second', [CLOCK], edm.Int32),
  row('fractionalseconds', [CLOCK], decimalType(6, 6)),
  row('date', [INSTANT], edm.Date),
  row('time', [INSTANT], edm.TimeOfDay),
  row('totaloffsetminutes', [INSTANT], edm.Int32),
  row('totalseconds', [DURATION], decimalType(25, 6)),
  row('mindatetime', [], edm.DateTimeOffset),
  row('maxdatetime', [], edm.DateTimeOffset),
  row('round', [FLOAT], sameType),
  row('round', [DECIMAL], withoutFraction),
  row('round', [INTEGER], sameType, 'whole'),
  row('floor', [FLOAT], sameType),
  row('floor', [DECIMAL], withoutFraction),
  row('floor', [INTEGER], sameType, 'whole'),
  row('ceiling', [FLOAT], sameType),
  row('ceiling', [DECIMAL], withoutFraction),
  row('ceiling', [INTEGER], sameType, 'whole'),
  row('geo.distance', [ON_EARTH('Point'), ON_EARTH('Point')], edm.Double, 'distanceOnEarth'),
  row('geo.distance', [IN_PLANE('Point'), IN_PLANE('Point')], edm.Double, 'distanceInPlane'),
  row('geo.length', [ON_EARTH(...LINES)], edm.Double, 'lengthOnEarth'),
  row('geo.length', [IN_PLANE(...LINES)], edm.Double, 'lengthInPlane'),
  row('geo.intersects', [ON_EARTH('Point'), ON_EARTH(...AREAS)], edm.Boolean, 'intersects'),
  row('geo.intersects', [IN_PLANE('Point'), IN_PLANE(...AREAS)], edm.Boolean, 'intersects'),
]

/** A function of collections; its result is of the type of the first argument where that is null. */
export interface CollectionFunction {
  readonly call: CallName
  readonly result: EdmType | null
}

/** Functions of two collections with items of one type. */
const ofTwo = {
  concat: { call: 'listConcat', result: null },
  contains: { call: 'listContains', result: edm.Boolean },
  startswith: { call: 'listStartswith', result: edm.Boolean },
  endswith: { call: 'listEndswith', result: edm.Boolean },
  indexof: { call: 'listIndexof', result: edm.Int32 },
  hassubset: { call: 'hassubset', result: edm.Boolean },
  hassubsequence: { call: 'hassubsequence', result: edm.Boolean },
} as const

export const functionsOfTwo: Readonly<Record<string, CollectionFunction>> = ofTwo

/** Functions of one collection and, for a part of it, numbers of items. */
export const functionsOfOne = {
  length: { call: 'listLength', result: edm.Int32 },
  substringFrom: { call: 'listSliceFrom', result: null },
  substring: { call: 'listSlice', result: null },
} as const

/** What operators and other parts of the language are called in the bound request. */
type OperatorCall =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'mod'
  | 'negate'
  /** These fail where the result is beyond the years 1 to 9999. */
  | 'timeAdd'
  | 'timeSub'
  | 'dateAdd'
  | 'dateSub'
  /** The result is cast to its own type, a Decimal with the digits of the calculation. */
  | 'exactAdd'
  | 'exactSub'
  | 'exactMul'
  | 'exactMod'
  /** The division of integers. */
  | 'wholeDiv'
  /** These fail where the divisor is zero, which DuckDB would answer with NULL. */
  | 'checkedDiv'
  | 'checkedMod'
  | 'checkedWholeDiv'
  | 'checkedWholeMod'
  | 'checkedExactMod'
  | 'durationMul'
  | 'durationDiv'
  | 'daysBetween'
  | 'cast'
  | 'has'
  | 'matchespattern'
  | 'search'
  /** Whether values are the same, null and NaN too. */
  | 'same'
  /** Whether a link leads from one row to another, which null does not. */
  | 'linked'
  /** A text that no other value has, which also ends where it says. */
  | 'linkText'
  /** Whether a collection has just so many items, or at least so many. */
  | 'hasLength'
  | 'hasItem'
  /** Counted from 1; a negative place is counted from the end. */
  | 'itemAt'
  /** A part of a key as it stands in a URL. */
  | 'textInUrl'
  | 'valueInUrl'

/** Each has its SQL in sql/functions.ts. */
export type CallName =
  | (typeof rows)[number]['call']
  | (typeof ofTwo)[keyof typeof ofTwo]['call']
  | (typeof functionsOfOne)[keyof typeof functionsOfOne]['call']
  | OperatorCall

export type FunctionRow = Signature<CallName>

const rowsOfName = new Map<string, FunctionRow[]>()
for (const each of rows) rowsOfName.set(each.name, [...(rowsOfName.get(each.name) ?? []), each])

/** Case-insensitive; empty when the function does not exist. */
export const functionsNamed = (name: string): readonly FunctionRow[] =>
  rowsOfName.get(name.toLowerCase()) ?? []

/** Whether the engine calculates it by the extension spatial. */
export const needsSpatial = (name: string): boolean => name.toLowerCase().startsWith('geo.')

/** Functions whose arguments are not plain values: each is bound by its own function (call.ts). */
const specialFunctions = ['cast', 'isdefined', 'isof', 'matchespattern', 'now'] as const

export type SpecialFunction = (typeof specialFunctions)[number]

export const functionNames: readonly string[] = [
  ...new Set([...rowsOfName.keys(), ...Object.keys(functionsOfTwo), ...specialFunctions]),
]
