// What the parts of the rows view share.

import type { Options } from '../address/options.ts'
import { writeOptions } from '../address/options.ts'
import { typeOfPath, type EntitySet } from '../model/schema.ts'
import { usePage } from '../page.ts'
import type { TypeOfColumn } from '../address/filter.ts'
import { readRowsState, type RowsState } from './requests.ts'

export interface RowsContext {
  readonly set: EntitySet
  readonly state: RowsState
  readonly typeOf: TypeOfColumn
  /** All columns of the set in their own order, which is what `$select` is compared with. */
  readonly allColumns: readonly string[]
  /** Shows the rows of other options. */
  readonly change: (options: Options, how?: 'push' | 'replace') => void
}

/** `view` is where a change of the options leads. */
export function useRowsContext(
  set: EntitySet,
  query: string,
  view: 'rows' | 'columns' | 'chart' = 'rows',
): RowsContext {
  const page = usePage()
  return {
    set,
    state: readRowsState(set.name, query),
    typeOf: (path) => typeOfPath(page.schema, set, path),
    allColumns: set.properties.map(({ name }) => name),
    change: (options, how) =>
      page.navigate({ view, set: set.name, query: writeOptions(options) }, how),
  }
}
