import {
  encodeKey,
  type Options,
  readOptions,
  withOptions,
  writeOptions,
} from '../address/options.ts'
import { splitTopLevel } from '../address/literal.ts'
import type { Catalog } from '../../../core/catalog.ts'
import { readSelect } from '../address/order.ts'
import {
  type EntitySet,
  freeNames,
  navigationOf,
  pathTo,
  type Property,
  type Row,
  type Value,
  memberNames,
} from '../model/schema.ts'

/** How many columns stay at the left means nothing to the service. The page wants JSON even when the address does not. */
const OWN = { pin: undefined, $format: undefined }

export interface RowsState {
  readonly set: string
  readonly options: Options
}

export function readRowsState(set: string, query: string): RowsState {
  return { set, options: readOptions(query) }
}

/** What the address says, to be shown, copied and pasted. */
export function rowsRequest({ set, options }: RowsState): string {
  return requestOf(set, withOptions(options, OWN))
}

/** Rows of a first page: what a screen shows, and some that scroll in at once. */
export const FIRST_PAGE = 100

/** Above that many bytes rows take seconds to come and to be read, and a table shows a small part of them. */
export const MOST_BYTES = 4_000_000

/** The first page also counts; later pages come by their next links. */
export function firstPageRequest({ set, options }: RowsState): string {
  const counted = options.has('$count') ? {} : { $count: 'true' }
  return requestOf(set, withOptions(options, { ...OWN, ...counted }))
}

/** Parameter aliases belong to the options that use them. */
export function countRequest({ set, options }: RowsState): string {
  const counted = ['$apply', '$compute', '$search', '$filter']
  const kept = [...options].filter(([name]) => counted.includes(name) || name.startsWith('@'))
  return requestOf(`${set}/$count`, new Map(kept))
}

/** All rows at once. `$expand` and `$count` have no place in a table. */
export function fileRequest(
  { set, options }: RowsState,
  format: 'csv' | 'parquet' | 'xlsx',
): string {
  const kept = withOptions(options, { ...OWN, $count: undefined, $expand: undefined })
  return requestOf(set, withOptions(kept, { $format: format }))
}

export function valuesRequest(
  { set, options }: RowsState,
  column: string,
  filter: string,
  top: number,
): string {
  const search = options.get('$search')
  const steps = [
    ...(search ? [`search(${search})`] : []),
    ...(filter ? [`filter(${filter})`] : []),
    `groupby((${column}),aggregate($count as ${COUNT}))`,
    `topcount(${top},${COUNT})`,
  ]
  return requestOf(set, new Map([['$apply', steps.join('/')]]))
}

/** How the number of rows is called in answers. No column has this name unless somebody wants to break the page. */
export const COUNT = 'rows_of_value'

export function differentRequest(set: string, columns: readonly string[]): string {
  const parts = columns.map((name) => `${name} with countdistinct as ${name}`)
  parts.push(`$count as ${COUNT}`)
  return requestOf(set, new Map([['$apply', `aggregate(${parts.join(',')})`]]))
}

export const MOST_VALUES = 20

/** Few, and most of them more than once: values that occur once are the rows once more. */
export function isFew(count: Value | undefined, rows: Value | undefined): boolean {
  const number = Number(count)
  return number >= 2 && number <= MOST_VALUES && number * 2 <= Number(rows)
}

export function rowRequest(set: string, key: string, options: Options = new Map()): string {
  return requestOf(`${set}(${encodeKey(key)})`, options)
}

/** Whether the rows are those of the set itself, with its columns and keys. */
export function isOfSet({ options }: RowsState): boolean {
  const apply = options.get('$apply')
  if (apply === undefined) return true
  const keeping = /^(?:filter|search|orderby|top|skip|topcount|bottomcount|identity)\b/
  return splitTopLevel(apply, '/').every((transformation) => keeping.test(transformation))
}

function requestOf(path: string, options: Options): string {
  const query = writeOptions(options)
  return query === '' ? path : `${path}?${query}`
}

// Rows whose values are too long for a table: of each text its beginning, and what has no beginning left out. The whole
// value is asked for when somebody wants it.

/** One more than a cell shows, so that it shows that there is more. */
const CHARACTERS = 161

/** Measured in the files of the engine; as text it is more. */
const MOST_BYTES_OF_A_ROW = 20_000

export function isKnownToBeLong(
  catalog: Pick<Catalog, 'sets'> | null,
  { name }: EntitySet,
): boolean {
  const set = catalog?.sets.find((one) => one.name === name)
  return set !== undefined && set.bytes > set.rows * MOST_BYTES_OF_A_ROW && set.bytes > MOST_BYTES
}

export interface ShortRows {
  readonly request: string
  readonly read: (rows: readonly Row[]) => readonly Row[]
}

/** Undefined where nothing can be shortened. `skip`: rows that are there already. */
export function shortRows(set: EntitySet, state: RowsState, skip: number): ShortRows | undefined {
  if (!isOfSet(state)) return undefined
  const { options } = state
  const wanted = readSelect(options.get('$select')) ?? set.properties.map(({ name }) => name)
  const free = freeNames(memberNames(set))
  const properties = new Map(set.properties.map((property) => [property.name, property]))
  const texts = new Map<string, string>()
  const select = wanted.flatMap((name) => {
    const property = properties.get(name)
    if (property === undefined || !canBeLong(set, property)) return [name]
    if (property.edm !== 'Edm.String' || property.isList) return []
    texts.set(name, free(`${name}_start`))
    return [texts.get(name)!]
  })
  if (select.length === 0 || (texts.size === 0 && select.length === wanted.length)) return undefined
  const starts = [...texts].map(
    ([name, start]) => `substring(${pathTo(name)},0,${CHARACTERS}) as ${start}`,
  )
  const compute = [options.get('$compute'), ...starts].filter(Boolean).join(',')
  const changed = withOptions(options, {
    $select: select.join(','),
    $compute: compute,
    ...from(options.get('$skip'), options.get('$top'), skip),
  })
  return {
    request: firstPageRequest({ ...state, options: changed }),
    read: (rows) =>
      rows.map((row) => {
        const short: Record<string, Value> = { ...row }
        for (const [name, start] of texts) short[name] = row[start] ?? null
        return short
      }),
  }
}

/** Whether a value of short rows is not all of what is in the row. */
export function isPart(property: Property | undefined, value: Value | undefined): boolean {
  if (property === undefined) return false
  return value === undefined || (typeof value === 'string' && value.length >= CHARACTERS)
}

function canBeLong(set: EntitySet, { name, edm, isList }: Property): boolean {
  if (set.key.includes(name) || navigationOf(set, name) !== undefined) return false
  return isList || ['Edm.String', 'Edm.Binary', 'Edm.Untyped'].includes(edm)
}

function from(skip: string | undefined, top: string | undefined, here: number) {
  if (here === 0) return {}
  return {
    $skip: String(Number(skip ?? 0) + here),
    ...(top === undefined ? {} : { $top: String(Math.max(0, Number(top) - here)) }),
  }
}
