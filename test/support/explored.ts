// A service with its explorer, over tables made by hand, for tests in a browser.

import { join } from 'node:path'
import { Resources } from '../../src/core/resources.ts'
import { sql } from '../../src/core/sql.ts'
import { openExplorer } from '../../src/explorer/open-explorer.ts'
import type { ODataServiceOptions } from '../../src/odata/service.ts'
import { serve, type Served } from './odata-service.ts'
import type { Table } from './snapshot-files.ts'
import { repository } from './workspace.ts'

export interface Explored extends Served, AsyncDisposable {
  /** Of the OData service, without a slash at its end. */
  readonly base: string
}

export async function explored(
  tables: readonly Table[],
  options: Partial<ODataServiceOptions> & {
    /** The text of a catalog for a published state of that id. */
    readonly catalog?: (id: string) => string
    /** `project` unless it says otherwise. */
    readonly shows?: 'project' | 'sets'
  } = {},
): Promise<Explored> {
  const { catalog, shows = 'project', ...others } = options
  await using resources = new Resources()
  const pages = await openExplorer({
    project: 'shop',
    shows,
    async find(id) {
      if (catalog === undefined) return null
      const text = Buffer.from(catalog(id))
      return { mark: id, bytes: text.length, read: async () => text }
    },
    pageDir: join(repository, 'dist', 'explorer'),
  })
  const served = await serve(resources, tables, { pages, ...others })
  const owned = resources.move()
  return {
    ...served,
    base: served.url,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  }
}

/** 50 customers with 450 orders, of which every third is paid. */
export const shop: readonly Table[] = [
  {
    model: 'core.customers',
    key: ['customer_id'],
    description: 'Customers of the shop',
    rows: sql`SELECT (i + 1)::INTEGER AS customer_id, 'Customer ' || (i + 1) AS name,
      CASE i % 2 WHEN 0 THEN 'IE' ELSE 'NL' END AS country FROM range(50) t(i)`,
  },
  {
    model: 'core.orders',
    key: ['order_id'],
    description: 'Orders in their newest state',
    rows: sql`SELECT (i + 1)::INTEGER AS order_id, (i % 50 + 1)::INTEGER AS customer_id,
      CASE i % 3 WHEN 0 THEN 'paid' WHEN 1 THEN 'open' ELSE 'it''s late' END AS status,
      CASE WHEN i % 10 = 0 THEN NULL WHEN i % 10 = 1 THEN '' ELSE 'c' || (i % 4) END AS coupon,
      (i * 1.10 + 0.5)::DECIMAL(12,2) AS total, 9007199254740993 + i AS big,
      TIMESTAMP '2026-01-01 10:00:00' + INTERVAL (i) HOUR AS placed_at, i % 2 = 0 AS express
      FROM range(450) t(i)`,
  },
  {
    model: 'mart.totals',
    rows: sql`SELECT 1 AS n, 2.5 AS total`,
  },
]
