// The requests for the rows of a set, relative to the root of the service.

import {
  encodeKey,
  type Options,
  readOptions,
  withOptions,
  writeOptions,
} from '../address/options.ts'
import { splitTopLevel } from '../address/literal.ts'

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
export function fileRequest({ set, options }: RowsState, format: 'csv' | 'parquet'): string {
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
  return requestOf(set, new Map([['$apply', `aggregate(${parts.join(',')})`]]))
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
