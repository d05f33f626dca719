// Recipes for programs with windows: spreadsheets, reports, dashboards.

import { BASIC_DIALOG, type Recipe, type RecipeSource } from './recipe.ts'

export function excel({ serviceUrl, set, rowsUrl, isWholeSet }: RecipeSource): Recipe {
  const url = isWholeSet ? serviceRoot(serviceUrl) : rowsUrl
  return {
    id: 'excel',
    tool: 'Excel',
    steps: [
      'Data › Get Data › From Other Sources › From OData Feed',
      'Paste the URL below and press OK.',
      isWholeSet ? `Choose ${set} and press Load.` : 'Press Load.',
    ],
    codes: [{ name: 'URL', text: url }],
    token: BASIC_DIALOG,
    notes: ['Data › Refresh All asks again, and brings what was published since.'],
  }
}

export function powerBi({ serviceUrl, set, rowsUrl, isWholeSet }: RecipeSource): Recipe {
  const options = 'null, [Implementation="2.0", Concurrent=true]'
  const feed = (url: string) => `OData.Feed(${mText(url)}, ${options})`
  const code = isWholeSet
    ? `${feed(serviceRoot(serviceUrl))}{[Name=${mText(set)},Signature="table"]}[Data]`
    : feed(rowsUrl)
  return {
    id: 'power-bi',
    tool: 'Power BI',
    steps: [
      'Get data › Blank query › Advanced Editor',
      'Put this between let and in, or paste it as the whole query:',
    ],
    codes: [{ name: 'M', text: code }],
    file: {
      name: `${set}.pbids`,
      content: pbids(serviceRoot(serviceUrl)),
      type: 'application/json',
    },
    token: BASIC_DIALOG,
    notes: [
      'The .pbids file opens Power BI Desktop with the service chosen already; it has no place for a request.',
    ],
  }
}

export function tableau({ serviceUrl, set, isWholeSet }: RecipeSource): Recipe {
  return {
    id: 'tableau',
    tool: 'Tableau',
    steps: [
      'Connect › To a Server › OData',
      'Paste the URL below as the server.',
      'Tableau reads an extract: refresh it after a run.',
    ],
    codes: [{ name: 'URL', text: serviceUrl + set }],
    token: 'Where the service has a token: any user name, the token as the password.',
    notes: isWholeSet
      ? []
      : [
          'Tableau asks for whole sets: the request above cannot be handed to it. Choose in Tableau, or put the choice into a model.',
        ],
  }
}

export function qlik({ rowsUrl }: RecipeSource): Recipe {
  return {
    id: 'qlik',
    tool: 'Qlik',
    steps: [
      'Add data › REST, method GET, with the URL below.',
      'Pagination: Next URL, path @odata.nextLink.',
      'Root of the data: value.',
    ],
    codes: [{ name: 'URL', text: rowsUrl }],
    token:
      'Where the service has a token: Basic authentication, any user name, the token as the password.',
    notes: [],
  }
}

export function grafana({
  serviceUrl,
  set,
  rowsUrl,
  isWholeSet,
  properties,
}: RecipeSource): Recipe {
  const day = properties.find(({ edm, isList }) => edm === 'Edm.DateTimeOffset' && !isList)?.name
  const grouped =
    day === undefined
      ? rowsUrl
      : `${serviceUrl}${set}?$apply=groupby((${day}),aggregate($count%20as%20n))&$orderby=${day}`
  return {
    id: 'grafana',
    tool: 'Grafana',
    steps: [
      'Add the data source Infinity, with the host of the service as an allowed host.',
      'Query: type JSON, method GET, the URL below, root selector value.',
      'Name the column of time as a timestamp in the columns of the query.',
    ],
    codes: [{ name: 'URL', text: (isWholeSet ? grouped : rowsUrl).replaceAll(';', '%3B') }],
    token:
      'Where the service has a token: authentication Bearer token, or Basic with any user name.',
    notes: [
      'Grafana reads the first page only, so let the service aggregate with $apply.',
      'A semicolon in a URL is written %3B.',
      'It shows an Edm.Date as nothing and stops at NaN: expose a TIMESTAMP.',
    ],
  }
}

/** Opens Power BI Desktop at the dialog of this service. */
function pbids(url: string): string {
  const connection = {
    details: { protocol: 'odata', address: { url } },
    options: {},
    mode: 'Import',
  }
  return `${JSON.stringify({ version: '0.1', connections: [connection] }, null, 2)}\n`
}

function serviceRoot(serviceUrl: string): string {
  return serviceUrl.replace(/\/$/, '')
}

/** A text of M: quotes are doubled, and `#(` would begin an escape. */
function mText(text: string): string {
  return `"${text.replaceAll('"', '""').replaceAll('#(', '#(#)(')}"`
}
