// What is true of each format of an answer, wherever it is asked for, declared or sent: one row for each. How an answer is
// written in it is in answer/make/, one file for each.
export interface FormatTraits {
  /** How Accept and $format name it, without parameters. In $format its name here does too. */
  readonly mediaType: string
  readonly contentType: string
  /** Other ranges of Accept that stand for it. A format without one is only sent to those who name it. */
  readonly ranges: readonly string[]
  /** Whether it is what a client wants that asks for this parameter of the media type, both in lower case. */
  readonly takes: (parameter: string, value: string) => boolean
  /** The requests that it may answer, by kind. What may answer a collection is listed in $metadata. */
  readonly answers: readonly RequestKind[]
  /** An answer is a file to be saved, which ends in this; it is whole, and is not part of another answer. */
  readonly extension?: string
  /** It comes whole unless the client asks for pages, of which a header then leads to the next. */
  readonly isPaged?: boolean
  /** Equal requests get equal bytes, of which a client may ask for a part, also where DuckDB streams them. */
  readonly isRandomAccess?: boolean
  /** Its bytes are compressed already. */
  readonly isCompressed?: boolean
}

/** `value`: a property as `/$value` and `/$count` after it ask for it. */
export type RequestKind =
  | 'service-document'
  | 'metadata'
  | 'openapi'
  | 'vocabulary'
  | 'collection'
  | 'entity'
  | 'property'
  | 'value'
  | 'count'

export type FormatName = 'json' | 'xml' | 'csv' | 'parquet' | 'arrow' | 'xlsx' | 'text' | 'bytes'

const isUtf8 = (value: string) => /^utf-?8$/.test(value)
const takesAnything = () => true

/** Whether JSON is written with this parameter (Protocol 4.01, 8.2.1); no answer has an exponent where none is needed. */
const jsonParameters: Readonly<Record<string, (value: string) => boolean>> = {
  metadata: (value) => ['full', 'minimal', 'none'].includes(value),
  ieee754compatible: (value) => value === 'true' || value === 'false',
  charset: isUtf8,
  streaming: takesAnything,
  exponentialdecimals: takesAnything,
}

const table = {
  json: {
    mediaType: 'application/json',
    contentType: 'application/json',
    ranges: ['application/*', '*/*'],
    takes: (name, value) => jsonParameters[name.replace(/^odata\./, '')]?.(value) ?? false,
    answers: [
      'service-document',
      'metadata',
      'openapi',
      'vocabulary',
      'collection',
      'entity',
      'property',
    ],
  },
  xml: {
    mediaType: 'application/xml',
    contentType: 'application/xml',
    ranges: ['text/xml', 'application/*', '*/*'],
    takes: takesAnything,
    answers: ['metadata', 'vocabulary'],
  },
  /** RFC 4180 with the names of the properties in the first line. */
  csv: {
    mediaType: 'text/csv',
    contentType: 'text/csv;charset=utf-8;header=present',
    ranges: ['text/*', '*/*'],
    takes: (name, value) =>
      name === 'header' ? value === 'present' : name === 'charset' && isUtf8(value),
    answers: ['collection', 'entity'],
    extension: 'csv',
  },
  parquet: {
    mediaType: 'application/vnd.apache.parquet',
    contentType: 'application/vnd.apache.parquet',
    ranges: [],
    takes: takesAnything,
    answers: ['collection'],
    extension: 'parquet',
    isRandomAccess: true,
  },
  /** The streaming format of Arrow. */
  arrow: {
    mediaType: 'application/vnd.apache.arrow.stream',
    contentType: 'application/vnd.apache.arrow.stream',
    ranges: [],
    takes: takesAnything,
    answers: ['collection'],
    extension: 'arrows',
    isPaged: true,
  },
  /** A workbook of Excel. */
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ranges: [],
    takes: takesAnything,
    answers: ['collection'],
    extension: 'xlsx',
    isCompressed: true,
  },
  text: {
    mediaType: 'text/plain',
    contentType: 'text/plain;charset=utf-8',
    ranges: ['text/*', '*/*'],
    takes: takesAnything,
    answers: ['count', 'value'],
  },
  bytes: {
    mediaType: 'application/octet-stream',
    contentType: 'application/octet-stream',
    ranges: ['application/*', '*/*'],
    takes: takesAnything,
    answers: ['value'],
    // They may be.
    isCompressed: true,
  },
} as const satisfies Readonly<Record<FormatName, FormatTraits>>

export const formats: Readonly<Record<FormatName, FormatTraits>> = table

export type AnsweredAs<F extends FormatName> = (typeof table)[F]['answers'][number]

/** Whether a body of this type gains nothing by being compressed. */
export const isCompressed = (contentType: string | undefined): boolean =>
  Object.values(formats).some((one) => one.isCompressed === true && one.contentType === contentType)

export const formatNames = Object.keys(table) as readonly FormatName[]
