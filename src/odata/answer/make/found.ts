// What every answer of rows asks of the engine: how many there are, whether the only one is there, and if not, why.

import type { BoundQuery, RowsRequest } from '../../bind/bound-request.ts'
import type { Expression } from '../../bind/bound.ts'
import { keysetOf } from '../../bind/keyset.ts'
import { effortOf } from '../../bind/effort.ts'
import type { Effort } from '../../engine/admission.ts'
import { Query, type EngineAccess } from '../../engine/query.ts'
import { odataError, optionNotAllowed } from '../../protocol/errors.ts'
import type { JsonFormat } from '../../protocol/negotiate.ts'
import { entityTextsSql } from '../../sql/expand.ts'
import { keysetWindow } from '../../sql/keyset.ts'
import { countTextSql, rowsSql } from '../../sql/query.ts'
import { type Content, type Exchange, asksForTime } from '../context.ts'
import type { FileOrder } from '../../engine/answer-files.ts'
import type { FormatName } from '../../protocol/formats.ts'
import { limits } from '../../../core/limits.ts'

export const countOf = ({ engine }: Exchange, query: BoundQuery): Promise<string> =>
  onlyText(engine, countTextSql(query), effortOf(query, 'page'))

type Texts = Parameters<typeof Query.open>[1]

export async function onlyText(engine: EngineAccess, texts: Texts, effort: Effort) {
  await using found = await Query.open(engine, texts, { maxRows: 1, mode: 'whole', effort })
  return String(found.whole)
}

/** How so many rows are read. */
export const modeFor = (rows: number): 'whole' | 'streamed' =>
  rows <= limits.wholeResultRows ? 'whole' : 'streamed'

/** Rows from where the token says, all of them unless there is a limit, and how they are read. */
export function rowsFrom({ token }: Exchange, query: BoundQuery, limit: number | null = null) {
  const order = keysetOf(query)
  const from = token?.from ?? null
  const keyset = order === null || from === null ? null : keysetWindow(order, from, null)
  const most = Math.min(limit ?? Infinity, query.top ?? Infinity, query.set.relation.rows)
  const mode = modeFor(most)
  return {
    rows: rowsSql(query, { offset: token?.given ?? 0, limit, keyset }),
    mode,
    effort: effortOf(query, mode === 'whole' ? 'page' : 'more'),
  }
}

const PLAIN: JsonFormat = { metadata: 'none', ieee754: false }

export const rowTexts = (query: BoundQuery, format = PLAIN) =>
  entityTextsSql(query, { offset: 0, limit: 1 }, format)

/** null when the entity that leads to it is there and has none. Throws 404. */
export async function onlyRow(
  exchange: Exchange,
  addressed: RowsRequest,
  texts = rowTexts(addressed.query),
  isLong = false,
): Promise<Query | null> {
  const { engine, resources } = exchange
  const { query, parent } = addressed
  const effort = effortOf(query, 'one')
  const found = await Query.open(engine, texts, { maxRows: 1, mode: 'whole', effort, isLong })
  resources.use(found)
  if (found.first.length > 0) return found
  if (parent === null) throw noEntity(query)
  await requireParent(exchange, addressed, true)
  return null
}

/**
 * Rows below an entity that does not exist are not an empty collection but 404. A row that was found shows that the
 * entity exists, unless $apply has made the row: an aggregate has one even when there is nothing to add up.
 */
export async function requireParent(
  exchange: Exchange,
  { query, parent }: RowsRequest,
  isEmpty: boolean,
): Promise<void> {
  if (parent === null || (!isEmpty && query.relation.kind === 'set')) return
  await onlyRow(exchange, { query: parent, parent: null })
}

export const noEntity = ({ set, filter }: BoundQuery) =>
  odataError(
    'entity-not-found',
    isAtPlace(filter)
      ? `${set.name} has no entity at this position`
      : `no entity of ${set.name} has this key`,
  )

/** The conditions of a key hold literals, those of a position what the n-th row has. */
function isAtPlace(filter: Expression | null): boolean {
  if (filter?.kind === 'logical') return filter.operands.some(isAtPlace)
  return filter?.kind === 'compare' && filter.right.kind === 'nth'
}

/** The answer for a value that is null, and for an entity that may be missing and is. */
export const NO_CONTENT: Content = { body: null, rows: () => 0 }

// Answers that DuckDB writes to a file, of which a client may ask for parts.

export async function answerFromFile(
  { engine, request, resources, service, snapshot }: Exchange,
  format: FormatName,
  written: FileOrder['written'],
): Promise<Content> {
  const order = {
    snapshot: snapshot.snapshot,
    key: `${service.reader.key} ${request.version} ${request.target} ${format}`,
    isTimed: asksForTime(request),
    written,
  }
  const file = resources.use(await service.answerFiles.lease(order, engine))
  return { body: file.read(0, file.bytes), file, rows: () => file.rows }
}

/** Without what is in the rows though nobody has asked for it. */
export const asAsked = (query: BoundQuery): BoundQuery =>
  query.expand.some(({ isImplied }) => isImplied === true)
    ? { ...query, expand: query.expand.filter(({ isImplied }) => isImplied !== true) }
    : query

/** The rows for a format that has these and nothing else. Throws RequestError 400 for what it cannot hold. */
export function flatRows(format: string, bound: BoundQuery): BoundQuery {
  const query = asAsked(bound)
  const { expand, withCount, output } = query
  const noPlace = (target: string, what: string) =>
    optionNotAllowed(`${format} cannot carry ${what}`, target)
  if (expand.length > 0) throw noPlace('$expand', 'nested rows')
  if (withCount) throw noPlace('$count', 'the number of rows next to them')
  if (output.length === 0) throw noPlace('$select', 'rows without a property')
  return query
}
