// Rows as a Parquet file, which has its types with it: readers by URL need no description of the columns. Like CSV it has no
// place for a next link, so it comes whole, up to $top.

import { parquetFile } from '../../sql/parquet.ts'
import { rowsSql } from '../../sql/query.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { answerFromFile, flatRows, requireParent } from './found.ts'

export const parquet: AnswerFormat<'parquet'> = async (exchange, bound) => {
  const query = flatRows('Parquet', bound.query)
  const rows = rowsSql(query, { offset: 0, limit: null })
  const content = await answerFromFile(exchange, 'parquet', parquetFile(rows, query.output))
  await requireParent(exchange, bound, content.rows() === 0)
  return content
}
