// Rows as a Parquet file, which has its types with it: readers by URL need no description of the columns. Like CSV it has no
// place for a next link, so it comes whole, up to $top.

import { requireParent } from './one.ts'
import type { Addressed } from '../bind/bound.ts'
import { odataError } from '../protocol/errors.ts'
import { asksForTime, type Content, type Exchange } from './context.ts'
import { parquetRowsSql } from '../sql/parquet.ts'
import { rowsSql } from '../sql/query.ts'

export async function answerParquet(exchange: Exchange, addressed: Addressed): Promise<Content> {
  const { query } = addressed
  const { engine, request, resources, service, snapshot } = exchange
  if (query.expand.length > 0) throw noPlace('$expand', 'nested rows')
  if (query.withCount) throw noPlace('$count', 'the number of rows next to them')
  if (query.output.length === 0) throw noPlace('$select', 'rows without a property')
  const rows = rowsSql(query, { offset: 0, limit: null })
  const order = {
    snapshot: snapshot.snapshot,
    key: `${service.reader.key} ${request.version} ${request.target}`,
    isTimed: asksForTime(request),
    rows: parquetRowsSql(rows, query.output),
    as: 'parquet' as const,
    heads: 0,
  }
  const file = resources.use(await service.answerFiles.lease(order, engine))
  await requireParent(exchange, addressed, file.rows === 0)
  return { body: file.read(0, file.bytes), file, rows: () => file.rows }
}

const noPlace = (target: string, what: string) =>
  odataError('option-not-allowed', `Parquet cannot carry ${what}`, { target })
