import type { Options } from '../address/options.ts'
import { writeOptions } from '../address/options.ts'
import { typeOfPath, type EntitySet } from '../model/schema.ts'
import { usePage } from '../page.ts'
import { readFilter, type Condition, type TypeOfColumn } from '../address/filter.ts'
import { setFilter } from './table-actions.ts'
import { readRowsState, type RowsState } from './requests.ts'

export interface RowsContext {
  readonly set: EntitySet
  readonly state: RowsState
  readonly typeOf: TypeOfColumn
  /** All columns of the set in their own order, which is what `$select` is compared with. */
  readonly allColumns: readonly string[]
  readonly conditions: readonly Condition[]
  /** Shows the rows that meet other ones. */
  readonly filter: (conditions: readonly Condition[]) => void
  readonly change: (options: Options, how?: 'push' | 'replace') => void
}

/** `view` is where a change of the options leads. */
export function useRowsContext(
  set: EntitySet,
  query: string,
  view: 'rows' | 'columns' | 'chart' = 'rows',
): RowsContext {
  const page = usePage()
  const state = readRowsState(set.name, query)
  const typeOf = (path: string) => typeOfPath(page.schema, set, path)
  const change = (options: Options, how?: 'push' | 'replace') =>
    page.navigate({ view, set: set.name, query: writeOptions(options) }, how)
  return {
    set,
    state,
    typeOf,
    conditions: readFilter(state.options.get('$filter') ?? '', typeOf),
    filter: (conditions) => change(setFilter(state.options, typeOf, conditions)),
    allColumns: set.properties.map(({ name }) => name),
    change,
  }
}
