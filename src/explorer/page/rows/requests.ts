// The requests for the rows of a set, relative to the root of the service.

import {
  encodeKey,
  type Options,
  readOptions,
  withOptions,
  writeOptions,
} from '../address/options.ts'
import { splitTopLevel } from '../address/literal.ts'

/** Options of the page itself, which mean nothing to the service: how many columns stay at the left. */
const OWN_OPTIONS = ['pin']

export interface RowsState {
  readonly set: string
  readonly options: Options
}

export function readRowsState(set: string, query: string): RowsState {
  return { set, options: readOptions(query) }
}

/** What the address says, to be shown, copied and pasted. The page wants JSON even when the address does not. */
export function rowsRequest({ set, options }: RowsState): string {
  return requestOf(set, withOptions(options, { ...omitted(OWN_OPTIONS), $format: undefined }))
}

/** Rows of a first page: what a screen shows, and some that scroll in at once. */
export const FIRST_PAGE = 100

/** Above that many bytes rows take seconds to come and to be read, and a table shows a small part of them. */
export const MOST_BYTES = 4_000_000

/** The first page also counts; later pages come by their next links. */
export function firstPageRequest(state: RowsState): string {
  const options = withOptions(state.options, { ...omitted(OWN_OPTIONS), $format: undefined })
  return requestOf(
    state.set,
    options.has('$count') ? options : new Map([...options, ['$count', 'true']]),
  )
}

export function countRequest({ set, options }: RowsState): string {
  return requestOf(
    `${set}/$count`,
    only(options, ['$apply', '$compute', '$search', '$filter'], true),
  )
}

/** All rows at once. `$expand` and `$count` have no place in a table. */
export function fileRequest({ set, options }: RowsState, format: 'csv' | 'parquet'): string {
  const kept = withOptions(options, {
    ...omitted(OWN_OPTIONS),
    $count: undefined,
    $expand: undefined,
  })
  return requestOf(set, withOptions(kept, { $format: format }))
}

/** The values of a column among the rows of the address, most frequent first. */
export function valuesRequest(
  { set, options }: RowsState,
  column: string,
  filter: string,
  top: number,
): string {
  const steps = [
    ...step('search', options.get('$search')),
    ...step('filter', filter),
    `groupby((${column}),aggregate($count as ${COUNT}))`,
    `topcount(${top},${COUNT})`,
  ]
  return requestOf(set, new Map([['$apply', steps.join('/')]]))
}

/** How the number of rows is called in answers. No column has this name unless somebody wants to break the page. */
export const COUNT = 'rows_of_value'

/** How many different values each column has in the whole set. */
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

function omitted(names: readonly string[]): Record<string, undefined> {
  return Object.fromEntries(names.map((name) => [name, undefined]))
}

/** Parameter aliases belong to the options that use them. */
function only(options: Options, names: readonly string[], withAliases: boolean): Options {
  return new Map(
    [...options].filter(([name]) => names.includes(name) || (withAliases && name.startsWith('@'))),
  )
}

function step(name: string, argument: string | undefined): string[] {
  return argument === undefined || argument === '' ? [] : [`${name}(${argument})`]
}
