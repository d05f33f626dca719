// What kind of answer a bound request gets: its format, applied preferences, and how it is produced.

import { answerCsv } from './csv.ts'
import { answerParquet } from './parquet.ts'
import { answerDelta, isTrackable } from './delta.ts'
import { answerCollection } from './collection.ts'
import { answerCount, answerEntity, answerValue } from './one.ts'
import type { Addressed, BoundRequest, OutputProperty } from '../bind/bound.ts'
import { type Content, contextUrl, type Exchange, whole } from './context.ts'
import { withControlInformation } from '../bind/control-information.ts'
import { metadataDocument } from './metadata-document.ts'
import { type VocabularyForm, vocabularyDocument, vocabularyNames } from './vocabularies.ts'
import { odataError } from '../protocol/errors.ts'
import {
  CSV_CONTENT_TYPE,
  PARQUET_CONTENT_TYPE,
  type JsonFormat,
  jsonContentType,
  negotiateCsdlVersion,
  negotiateData,
  negotiateMetadata,
  type RawType,
  requireRaw,
} from '../protocol/negotiate.ts'
import {
  appliedOf,
  NO_PREFERENCES,
  parsePreferences,
  type PreferenceName,
  type Preferences,
} from '../protocol/preferences.ts'

export interface AnswerPlan {
  readonly contentType: string
  /** Those that the answer follows. */
  readonly preferences: Preferences
  readonly headers?: Readonly<Record<string, string>>
  /** Equal requests have equal bytes, of which a client may ask for a part. */
  readonly isFile?: boolean
  readonly make: () => Content | Promise<Content>
}

/** Throws RequestError 406. */
export function planAnswer(exchange: Exchange, bound: BoundRequest): AnswerPlan {
  if (bound.kind === 'count') {
    const make = () => answerCount(exchange, bound)
    return { contentType: 'text/plain;charset=utf-8', preferences: NO_PREFERENCES, make }
  }
  if (bound.kind === 'metadata') return planMetadata(exchange)
  if (bound.kind === 'vocabulary') return planVocabulary(bound.file)
  if (bound.kind === 'property' && bound.raw) {
    const [{ type }] = bound.query.output as readonly [OutputProperty]
    const rawType: RawType = type.name === 'Edm.Binary' ? 'application/octet-stream' : 'text/plain'
    requireRaw(exchange.request.headers, rawType)
    return {
      contentType: rawType === 'text/plain' ? 'text/plain;charset=utf-8' : rawType,
      preferences: NO_PREFERENCES,
      make: () => answerValue(exchange, bound),
    }
  }
  return planData(exchange, bound)
}

function planMetadata({ request, format, model, service }: Exchange): AnswerPlan {
  const kind = negotiateMetadata(request.headers, format)
  const version = kind === 'xml' ? negotiateCsdlVersion(request.headers) : request.version
  const make = async () => {
    const body = await metadataDocument(model, { kind, version }, service)
    return { body, rows: () => 0 }
  }
  return { contentType: `application/${kind}`, preferences: NO_PREFERENCES, make }
}

/** The end of the name says the format, since the reference to it has no other place for that. */
function planVocabulary(file: string): AnswerPlan {
  const [, name = '', form = ''] = /^(.+)\.(xml|json)$/.exec(file) ?? []
  const document = vocabularyDocument(name, form as VocabularyForm)
  if (document === null)
    throw odataError(
      'unknown-resource',
      `there is no vocabulary "${file}" here; $metadata refers to ${vocabularyNames.join(', ')}`,
    )
  return {
    contentType: `application/${form}`,
    preferences: NO_PREFERENCES,
    make: () => whole(document),
  }
}

type DataRequest = Exclude<BoundRequest, { readonly kind: 'metadata' | 'vocabulary' | 'count' }>

function planData(exchange: Exchange, bound: DataRequest): AnswerPlan {
  const { request, isInBatch, format: option } = exchange
  const isRows = bound.kind === 'collection' || bound.kind === 'entity'
  const hasCsv = isRows && !isInBatch && exchange.since === null
  const hasParquet = hasCsv && bound.kind === 'collection' && exchange.token === null
  const format = negotiateData(request.headers, option, { hasCsv, hasParquet })
  if (isRows && format.kind === 'parquet') return planParquet(exchange, bound)
  if (isRows && format.kind === 'csv') return planCsv(exchange, bound)
  const json = format as JsonFormat
  const contentType = jsonContentType(json)
  if (bound.kind === 'service-document')
    return {
      contentType,
      preferences: NO_PREFERENCES,
      make: () => whole(serviceDocument(exchange, json)),
    }
  const asked = parsePreferences(request.headers)
  const preferences = appliedOf(asked, followed(exchange, bound))
  const rows = preferences.omitNulls ? { ...json, omitsNulls: true } : json
  const isFull = json.metadata === 'full' && bound.kind !== 'property'
  const query = isFull ? withControlInformation(bound.query, request.version) : bound.query
  const addressed = { ...bound, query }
  const many = exchange.since === null ? answerCollection : answerDelta
  const make =
    bound.kind === 'collection'
      ? () => many(exchange, addressed, rows, preferences)
      : () => answerEntity(exchange, addressed, rows)
  return { contentType, preferences, make }
}

function followed(
  exchange: Exchange,
  bound: Addressed & { readonly kind: string },
): readonly PreferenceName[] {
  const { kind, query } = bound
  if (kind === 'property') return []
  if (exchange.since !== null) return ['maxpagesize']
  // Values inside an object are written with their neighbours.
  const isFlat = query.output.every(({ path }) => path === undefined || path.length === 1)
  const omit: readonly PreferenceName[] = isFlat ? ['omit-values'] : []
  if (kind !== 'collection') return omit
  const track: readonly PreferenceName[] = isTrackable(exchange, bound) ? ['track-changes'] : []
  return ['maxpagesize', ...track, ...omit]
}

function planParquet(exchange: Exchange, bound: Addressed): AnswerPlan {
  return {
    contentType: PARQUET_CONTENT_TYPE,
    preferences: NO_PREFERENCES,
    headers: attachment(bound, 'parquet'),
    isFile: true,
    make: () => answerParquet(exchange, bound),
  }
}

function planCsv(exchange: Exchange, bound: Addressed & { readonly kind: string }): AnswerPlan {
  return {
    contentType: CSV_CONTENT_TYPE,
    preferences: NO_PREFERENCES,
    headers: attachment(bound, 'csv'),
    make: () => answerCsv(exchange, bound),
  }
}

function attachment({ query }: Addressed, extension: string): Readonly<Record<string, string>> {
  const name = encodeURIComponent(query.set.name)
  return { 'Content-Disposition': `attachment; filename*=UTF-8''${name}.${extension}` }
}

function serviceDocument({ request, model }: Exchange, format: JsonFormat): string {
  const context = format.metadata === 'none' ? {} : { '@odata.context': contextUrl(request) }
  const sets = Array.from(model.sets.values(), ({ name, relation }) => ({
    name,
    kind: 'EntitySet',
    url: name,
    ...(relation.description === null ? {} : { title: relation.description }),
  }))
  return JSON.stringify({ ...context, value: sets })
}
