// Rows as a stream of Arrow, which has its types with it and which programs read without parsing. Like CSV it has no place
// for a next link, so it comes whole, up to $top, unless the client asks for pages: then a header has the link.

import { openArrow } from '../../engine/arrow-rows.ts'
import { arrowColumns } from '../../sql/arrow.ts'
import type { AnswerFormat } from '../choose/representation.ts'
import { flatRows, requireParent, rowsFrom } from './found.ts'
import { linkAfter, pageOf } from './page.ts'

export const arrow: AnswerFormat<'arrow'> = async (exchange, bound) => {
  const query = flatRows('Arrow', bound.query)
  const { engine, resources } = exchange
  const isPaged = exchange.chosen.preferences.maxPageSize !== null
  const page = isPaged ? pageOf(exchange, query) : null
  const next = page === null ? null : await linkAfter(exchange, query, page)
  const { rows, mode, effort } = rowsFrom(exchange, query, page?.limit)
  const columns = arrowColumns('page', query.output)
  const { found, body } = await openArrow(engine, { ...columns, rows }, { mode, effort })
  resources.use(found)
  await requireParent(exchange, bound, found.whole?.length === 0)
  const headers = next === null ? {} : { Link: `<${next}>; rel="next"` }
  return { body, headers, rows: () => found.rows }
}
