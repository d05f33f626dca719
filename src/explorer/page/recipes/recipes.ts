// How to get the rows of a request into a tool: what to click, what to paste. No text here ever has a token in it.

import { readSelect } from '../address/order.ts'
import { withOptions, writeOptions } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import type { EntitySet, Property } from '../model/schema.ts'
import { state } from '../parts/state.ts'
import { fileRequest, isOfSet, rowsRequest, type RowsState } from '../rows/requests.ts'

interface RecipeSource {
  /** The root of the service, with a slash at its end. */
  readonly serviceUrl: string
  readonly set: string
  /** All of these are whole URLs, percent-encoded, so that they are ASCII. */
  readonly rowsUrl: string
  readonly csvUrl: string
  readonly parquetUrl: string | undefined
  /** Whether the request is the whole set, without a condition or a choice of columns. */
  readonly isWholeSet: boolean
  readonly properties: readonly Property[]
}

export interface Recipe {
  readonly tool: string
  readonly steps?: readonly string[]
  /** To be pasted: the text, by a name that tells several of one tool apart. */
  readonly codes: Readonly<Record<string, string>>
  readonly file?: { readonly name: string; readonly content: string; readonly type: string }
  readonly token: string
  /** What to know before one is surprised. */
  readonly notes?: readonly string[]
}

export type ToolId = keyof typeof recipes

/** What a chart asks depends on the values of its columns, so it is not in the address. Null where no chart is shown. */
export const requestOfChart = state<RowsState | null>(null)

/** Where the recipes of a request are: /connect?set=core_orders&$filter=… */
export function connectRoute({ set, options }: RowsState): Route {
  return { view: 'connect', query: writeOptions(new Map([['set', set], ...options])) }
}

/** All tools, in the order in which the page shows them. `hasParquet`: whether the service has that format. */
export function recipesFor(
  serviceUrl: string,
  set: EntitySet,
  rows: RowsState,
  hasParquet: boolean,
): readonly (Recipe & { readonly id: ToolId })[] {
  const bare = rowsRequest({ ...rows, options: withOptions(rows.options, { $count: undefined }) })
  const selected = readSelect(rows.options.get('$select'))
  const source: RecipeSource = {
    serviceUrl,
    set: set.name,
    rowsUrl: serviceUrl + bare,
    csvUrl: serviceUrl + fileRequest(rows, 'csv'),
    parquetUrl: hasParquet ? serviceUrl + fileRequest(rows, 'parquet') : undefined,
    isWholeSet: bare === set.name,
    properties: isOfSet(rows)
      ? set.properties.filter(({ name }) => selected === undefined || selected.includes(name))
      : [],
  }
  return (Object.keys(recipes) as ToolId[]).map((id) => ({ id, ...recipes[id](source) }))
}

const recipes = {
  excel,
  'power-bi': powerBi,
  tableau,
  qlik,
  grafana,
  pandas,
  polars,
  duckdb,
  r,
  curl,
  javascript,
}

// Programs with windows: spreadsheets, reports, dashboards.

const BASIC_DIALOG =
  'Where it asks for a token: choose Basic, any user name, the token as the password.'

function excel({ serviceUrl, set, rowsUrl, isWholeSet }: RecipeSource): Recipe {
  return {
    tool: 'Excel',
    steps: [
      'Data › Get Data › From Other Sources › From OData Feed',
      'Paste the URL below and press OK.',
      isWholeSet ? `Choose ${set} and press Load.` : 'Press Load.',
    ],
    codes: { URL: isWholeSet ? withoutSlash(serviceUrl) : rowsUrl },
    token: BASIC_DIALOG,
    notes: ['Data › Refresh All asks again, and brings what was published since.'],
  }
}

function powerBi({ serviceUrl, set, rowsUrl, isWholeSet }: RecipeSource): Recipe {
  const url = withoutSlash(serviceUrl)
  const options = 'null, [Implementation="2.0", Concurrent=true]'
  const feed = (of: string) => `OData.Feed(${mText(of)}, ${options})`
  // The file opens Power BI Desktop at the dialog of this service.
  const connection = {
    details: { protocol: 'odata', address: { url } },
    options: {},
    mode: 'Import',
  }
  return {
    tool: 'Power BI',
    steps: [
      'Get data › Blank query › Advanced Editor',
      'Put this between let and in, or paste it as the whole query:',
    ],
    codes: {
      M: isWholeSet ? `${feed(url)}{[Name=${mText(set)},Signature="table"]}[Data]` : feed(rowsUrl),
    },
    file: {
      name: `${set}.pbids`,
      content: `${JSON.stringify({ version: '0.1', connections: [connection] }, null, 2)}\n`,
      type: 'application/json',
    },
    token: BASIC_DIALOG,
    notes: [
      'The .pbids file opens Power BI Desktop with the service chosen already; it has no place for a request.',
    ],
  }
}

function tableau({ serviceUrl, set, isWholeSet }: RecipeSource): Recipe {
  const part =
    'Tableau asks for whole sets: the request above cannot be handed to it. Choose in Tableau, or put the choice into a model.'
  return {
    tool: 'Tableau',
    steps: [
      'Connect › To a Server › OData',
      'Paste the URL below as the server.',
      'Tableau reads an extract: refresh it after a run.',
    ],
    codes: { URL: serviceUrl + set },
    token: 'Where the service has a token: any user name, the token as the password.',
    notes: isWholeSet ? [] : [part],
  }
}

function qlik({ rowsUrl }: RecipeSource): Recipe {
  return {
    tool: 'Qlik',
    steps: [
      'Add data › REST, method GET, with the URL below.',
      'Pagination: Next URL, path @odata.nextLink.',
      'Root of the data: value.',
    ],
    codes: { URL: rowsUrl },
    token:
      'Where the service has a token: Basic authentication, any user name, the token as the password.',
  }
}

function grafana({ serviceUrl, set, rowsUrl, isWholeSet, properties }: RecipeSource): Recipe {
  const day = properties.find(({ edm, isList }) => edm === 'Edm.DateTimeOffset' && !isList)?.name
  const grouped = `${serviceUrl}${set}?$apply=groupby((${day}),aggregate($count%20as%20n))&$orderby=${day}`
  const url = isWholeSet && day !== undefined ? grouped : rowsUrl
  return {
    tool: 'Grafana',
    steps: [
      'Add the data source Infinity, with the host of the service as an allowed host.',
      'Query: type JSON, method GET, the URL below, root selector value.',
      'Name the column of time as a timestamp in the columns of the query.',
    ],
    codes: { URL: url.replaceAll(';', '%3B') },
    token:
      'Where the service has a token: authentication Bearer token, or Basic with any user name.',
    notes: [
      'Grafana reads the first page only, so let the service aggregate with $apply.',
      'A semicolon in a URL is written %3B.',
      'It shows an Edm.Date as nothing and stops at NaN: expose a TIMESTAMP.',
    ],
  }
}

const withoutSlash = (url: string) => url.replace(/\/$/, '')

/** A text of M: quotes are doubled, and `#(` would begin an escape. */
const mText = (text: string) => `"${text.replaceAll('"', '""').replaceAll('#(', '#(#)(')}"`

// People who write code. JSON is a string literal of JavaScript, Python and R alike.

const doubleQuoted = (text: string) => JSON.stringify(text)

function pandas({ rowsUrl, csvUrl, parquetUrl, properties }: RecipeSource): Recipe {
  const plain = properties.filter(({ isList }) => !isList)
  const types = plain.flatMap(({ name, edm }) =>
    PANDAS_TYPES[edm] === undefined ? [] : [`${doubleQuoted(name)}: "${PANDAS_TYPES[edm]}"`],
  )
  const times = plain.filter(({ edm }) => /^Edm\.(?:DateTimeOffset|Date)$/.test(edm))
  const dates = times.map(({ name }) => doubleQuoted(name)).join(', ')
  const dtype = types.length === 0 ? '' : `,\n    dtype={${types.join(', ')}}`
  const parsed = dates === '' ? '' : `,\n    parse_dates=[${dates}], date_format="ISO8601"`
  return {
    tool: 'pandas',
    codes: {
      ...parquetOf('pd', 'pandas as pd', parquetUrl),
      CSV: `import pandas as pd\n\ndf = pd.read_csv(${doubleQuoted(csvUrl)}${dtype}${parsed})`,
      'all pages of JSON': `import pandas as pd, requests

url, rows = ${doubleQuoted(rowsUrl)}, []
while url:
    page = requests.get(url, headers={"Accept": "application/json;odata.metadata=none"}).json()
    rows += page["value"]
    url = page.get("@odata.nextLink")
df = pd.DataFrame(rows)`,
    },
    token:
      'With a token: storage_options={"Authorization": "Bearer " + token} in read_csv, auth=("", token) in requests.',
    notes: ['Decimals of a CSV become floats; dtype "string" for them keeps all digits.'],
  }
}

/** Types that take a null; without them a column of integers with one becomes one of floats. */
const PANDAS_TYPES: Readonly<Record<string, string>> = {
  'Edm.String': 'string',
  'Edm.Guid': 'string',
  'Edm.Boolean': 'boolean',
  'Edm.Byte': 'UInt8',
  'Edm.SByte': 'Int8',
  'Edm.Int16': 'Int16',
  'Edm.Int32': 'Int32',
  'Edm.Int64': 'Int64',
}

function polars({ csvUrl, parquetUrl }: RecipeSource): Recipe {
  return {
    tool: 'polars',
    codes: {
      ...parquetOf('pl', 'polars as pl', parquetUrl),
      CSV: `import polars as pl\n\ndf = pl.read_csv(${doubleQuoted(csvUrl)}, try_parse_dates=True)`,
    },
    token:
      'With a token: pl.read_csv(requests.get(url, auth=("", token)).content), with requests imported.',
  }
}

const parquetOf = (alias: string, module: string, url: string | undefined) =>
  url && { Parquet: `import ${module}\n\ndf = ${alias}.read_parquet(${doubleQuoted(url)})` }

function duckdb({ csvUrl, parquetUrl }: RecipeSource): Recipe {
  const from = (reader: string, url: string) => `FROM ${reader}('${url.replaceAll("'", "''")}');`
  return {
    tool: 'DuckDB',
    codes: {
      ...(parquetUrl && { Parquet: from('read_parquet', parquetUrl) }),
      CSV: from('read_csv', csvUrl),
    },
    token: "With a token, once a session: CREATE SECRET (TYPE http, BEARER_TOKEN '…');",
    notes: ['INSTALL httpfs; LOAD httpfs; if DuckDB does not load it automatically.'],
  }
}

function r({ csvUrl }: RecipeSource): Recipe {
  return {
    tool: 'R',
    codes: {
      base: `df <- read.csv(${doubleQuoted(csvUrl)})`,
      readr: `df <- readr::read_csv(${doubleQuoted(csvUrl)})`,
    },
    token:
      'With a token: httr2::request(url) |> httr2::req_auth_basic("", token) |> httr2::req_perform() |> httr2::resp_body_string() |> I() |> readr::read_csv()',
  }
}

function curl({ csvUrl, rowsUrl, set }: RecipeSource): Recipe {
  // A quote in a URL may as well be encoded; then it needs no escape in any shell.
  const [csv, rows] = [csvUrl, rowsUrl].map((url) => url.replaceAll("'", '%27'))
  return {
    tool: 'curl',
    codes: {
      sh: `curl -fsS -o ${set}.csv '${csv}'`,
      PowerShell: `curl.exe -fsS -o ${set}.csv '${csv}'`,
      JSON: `curl -fsS '${rows}'`,
    },
    token: 'With a token: add -u me and type the token as the password.',
    notes: ['A body that ends well is complete: curl fails when the service had to cut it off.'],
  }
}

function javascript({ rowsUrl }: RecipeSource): Recipe {
  return {
    tool: 'JavaScript',
    codes: {
      'all pages': `const rows = []
let url = ${doubleQuoted(rowsUrl)}
const headers = { Accept: 'application/json;odata.metadata=none;IEEE754Compatible=true' }
while (url) {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(await response.text())
  const page = await response.json()
  rows.push(...page.value)
  url = page['@odata.nextLink']
}`,
    },
    token: 'With a token: Authorization: `Bearer ${token}` in the headers.',
    notes: ['Int64 and Decimal come as strings, so that no digit is lost.'],
  }
}
