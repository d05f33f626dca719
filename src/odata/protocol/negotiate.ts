// What the headers of a request and $format ask of the answer: its version, its format, and the preferences that it is to
// follow (RFC 7240).

import { odataError } from './errors.ts'
import {
  type FormatName,
  formatNames,
  formats,
  type FormatTraits,
  type RequestKind,
} from './formats.ts'

/** Names in lower case, as node:http gives them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export type ODataVersion = '4.0' | '4.01'

export interface JsonFormat {
  readonly metadata: 'full' | 'minimal' | 'none'
  /** Int64, Decimal and counts are strings. */
  readonly ieee754: boolean
  readonly omitsNulls?: boolean
}

/** The version of the response: 4.01 unless the client knows less. Throws 400 for one that it does not speak. */
export function negotiateVersion(headers: RequestHeaders): ODataVersion {
  const said = header(headers, 'odata-version')
  if (said !== null && !SPOKEN.includes(said.trim()))
    throw odataError(
      'invalid-header',
      `this service speaks OData 4.0 and 4.01, not ${said}`,
      'OData-Version',
    )
  const asked = askedVersion(headers)
  if (asked === null) return '4.01'
  const version = /^\d+\.\d+$/.test(asked) ? Number(asked) : NaN
  if (!(version >= 4))
    throw odataError(
      'invalid-header',
      `this service speaks OData 4.0 and 4.01, not ${asked}`,
      'OData-MaxVersion',
    )
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

/** Where a request came from, as far as it decides which formats its answer may have. */
interface Origin {
  readonly isInBatch: boolean
  readonly isContinued: boolean
  readonly isForChanges: boolean
}

/** Formats that an answer to a request of this kind may have. */
export function formatsFor(
  kind: RequestKind,
  { isInBatch = false, isContinued = false, isForChanges = false }: Partial<Origin> = {},
): readonly FormatName[] {
  return formatNames.filter((name) => {
    const { answers, extension, isRandomAccess = false } = formats[name]
    const isOther = extension !== undefined && (isInBatch || isForChanges)
    return answers.includes(kind) && !isOther && !(isRandomAccess && isContinued)
  })
}

interface DataFormat {
  readonly name: FormatName
  readonly contentType: string
  /** Asked for with the format, if that is JSON. */
  readonly json: JsonFormat
}

/** Which of `served` the client takes, the first of which is JSON. Throws 406 when it takes none. */
export function negotiateData(
  headers: RequestHeaders,
  option: string | null,
  served: readonly FormatName[],
): DataFormat {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return dataFormat('json', MINIMAL)
  const all = parseMediaRanges(text)
  const refused = all.filter(({ quality, parameters }) => quality === 0 && parameters.length === 0)
  for (const range of all.filter(({ quality }) => quality > 0)) {
    // What is refused by name, or by a star, is not what a wider star stands for (RFC 9110, 12.5.1).
    const isRefused = (type: string) =>
      refused.some(
        (other) =>
          covers(other.type, type) &&
          (other.type === range.type || !covers(other.type, range.type)),
      )
    const isMeant = ({ mediaType, ranges, takes }: FormatTraits) =>
      (range.type === mediaType || ranges.includes(range.type)) &&
      range.parameters.every(([parameter, value]) => takes(parameter, value)) &&
      !isRefused(mediaType)
    const name = served.find((each) => isMeant(formats[each]))
    if (name !== undefined) return dataFormat(name, jsonFormatOf(range))
  }
  const types = served.map((name) => formats[name].mediaType)
  const list = [types.slice(0, -1).join(', '), ...types.slice(-1)].filter((part) => part !== '')
  const atom = /\batom\b/i.test(text)
    ? '; Atom belongs to OData 2 and 3'
    : shortNames(option, served)
  throw odataError(
    'not-acceptable',
    `this resource is only served as ${list.join(' and ')}${atom}`,
    option === null ? 'Accept' : '$format',
  )
}

/**
 * Throws 406 when the client takes no value alone (`/$value`), which is of this type. One that takes JSON is not refused:
 * libraries say so with every request.
 */
export function requireRaw(headers: RequestHeaders, name: 'text' | 'bytes'): void {
  const text = header(headers, 'accept')
  if (text === null) return
  const all = parseMediaRanges(text)
  const { mediaType, ranges } = formats[name]
  const others = [formats.json.mediaType, ...ranges]
  const own = all.find((range) => range.type === mediaType)
  const isTaken = own ?? all.find((range) => others.includes(range.type) && range.quality > 0)
  if (isTaken !== undefined && isTaken.quality > 0) return
  throw odataError('not-acceptable', `this resource is only served as ${mediaType}`, 'Accept')
}

/** XML unless JSON is asked for and XML is not: Excel and Power BI accept both and read XML. */
export function negotiateMetadata(headers: RequestHeaders, option: string | null): 'xml' | 'json' {
  const text = option === null ? header(headers, 'accept') : formatOption(option)
  if (text === null) return 'xml'
  const types = parseMediaRanges(text)
    .filter(({ quality }) => quality > 0)
    .map(({ type }) => type)
  const { mediaType, ranges } = formats.xml
  const isXml = types.some((type) => type === mediaType || ranges.includes(type))
  const isJson = types.includes(formats.json.mediaType)
  if (option !== null && !isXml && !isJson)
    throw odataError('not-acceptable', '$metadata is served as XML or JSON', '$format')
  return isJson && !isXml ? 'json' : 'xml'
}

function dataFormat(name: FormatName, json: JsonFormat): DataFormat {
  const { contentType } = formats[name]
  if (name !== 'json') return { name, contentType, json }
  const strings = json.ieee754 ? ';IEEE754Compatible=true' : ''
  return { name, contentType: `${contentType};odata.metadata=${json.metadata}${strings}`, json }
}

export function header(headers: RequestHeaders, name: string): string | null {
  const value = headers[name]
  return value === undefined ? null : typeof value === 'string' ? value : value.join(',')
}

const MINIMAL: JsonFormat = { metadata: 'minimal', ieee754: false }

/** What $format takes besides media types, for a word that is none. */
function shortNames(option: string | null, served: readonly FormatName[]): string {
  if (option === null || option.includes('/')) return ''
  const isExcel = /^\.?(?:excel|xlsm?|spreadsheet)$/i.test(option) && served.includes('xlsx')
  return isExcel ? '; for Excel write $format=xlsx' : `; $format takes ${served.join(', ')}`
}

/** $format has short names for media types. */
function formatOption(option: string): string {
  const short = option.toLowerCase()
  return Object.hasOwn(formats, short) ? formats[short as FormatName].mediaType : option
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

/** The format by its parameters; the last of each counts, and unknown ones do not. */
function jsonFormatOf({ parameters }: MediaRange): JsonFormat {
  const asked = new Map(parameters.map(([name, value]) => [name.replace(/^odata\./, ''), value]))
  const metadata = asked.get('metadata') as JsonFormat['metadata'] | undefined
  return {
    metadata: metadata ?? MINIMAL.metadata,
    ieee754: asked.get('ieee754compatible') === 'true',
  }
}

export interface Preferences {
  /** Rows per page; null: the default of the service. */
  readonly maxPageSize: number | null
  /** A delta link is wanted after the last row. */
  readonly trackChanges: boolean
  readonly omitNulls: boolean
  /** The value of Preference-Applied: each of these as the client wrote it; null when nothing was applied. */
  readonly applied: string | null
}

export type PreferenceName = 'maxpagesize' | 'track-changes' | 'omit-values'

const PREFERENCE = /^\s*((?:odata\.)?([\w-]+))\s*(?:=\s*("[^"]*"|[^\s;"]*))?\s*(?:;|$)/i

const isWanted: Readonly<Record<PreferenceName, (value: string) => boolean>> = {
  maxpagesize: (value) => /^\d{1,15}$/.test(value) && Number(value) > 0,
  'track-changes': (value) => value === '',
  'omit-values': (value) => value.toLowerCase() === 'nulls',
}

/**
 * Those preferences of a request that its answer follows. Unknown ones are ignored; of one that is repeated, the
 * first counts.
 */
export function parsePreferences(
  headers: RequestHeaders,
  follows: readonly PreferenceName[],
): Preferences {
  const written = new Map<PreferenceName, string>()
  let maxPageSize: number | null = null
  for (const preference of (header(headers, 'prefer') ?? '').split(',')) {
    const found = PREFERENCE.exec(preference)
    const name = follows.find((each) => each === found?.[2]?.toLowerCase())
    const value = found?.[3]?.replace(/^"(.*)"$/, '$1') ?? ''
    if (name === undefined || written.has(name) || !isWanted[name](value)) continue
    const shown = name === 'maxpagesize' ? String(Number(value)) : value
    written.set(name, shown === '' ? found![1]! : `${found![1]}=${shown}`)
    if (name === 'maxpagesize') maxPageSize = Number(value)
  }
  return {
    maxPageSize,
    trackChanges: written.has('track-changes'),
    omitNulls: written.has('omit-values'),
    applied: written.size === 0 ? null : [...written.values()].join(', '),
  }
}

export const NO_PREFERENCES = parsePreferences({}, [])
