// Customers, their orders and the items of those, for requests that go from one to another.

import { sql } from '../../src/core/sql.ts'
import type { Table } from './snapshot-files.ts'

export const shop: readonly Table[] = [
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT * FROM (VALUES
      (1, 'Alice', 'Berlin', 9007199254740993), (2, 'O''Neil', NULL, NULL), (3, 'Zoë', '', 0)
    ) AS v(customer_id, name, city, points)`,
  },
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'open', CAST(100.50 AS DECIMAL(18,4))), (11, 1, 'paid', 20), (12, 2, 'paid', NULL),
      (13, NULL, NULL, 0), (14, 99, 'open', 20), (15, 1, 'paid', 20)
    ) AS v(order_id, customer_id, status, amount)`,
  },
  {
    model: 'shop.items',
    key: ['order_id', 'line'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'a', 2), (10, 2, 'b', 1), (11, 1, 'a', 5), (12, 1, 'b/c', NULL)
    ) AS v(order_id, line, product, qty)`,
  },
  {
    model: 'shop.products',
    key: ['product'],
    rows: sql`SELECT * FROM (VALUES
      ('a', '\\x01\\xFF'::BLOB, TIMESTAMP '2024-01-05 10:30:00'), ('b/c', NULL, NULL), ('d''e', ''::BLOB, NULL)
    ) AS v(product, picture, added)`,
  },
]
