// What kind of answer a bound request gets: its format, the preferences that it follows, and its headers.

import { hash } from 'node:crypto'
import type { BoundRequest, OutputProperty, RowsRequest } from '../../bind/bound-request.ts'
import { storedKeyset } from '../../bind/keyset.ts'
import { mayReorder } from '../../bind/size.ts'
import { type FormatName, formats, type AnsweredAs } from '../../protocol/formats.ts'
import {
  type JsonFormat,
  negotiateCsdlVersion,
  negotiateData,
  negotiateMetadata,
  requireRaw,
  formatsFor,
  NO_PREFERENCES,
  parsePreferences,
  type PreferenceName,
  type Preferences,
} from '../../protocol/negotiate.ts'
import { asksForTime, type Exchange, type Content } from '../context.ts'
import { fileNameFor } from './file-name.ts'

interface Representation {
  readonly format: FormatName
  readonly json: JsonFormat
  readonly contentType: string
  /** Those that the answer follows. */
  readonly preferences: Preferences
  /** Headers that only answers in this format have. */
  readonly headers: Readonly<Record<string, string>>
}

interface ChosenRepresentation extends Representation {
  /** All headers of the answer with its body, by the target of the request, if that is all that differs. */
  readonly headersOf: (target: string) => Readonly<Record<string, string>>
}

/** Throws RequestError 406. */
export function chooseRepresentation(
  exchange: Exchange,
  bound: BoundRequest,
): ChosenRepresentation {
  const representation = representationOf(exchange, bound)
  return { ...representation, headersOf: headersFor(exchange, representation) }
}

function representationOf(exchange: Exchange, bound: BoundRequest): Representation {
  const { request, isInBatch, since, token, format: option } = exchange
  const { headers } = request
  if (bound.kind === 'count') return plain('text')
  if (bound.kind === 'metadata') return plain(negotiateMetadata(headers, option))
  // The end of the name says the format, since the reference to it has no other place for that.
  if (bound.kind === 'vocabulary') return plain(bound.file.endsWith('.xml') ? 'xml' : 'json')
  if (bound.kind === 'property' && bound.raw) {
    const [{ type }] = bound.query.output as readonly [OutputProperty]
    const format = type.name === 'Edm.Binary' ? 'bytes' : 'text'
    requireRaw(headers, format)
    return plain(format)
  }
  if (bound.kind === 'openapi') {
    negotiateData(headers, option, formatsFor('openapi'))
    return plain('json')
  }
  const origin = { isInBatch, isContinued: token !== null, isForChanges: since !== null }
  const { name, json, contentType } = negotiateData(headers, option, formatsFor(bound.kind, origin))
  if (name !== 'json') {
    const preferences = parsePreferences(headers, formats[name].isPaged ? ['maxpagesize'] : [])
    return { ...plain(name), preferences, headers: attachment(name, bound, exchange) }
  }
  if (bound.kind === 'service-document') return { ...plain('json'), json, contentType }
  const preferences = parsePreferences(headers, preferencesFor(exchange, bound))
  const written = preferences.omitNulls ? { ...json, omitsNulls: true } : json
  return { format: 'json', json: written, contentType, preferences, headers: {} }
}

const plain = (format: FormatName): Representation => ({
  format,
  json: { metadata: 'minimal', ieee754: false },
  contentType: formats[format].contentType,
  preferences: NO_PREFERENCES,
  headers: {},
})

function attachment(
  format: FormatName,
  bound: BoundRequest,
  { snapshot: { snapshot } }: Exchange,
): Representation['headers'] {
  const { extension } = formats[format]
  if (extension === undefined || !('query' in bound)) return {}
  const { set, filter } = bound.query
  const { publishedAt } = snapshot
  const name = fileNameFor({ set: set.name, filter, publishedAt, extension })
  return {
    'Content-Disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name).replaceAll("'", '%27')}`,
  }
}

/**
 * Those that the answer can follow. Changes can be tracked of entities of one set as they are stored, chosen by what is in
 * them alone; other requests are answered without a delta link, as a preference allows.
 */
function preferencesFor(
  { request, since }: Exchange,
  { kind, query, parent }: RowsRequest & { readonly kind: string },
): readonly PreferenceName[] {
  if (kind === 'property') return []
  if (since !== null) return ['maxpagesize']
  const { relation, set, row, filter, output, expand, skip, top } = query
  // Values inside an object are written with their neighbours.
  const isFlat = output.every(({ path }) => path === undefined || path.length === 1)
  const omit: readonly PreferenceName[] = isFlat ? ['omit-values'] : []
  if (kind !== 'collection') return omit
  const isTrackable =
    relation.kind === 'set' &&
    parent === null &&
    storedKeyset(set, row) !== null &&
    (filter === null || !mayReorder(filter)) &&
    output.every(({ value }) => value.kind === 'property') &&
    expand.length === 0 &&
    skip === 0 &&
    top === null &&
    !asksForTime(request)
  return isTrackable ? ['maxpagesize', 'track-changes', ...omit] : ['maxpagesize', ...omit]
}

/** Headers of a request that its answer depends on. */
const varying = [
  'Accept',
  'Accept-Encoding',
  'OData-MaxVersion',
  'OData-Version',
  'Origin',
  'Prefer',
]
const Vary = varying.join(', ')

function headersFor(
  { request, snapshot, service }: Exchange,
  { format, contentType, preferences, headers: own }: Representation,
): ChosenRepresentation['headersOf'] {
  const { id } = snapshot.snapshot
  const same: Record<string, string> = {
    'OData-Version': request.version,
    'Eider-Snapshot': id,
    'Cache-Control': 'no-cache',
    Vary,
    ...own,
  }
  const { applied } = preferences
  if (applied !== null) same['Preference-Applied'] = applied
  const { root, version, headers: asked } = request
  const versions = [version, negotiateCsdlVersion(asked)]
  const { pageSize, maxPageSize, conventions, links } = service
  const settings = [pageSize, maxPageSize, conventions, links.mark]
  // Parts of a file fit together only when all bytes are the same.
  const strength = formats[format].isRandomAccess === true ? '' : 'W/'
  const type = { 'Content-Type': contentType }
  return (target) => {
    // The same request on the same snapshot has the same answer, unless it asks for the time. After a start with another
    // page size, other paths or another secret, what clients have cached has other rows, or an invalid link.
    if (asksForTime({ target })) return { ...same, ...type }
    const of = [id, root, target, ...versions, contentType, applied, ...settings]
    const tag = hash('sha256', JSON.stringify(of), 'base64url').slice(0, 22)
    return { ...same, ETag: `${strength}"${tag}"`, ...type }
  }
}

/** A request being answered, and how. */
export interface ChosenExchange extends Exchange {
  readonly chosen: ChosenRepresentation
}

export type AnswerFormat<F extends FormatName> = (
  exchange: ChosenExchange,
  bound: RequestFor<F>,
) => Content | Promise<Content>

type RequestFor<F extends FormatName> = Extract<
  BoundRequest,
  { readonly kind: KindOf<AnsweredAs<F>> }
>

type KindOf<Kind> = Kind extends 'value' ? 'property' : Kind
