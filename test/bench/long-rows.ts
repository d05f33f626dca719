// How long an answer with long rows keeps others waiting: one entity with thousands inside, and a page of rows of 5 KB.

import { workspace } from '../support/workspace.ts'
import type { Figure } from './figure.ts'
import { download, serveTable } from './served.ts'

const BLOCK_MS = 25
const ROUNDS = 3

const models = {
  'models/core/customers.sql': `-- @kind: table
-- @expose customer_id
SELECT i::INTEGER AS customer_id, 'name ' || i AS name FROM range(10) AS r(i)`,
  'models/core/orders.sql': `-- @kind: table
-- @expose order_id
SELECT i::INTEGER AS order_id, 1 AS customer_id, repeat(chr((97 + i % 26)::INTEGER), 700) AS note FROM range(48000) AS r(i)`,
  'models/core/texts.sql': `-- @kind: table
-- @expose id
SELECT i::INTEGER AS id, repeat(chr((97 + i % 26)::INTEGER), 5000) AS note FROM range(10000) AS r(i)`,
}

const answers = [
  { what: 'an entity with $expand', path: 'core_customers(1)?$expand=orders' },
  { what: 'a page of long rows', path: 'core_texts' },
] as const

export async function measureLongRows(): Promise<readonly Figure[]> {
  await using space = await workspace({ 'eider.yml': 'name: bench\n', ...models })
  await space.ok(['run', '--quiet'])
  const figures: Figure[] = []
  for (const { what, path } of answers) {
    await using service = await serveTable(space.dir, { cacheBytes: 0 })
    for (let i = 0; i < ROUNDS; i++) await download(`${service.url}/core_customers?$top=${i + 1}`)
    await service.cost()
    let bytes = 0
    for (let i = 0; i < ROUNDS; i++) ({ bytes } = await download(`${service.url}/${path}`))
    const { longestBlockMs } = await service.cost()
    figures.push({
      name: `longest block of the event loop during ${what} / ${BLOCK_MS} ms`,
      ratio: longestBlockMs / BLOCK_MS,
      bound: { at: 'most', ratio: 1 },
      measured: `${longestBlockMs.toFixed(1)} ms; ${(bytes / 2 ** 20).toFixed(0)} MiB, ${ROUNDS} times`,
    })
  }
  return figures
}
