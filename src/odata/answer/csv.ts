// Rows as CSV, which is not an OData format but one that every program reads. It has no place for a next link, so it comes
// whole, up to $top: a truncated file must not look complete.

import { limits } from '../../core/limits.ts'
import { noEntity, requireParent } from './one.ts'
import type { Addressed, BoundQuery } from '../bind/bound.ts'
import { odataError } from '../protocol/errors.ts'
import { asksForTime, type Content, type Exchange } from './context.ts'
import { keysetWindow } from '../sql/keyset.ts'
import { Query } from '../engine/query.ts'
import { isSmallQuery } from './cost.ts'
import { rowsSql } from '../sql/query.ts'
import { csvFileSql, csvHead, csvTextsSql } from '../sql/csv.ts'
import { keysetOf } from '../bind/keyset.ts'

export async function answerCsv(
  exchange: Exchange,
  addressed: Addressed & { readonly kind: string },
): Promise<Content> {
  const { query } = addressed
  const { engine, token, resources } = exchange
  if (query.expand.length > 0) throw noPlace('$expand', 'nested rows')
  if (query.withCount) throw noPlace('$count', 'the number of rows')
  const order = keysetOf(query)
  const from = token?.from ?? null
  const keyset = order === null || from === null ? null : keysetWindow(order, from, null)
  const rows = rowsSql(query, { offset: token?.given ?? 0, limit: null, keyset })
  const atMost = Math.min(query.top ?? Infinity, query.set.relation.rows)
  const mode = atMost <= limits.wholeResultRows ? 'whole' : 'streamed'
  const isSmall = isSmallQuery(query, mode === 'whole' ? 'page' : 'more')
  const options = { maxRows: Number.MAX_SAFE_INTEGER, mode, isSmall } as const
  const found = resources.use(await Query.open(engine, csvTextsSql(rows, query.output), options))
  const isEmpty = found.whole?.length === 0
  if (addressed.kind === 'entity' && isEmpty && addressed.parent === null) throw noEntity(query)
  await requireParent(exchange, addressed, isEmpty)
  if (addressed.kind === 'entity' && isEmpty) return { body: null, rows: () => 0 }
  const all = found.whole
  if (all === null && exchange.request.wantsFile === true) {
    await found[Symbol.asyncDispose]()
    return await csvFile(exchange, query, rows)
  }
  const head = Buffer.from(csvHead(query.output))
  const body = all === null ? streamed(head, found) : Buffer.concat([head, all])
  return { body, rows: () => found.rows }
}

/** What is streamed has no length before its end, and no parts. */
async function csvFile(
  { engine, request, resources, service, snapshot }: Exchange,
  { output }: BoundQuery,
  rows: ReturnType<typeof rowsSql>,
): Promise<Content> {
  const order = {
    snapshot: snapshot.snapshot,
    key: `${service.reader.key} ${request.version} ${request.target} csv`,
    isTimed: asksForTime(request),
    rows: csvFileSql(rows, output),
    as: 'lines' as const,
    heads: 1,
  }
  const file = resources.use(await service.answerFiles.lease(order, engine))
  return { body: file.read(0, file.bytes), file, rows: () => file.rows }
}

async function* streamed(head: Buffer, found: Query): AsyncGenerator<Buffer, void> {
  yield head
  yield* found.chunks()
}

const noPlace = (target: string, what: string) =>
  odataError('option-not-allowed', `CSV cannot carry ${what}`, { target })
