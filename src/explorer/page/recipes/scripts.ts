// Recipes for people who write code.

import type { Property } from '../model/schema.ts'
import { doubleQuoted, withoutQuotes, type Recipe, type RecipeSource } from './recipe.ts'

export function pandas(source: RecipeSource): Recipe {
  const { csvUrl, parquetUrl, properties } = source
  const times = namesOf(properties, /^Edm\.(?:DateTimeOffset|Date)$/)
  const lines = [
    'import pandas as pd',
    '',
    `df = pd.read_csv(${doubleQuoted(csvUrl)}${pandasTypes(properties)}${pandasTimes(times)})`,
  ]
  const parquet = parquetUrl === undefined ? [] : [parquetCode('pd', 'pandas as pd', parquetUrl)]
  return {
    id: 'pandas',
    tool: 'pandas',
    steps: [],
    codes: [...parquet, { name: 'CSV', text: lines.join('\n') }, pagesCode(source)],
    token:
      'With a token: storage_options={"Authorization": "Bearer " + token} in read_csv, auth=("", token) in requests.',
    notes: ['Decimals of a CSV become floats; dtype "string" for them keeps all digits.'],
  }
}

export function polars({ csvUrl, parquetUrl }: RecipeSource): Recipe {
  const csv = [
    'import polars as pl',
    '',
    `df = pl.read_csv(${doubleQuoted(csvUrl)}, try_parse_dates=True)`,
  ]
  const parquet = parquetUrl === undefined ? [] : [parquetCode('pl', 'polars as pl', parquetUrl)]
  return {
    id: 'polars',
    tool: 'polars',
    steps: [],
    codes: [...parquet, { name: 'CSV', text: csv.join('\n') }],
    token:
      'With a token: pl.read_csv(requests.get(url, auth=("", token)).content), with requests imported.',
    notes: [],
  }
}

export function duckDb({ csvUrl, parquetUrl }: RecipeSource): Recipe {
  const from = (reader: string, url: string) => `FROM ${reader}(${sqlText(url)});`
  const parquet =
    parquetUrl === undefined ? [] : [{ name: 'Parquet', text: from('read_parquet', parquetUrl) }]
  return {
    id: 'duckdb',
    tool: 'DuckDB',
    steps: [],
    codes: [...parquet, { name: 'CSV', text: from('read_csv', csvUrl) }],
    token: "With a token, once a session: CREATE SECRET (TYPE http, BEARER_TOKEN '…');",
    notes: ['INSTALL httpfs; LOAD httpfs; if DuckDB does not load it automatically.'],
  }
}

export function r({ csvUrl }: RecipeSource): Recipe {
  return {
    id: 'r',
    tool: 'R',
    steps: [],
    codes: [
      { name: 'base', text: `df <- read.csv(${doubleQuoted(csvUrl)})` },
      { name: 'readr', text: `df <- readr::read_csv(${doubleQuoted(csvUrl)})` },
    ],
    token:
      'With a token: httr2::request(url) |> httr2::req_auth_basic("", token) |> httr2::req_perform() |> httr2::resp_body_string() |> I() |> readr::read_csv()',
    notes: [],
  }
}

export function curl({ csvUrl, rowsUrl, set }: RecipeSource): Recipe {
  const csv = withoutQuotes(csvUrl)
  return {
    id: 'curl',
    tool: 'curl',
    steps: [],
    codes: [
      { name: 'sh', text: `curl -fsS -o ${set}.csv '${csv}'` },
      { name: 'PowerShell', text: `curl.exe -fsS -o ${set}.csv '${csv}'` },
      { name: 'JSON', text: `curl -fsS '${withoutQuotes(rowsUrl)}'` },
    ],
    token: 'With a token: add -u me and type the token as the password.',
    notes: ['A body that ends well is complete: curl fails when the service had to cut it off.'],
  }
}

export function javaScript({ rowsUrl }: RecipeSource): Recipe {
  const text = `const rows = []
let url = ${doubleQuoted(rowsUrl)}
const headers = { Accept: 'application/json;IEEE754Compatible=true' }
while (url) {
  const response = await fetch(url, { headers })
  if (!response.ok) throw new Error(await response.text())
  const page = await response.json()
  rows.push(...page.value)
  url = page['@odata.nextLink']
}`
  return {
    id: 'javascript',
    tool: 'JavaScript',
    steps: [],
    codes: [{ name: 'all pages', text }],
    token: 'With a token: Authorization: `Bearer ${token}` in the headers.',
    notes: ['Int64 and Decimal come as strings, so that no digit is lost.'],
  }
}

function pagesCode({ rowsUrl }: RecipeSource): { name: string; text: string } {
  const text = `import pandas as pd, requests

url, rows = ${doubleQuoted(rowsUrl)}, []
while url:
    page = requests.get(url).json()
    rows += page["value"]
    url = page.get("@odata.nextLink")
df = pd.DataFrame(rows)`
  return { name: 'all pages of JSON', text }
}

function parquetCode(alias: string, module: string, url: string): { name: string; text: string } {
  return {
    name: 'Parquet',
    text: `import ${module}\n\ndf = ${alias}.read_parquet(${doubleQuoted(url)})`,
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

function pandasTypes(properties: readonly Property[]): string {
  const types = properties.flatMap(({ name, edm, isList }) => {
    const type = isList ? undefined : PANDAS_TYPES[edm]
    return type === undefined ? [] : [`${doubleQuoted(name)}: "${type}"`]
  })
  return types.length === 0 ? '' : `,\n    dtype={${types.join(', ')}}`
}

function pandasTimes(names: readonly string[]): string {
  if (names.length === 0) return ''
  return `,\n    parse_dates=[${names.map(doubleQuoted).join(', ')}], date_format="ISO8601"`
}

function namesOf(properties: readonly Property[], edm: RegExp): readonly string[] {
  return properties.filter((one) => !one.isList && edm.test(one.edm)).map(({ name }) => name)
}

function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
