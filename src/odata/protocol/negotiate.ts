// What the headers of a request and $format ask of the answer: its version and its format. The Prefer header is read in
// preferences.ts.

import { odataError } from './errors.ts'

/** Names in lower case, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export type ODataVersion = '4.0' | '4.01'

export interface JsonFormat {
  readonly metadata: 'full' | 'minimal' | 'none'
  /** Int64, Decimal and counts are strings. */
  readonly ieee754: boolean
  /** Properties that are null are left out. */
  readonly omitsNulls?: boolean
}

export type DataFormat =
  ({ readonly kind: 'json' } & JsonFormat) | { readonly kind: 'csv' | 'parquet' }

/** The version of the response: 4.01 unless the client knows less. Throws 400 for one that it does not speak. */
export function negotiateVersion(headers: RequestHeaders): ODataVersion {
  const said = header(headers, 'odata-version')
  if (said !== null && !SPOKEN.includes(said.trim()))
    throw odataError('invalid-header', `this service speaks OData 4.0 and 4.01, not ${said}`, {
      target: 'OData-Version',
    })
  const asked = askedVersion(headers)
  if (asked === null) return '4.01'
  const version = /^\d+\.\d+$/.test(asked) ? Number(asked) : NaN
  if (!(version >= 4))
    throw odataError('invalid-header', `this service speaks OData 4.0 and 4.01, not ${asked}`, {
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

const SPOKEN: readonly string[] = ['4.0', '4.01']

function askedVersion(headers: RequestHeaders): string | null {
  return header(headers, 'odata-maxversion') ?? header(headers, 'odata-version')
}

/** The format of data. Throws 406 when the client takes none that there is. */
export function negotiateData(
  headers: RequestHeaders,
  option: string | null,
  { hasCsv, hasParquet = false }: { readonly hasCsv: boolean; readonly hasParquet?: boolean },
): DataFormat {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return { kind: 'json', ...MINIMAL }
  const ranges = parseMediaRanges(text)
  const refused = ranges.filter(
    ({ quality, parameters }) => quality === 0 && parameters.length === 0,
  )
  for (const range of ranges.filter(({ quality }) => quality > 0)) {
    // What is refused by name, or by a star, is not what a wider star stands for (RFC 9110, 12.5.1).
    const isRefused = (type: string) =>
      refused.some(
        (other) =>
          covers(other.type, type) &&
          (other.type === range.type || !covers(other.type, range.type)),
      )
    const json = isRefused(JSON_TYPE) ? null : jsonFormatOf(range)
    if (json !== null) return { kind: 'json', ...json }
    if (hasCsv && !isRefused(CSV_TYPE) && isCsv(range)) return { kind: 'csv' }
    // No star stands for it: whoever can read such a file says so.
    if (hasParquet && range.type === PARQUET_CONTENT_TYPE) return { kind: 'parquet' }
  }
  const others = [...(hasCsv ? [CSV_TYPE] : []), ...(hasParquet ? [PARQUET_CONTENT_TYPE] : [])]
  const served = [[JSON_TYPE, ...others.slice(0, -1)].join(', '), ...others.slice(-1)].join(' and ')
  const atom = /\batom\b/i.test(text) ? '; Atom belongs to OData 2 and 3' : ''
  throw odataError('not-acceptable', `this resource is only served as ${served}${atom}`, {
    target: option === null ? 'Accept' : '$format',
  })
}

/**
 * Throws 406 when the client takes no value alone (`/$value`), which is of this type. One that takes JSON is not refused:
 * libraries say so with every request, whatever it is for.
 */
export function requireRaw(headers: RequestHeaders, type: RawType): void {
  const text = header(headers, 'accept')
  if (text === null) return
  const ranges = parseMediaRanges(text)
  const own = ranges.find((range) => range.type === type)
  const others = [JSON_TYPE, type.replace(/\/.*/, '/*'), '*/*']
  const isTaken = own ?? ranges.find((range) => others.includes(range.type) && range.quality > 0)
  if (isTaken !== undefined && isTaken.quality > 0) return
  throw odataError('not-acceptable', `this resource is only served as ${type}`, {
    target: 'Accept',
  })
}

export type RawType = 'text/plain' | 'application/octet-stream'

/** XML unless JSON is asked for and XML is not: Excel and Power BI accept both and read XML. */
export function negotiateMetadata(headers: RequestHeaders, option: string | null): 'xml' | 'json' {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return 'xml'
  const types = parseMediaRanges(text)
    .filter(({ quality }) => quality > 0)
    .map(({ type }) => type)
  const isXml = types.some((type) => XML.includes(type))
  const isJson = types.includes('application/json')
  if (option !== null && !isXml && !isJson)
    throw odataError('not-acceptable', '$metadata is served as XML or JSON', { target: '$format' })
  return isJson && !isXml ? 'json' : 'xml'
}

export function jsonContentType({ metadata, ieee754 }: JsonFormat): string {
  return `application/json;odata.metadata=${metadata}${ieee754 ? ';IEEE754Compatible=true' : ''}`
}

export function header(headers: RequestHeaders, name: string): string | null {
  const value = headers[name]
  return value === undefined ? null : typeof value === 'string' ? value : value.join(',')
}

const MINIMAL: JsonFormat = { metadata: 'minimal', ieee754: false }
const XML: readonly string[] = ['application/xml', 'text/xml', 'application/*', '*/*']
const JSON_TYPE = 'application/json'
const CSV_TYPE = 'text/csv'
const JSON_TYPES: readonly string[] = [JSON_TYPE, 'application/*', '*/*']
const CSV_TYPES: readonly string[] = [CSV_TYPE, 'text/*', '*/*']

/** RFC 4180 with the names of the properties in the first line. */
export const CSV_CONTENT_TYPE = `${CSV_TYPE};charset=utf-8;header=present`

export const PARQUET_CONTENT_TYPE = 'application/vnd.apache.parquet'

function isCsv({ type, parameters }: MediaRange): boolean {
  const isWritten = ([name, value]: MediaRange['parameters'][number]) =>
    name === 'header' ? value === 'present' : name === 'charset' && UTF8.test(value)
  return CSV_TYPES.includes(type) && parameters.every(isWritten)
}

const UTF8 = /^utf-?8$/

/** $format has short names for media types. */
function formatOption(option: string): string {
  const short = option.toLowerCase()
  if (short === 'csv') return CSV_TYPE
  if (short === 'parquet') return PARQUET_CONTENT_TYPE
  return short === 'json' || short === 'xml' ? `application/${short}` : option
}

interface MediaRange {
  readonly type: string
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly quality: number
}

/** Best first; of equal quality, a named type goes before a wildcard. */
export function parseMediaRanges(text: string): readonly MediaRange[] {
  const stars = ({ type }: MediaRange) => type.split('*').length
  return text
    .split(',')
    .map(parseMediaRange)
    .toSorted((a, b) => b.quality - a.quality || stars(a) - stars(b))
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

const covers = (range: string, type: string): boolean =>
  range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)))

/** What every answer fulfils: numbers are written without an exponent where that can be. */
const INDIFFERENT: readonly string[] = ['streaming', 'exponentialdecimals']

/** null when the range is not JSON, or asks for a form of it that there is not (Protocol 4.01, 8.2.1). */
function jsonFormatOf({ type, parameters }: MediaRange): JsonFormat | null {
  if (!JSON_TYPES.includes(type)) return null
  let format = MINIMAL
  for (const [name, value] of parameters) {
    const parameter = name.replace(/^odata\./, '')
    if (parameter === 'metadata' && (value === 'full' || value === 'minimal' || value === 'none'))
      format = { ...format, metadata: value }
    else if (parameter === 'ieee754compatible' && (value === 'true' || value === 'false'))
      format = { ...format, ieee754: value === 'true' }
    else if (parameter === 'charset' ? !UTF8.test(value) : !INDIFFERENT.includes(parameter))
      return null
  }
  return format
}
