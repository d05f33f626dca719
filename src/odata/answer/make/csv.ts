// Rows as CSV, which is not an OData format but one that every program reads. It has no place for a next link, so it comes
// whole, up to $top: a truncated file must not look complete.

import { Query } from '../../engine/query.ts'
import { optionNotAllowed } from '../../protocol/errors.ts'
import { csvFile, csvHead, csvTextsSql } from '../../sql/csv.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { answerFromFile, asAsked, NO_CONTENT, noEntity, requireParent, rowsFrom } from './found.ts'

export const csv: AnswerFormat<'csv'> = async (exchange, bound) => {
  const { parent } = bound
  const query = asAsked(bound.query)
  const { engine, request, resources } = exchange
  if (query.expand.length > 0) throw optionNotAllowed('CSV cannot carry nested rows', '$expand')
  if (query.withCount) throw optionNotAllowed('CSV cannot carry the number of rows', '$count')
  const { rows, mode, effort } = rowsFrom(exchange, query)
  const options = { maxRows: Number.MAX_SAFE_INTEGER, mode, effort }
  const found = resources.use(await Query.open(engine, csvTextsSql(rows, query.output), options))
  const all = found.whole
  const isEmpty = all?.length === 0
  const isMissing = bound.kind === 'entity' && isEmpty
  if (isMissing && parent === null) throw noEntity(query)
  await requireParent(exchange, bound, isEmpty)
  if (isMissing) return NO_CONTENT
  if (all === null && request.wantsFile === true) {
    // What is streamed has no length before its end, and no parts.
    await found[Symbol.asyncDispose]()
    return await answerFromFile(exchange, 'csv', csvFile(rows, query.output))
  }
  const head = Buffer.from(csvHead(query.output))
  const body = all === null ? streamed(head, found) : Buffer.concat([head, all])
  return { body, rows: () => found.rows }
}

async function* streamed(head: Buffer, found: Query): AsyncGenerator<Buffer, void> {
  yield head
  yield* found.chunks()
}
