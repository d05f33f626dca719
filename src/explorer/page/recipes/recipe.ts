// How to get the rows of a request into a tool: what to click, what to paste. No text here ever has a token in it.

import type { Property } from '../model/schema.ts'
import { writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { state } from '../parts/state.ts'
import type { RowsState } from '../rows/requests.ts'

export interface RecipeSource {
  /** The root of the service, with a slash at its end. */
  readonly serviceUrl: string
  readonly set: string
  /** All of these are whole URLs, percent-encoded, so that they are ASCII. */
  readonly rowsUrl: string
  readonly csvUrl: string
  /** Undefined where the service has no such format. */
  readonly parquetUrl: string | undefined
  /** Whether the request is the whole set, without a condition or a choice of columns. */
  readonly isWholeSet: boolean
  /** Those that are asked for. */
  readonly properties: readonly Property[]
}

export interface Recipe {
  readonly id: ToolId
  readonly tool: string
  /** To be done by hand, in this order. */
  readonly steps: readonly string[]
  /** To be pasted. */
  readonly codes: readonly Code[]
  /** To be downloaded and opened. */
  readonly file?: { readonly name: string; readonly content: string; readonly type: string }
  /** What to do where the service asks for a token. */
  readonly token: string
  /** What to know before one is surprised. */
  readonly notes: readonly string[]
}

interface Code {
  /** Tells several of one tool apart. */
  readonly name: string
  readonly text: string
}

export type ToolId =
  | 'excel'
  | 'power-bi'
  | 'tableau'
  | 'qlik'
  | 'grafana'
  | 'pandas'
  | 'polars'
  | 'duckdb'
  | 'r'
  | 'curl'
  | 'javascript'

export const BASIC_DIALOG =
  'Where it asks for a token: choose Basic, any user name, the token as the password.'

/** The text as a string literal of JavaScript, Python and R alike. */
export function doubleQuoted(text: string): string {
  return JSON.stringify(text)
}

/** A quote in a URL may as well be encoded; then it needs no escape in any shell. */
export function withoutQuotes(url: string): string {
  return url.replaceAll("'", '%27')
}

/** What a chart asks depends on the values of its columns, so it is not in the address. Null where no chart is shown. */
export const requestOfChart = state<RowsState | null>(null)

/** Where the recipes of a request are: /connect?set=core_orders&$filter=… */
export function connectRoute({ set, options }: RowsState): Route {
  return { view: 'connect', query: writeOptions(new Map([['set', set], ...options])) }
}
