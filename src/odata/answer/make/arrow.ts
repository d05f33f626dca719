// Rows as a stream of Arrow, which has its types with it and which programs read without parsing. Like CSV it has no place
// for a next link, so it comes whole, up to $top.

import { openArrow } from '../../engine/arrow-rows.ts'
import { arrowColumns } from '../../sql/arrow.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { requireFlat, requireParent, rowsToTheEnd } from './found.ts'

export const arrow: AnswerFormat<'arrow'> = async (exchange, bound) => {
  const { query } = bound
  const { engine, resources } = exchange
  requireFlat('Arrow', query)
  const { rows, mode, isSmall } = rowsToTheEnd(exchange, query)
  const columns = arrowColumns('page', query.output)
  const { found, body } = await openArrow(engine, { ...columns, rows }, { mode, isSmall })
  resources.use(found)
  await requireParent(exchange, bound, found.whole?.length === 0)
  return { body, rows: () => found.rows }
}
