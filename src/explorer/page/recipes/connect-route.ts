// Where the recipes of a request are: /connect?set=core_orders&$filter=…

import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { state } from '../parts/state.ts'
import type { RowsState } from '../rows/requests.ts'

/** What a chart asks depends on the values of its columns, so it is not in the address. Null where no chart is shown. */
export const requestOfChart = state<RowsState | null>(null)

export function connectRoute({ set, options }: RowsState): Route {
  return { view: 'connect', query: writeOptions(new Map([['set', set], ...options])) }
}
