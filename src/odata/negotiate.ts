// What the headers of a request and $format ask of the answer: version, format, size of a page.

import { odataError } from './errors.ts'

/** Names in lower case, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export type ODataVersion = '4.0' | '4.01'

export interface JsonFormat {
  readonly metadata: 'minimal' | 'none'
  /** Int64, Decimal and counts are strings. */
  readonly ieee754: boolean
}

export interface Preferences {
  /** Rows per page; null: the default of the service. */
  readonly maxPageSize: number | null
  /** The value of Preference-Applied; null when nothing was applied. */
  readonly applied: string | null
}

/** The version of the response: 4.01 unless the client knows less (row Q129). Throws 400 for one below 4.0. */
export function negotiateVersion(headers: RequestHeaders): ODataVersion {
  const asked = askedVersion(headers)
  if (asked === null) return '4.01'
  const version = /^\d+\.\d+$/.test(asked) ? Number(asked) : NaN
  if (!(version >= 4))
    throw odataError('invalid-header', 'this service speaks OData 4.0 and 4.01', {
      target: 'OData-MaxVersion',
    })
  return version >= 4.01 ? '4.01' : '4.0'
}

/**
 * The version that the XML of $metadata names: 4.01 only for a client that names it. SAP UI5 asks for $metadata without a
 * version, and takes none but 4.0; what the document holds is the same in both.
 */
export function negotiateCsdlVersion(headers: RequestHeaders): ODataVersion {
  return askedVersion(headers) === null ? '4.0' : negotiateVersion(headers)
}

function askedVersion(headers: RequestHeaders): string | null {
  return header(headers, 'odata-maxversion') ?? header(headers, 'odata-version')
}

/** The format of data. Throws 406 when the client takes none that there is (rows Q120, Q138). */
export function negotiateJson(headers: RequestHeaders, option: string | null): JsonFormat {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return MINIMAL
  for (const range of parseMediaRanges(text)) {
    const format = jsonFormatOf(range)
    if (format !== null) return format
  }
  throw odataError('not-acceptable', 'data is served as application/json only', {
    target: option === null ? 'Accept' : '$format',
  })
}

/** XML unless JSON is asked for and XML is not: Excel and Power BI accept both and read XML. */
export function negotiateMetadata(headers: RequestHeaders, option: string | null): 'xml' | 'json' {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return 'xml'
  const types = parseMediaRanges(text).map(({ type }) => type)
  const isXml = types.some((type) => XML.includes(type))
  const isJson = types.includes('application/json')
  if (option !== null && !isXml && !isJson)
    throw odataError('not-acceptable', '$metadata is served as XML or JSON', { target: '$format' })
  return isJson && !isXml ? 'json' : 'xml'
}

export function jsonContentType({ metadata, ieee754 }: JsonFormat): string {
  return `application/json;odata.metadata=${metadata}${ieee754 ? ';IEEE754Compatible=true' : ''}`
}

/** Preferences that are not understood are not applied, as RFC 7240 wants. */
export function parsePreferences(headers: RequestHeaders): Preferences {
  for (const preference of (header(headers, 'prefer') ?? '').split(',')) {
    const found = /^\s*((?:odata\.)?maxpagesize)\s*=\s*"?(\d{1,15})"?\s*(?:;|$)/i.exec(preference)
    const rows = Number(found?.[2] ?? 0)
    if (rows > 0)
      return {
        maxPageSize: rows,
        applied: `${found![1]}=${rows}`,
      }
  }
  return { maxPageSize: null, applied: null }
}

/** All requests of a batch are answered unless the client wants it to end with the first that fails. */
export function parseContinueOnError(headers: RequestHeaders) {
  const found =
    /(?:^|,)\s*((?:odata\.)?continue-on-error)\s*(?:=\s*"?(true|false)"?)?\s*(?:;|,|$)/i.exec(
      header(headers, 'prefer') ?? '',
    )
  if (found === null) return { continueOnError: true, applied: null }
  const continueOnError = found[2]?.toLowerCase() !== 'false'
  return { continueOnError, applied: `${found[1]}=${continueOnError}` }
}

export function header(headers: RequestHeaders, name: string): string | null {
  const value = headers[name]
  return value === undefined ? null : typeof value === 'string' ? value : value.join(',')
}

const MINIMAL: JsonFormat = { metadata: 'minimal', ieee754: false }
const XML: readonly string[] = ['application/xml', 'text/xml', 'application/*', '*/*']
const JSON_TYPES: readonly string[] = ['application/json', 'application/*', '*/*']

/** $format has short names for media types. */
function formatOption(option: string): string {
  const short = option.toLowerCase()
  return short === 'json' || short === 'xml' ? `application/${short}` : option
}

interface MediaRange {
  readonly type: string
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly quality: number
}

/** Best first; those with q=0 are left out. */
export function parseMediaRanges(text: string): readonly MediaRange[] {
  return text
    .split(',')
    .map(parseMediaRange)
    .filter(({ quality }) => quality > 0)
    .toSorted((a, b) => b.quality - a.quality)
}

function parseMediaRange(text: string): MediaRange {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim().toLowerCase())
  const parameters = rest.map((part) => {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim())
    return [name, value.replace(/^"(.*)"$/, '$1')] as const
  })
  const q = Number(parameters.find(([name]) => name === 'q')?.[1] ?? 1)
  const own = parameters.filter(([name]) => name !== 'q' && name !== '')
  return { type, parameters: own, quality: Number.isNaN(q) ? 0 : q }
}

/** null when the range is not JSON, or asks for a form of it that there is not (Protocol 4.01, 8.2.1). */
function jsonFormatOf({ type, parameters }: MediaRange): JsonFormat | null {
  if (!JSON_TYPES.includes(type)) return null
  let format = MINIMAL
  for (const [name, value] of parameters) {
    const parameter = name.replace(/^odata\./, '')
    if (parameter === 'metadata' && (value === 'minimal' || value === 'none'))
      format = { ...format, metadata: value }
    else if (parameter === 'ieee754compatible' && (value === 'true' || value === 'false'))
      format = { ...format, ieee754: value === 'true' }
    else if (parameter === 'charset' ? !/^utf-?8$/.test(value) : parameter !== 'streaming')
      return null
  }
  return format
}
