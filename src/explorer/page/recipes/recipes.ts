// All tools, in the order in which the page shows them.

import { readSelect } from '../address/order.ts'
import { withOptions } from '../address/options.ts'
import type { EntitySet } from '../model/schema.ts'
import { fileRequest, isOfSet, rowsRequest, type RowsState } from '../rows/requests.ts'
import type { Recipe, RecipeSource } from './recipe.ts'
import { curl, duckDb, javaScript, pandas, polars, r } from './scripts.ts'
import { excel, grafana, powerBi, qlik, tableau } from './tables.ts'

export function recipesFor(source: RecipeSource): readonly Recipe[] {
  return [excel, powerBi, tableau, qlik, grafana, pandas, polars, duckDb, r, curl, javaScript].map(
    (recipe) => recipe(source),
  )
}

/** `hasParquet`: whether the service has that format. */
export function recipeSource(
  serviceUrl: string,
  set: EntitySet,
  state: RowsState,
  hasParquet: boolean,
): RecipeSource {
  const bare = rowsRequest({ ...state, options: withOptions(state.options, { $count: undefined }) })
  const selected = readSelect(state.options.get('$select'))
  return {
    serviceUrl,
    set: set.name,
    rowsUrl: serviceUrl + bare,
    csvUrl: serviceUrl + fileRequest(state, 'csv'),
    parquetUrl: hasParquet ? serviceUrl + fileRequest(state, 'parquet') : undefined,
    isWholeSet: bare === set.name,
    properties: isOfSet(state)
      ? set.properties.filter(({ name }) => selected === undefined || selected.includes(name))
      : [],
  }
}
