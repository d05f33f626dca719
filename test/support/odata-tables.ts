// Tables with few rows and all that is odd about values, for requests whose answers are known by heart.

import { sql } from '../../src/core/sql.ts'
import type { Table } from './snapshot-files.ts'

export const shop: readonly Table[] = [
  {
    model: 'shop.customers',
    key: ['customer_id'],
    description: 'People & firms that <buy> "things"',
    rows: sql`SELECT * FROM (VALUES
      (1, 'Alice', 'Berlin', CAST(1000.5 AS DECIMAL(18,4)), true, DATE '2020-01-15'),
      (2, 'Bob', 'Paris', 250.25, false, DATE '2021-06-30'),
      (3, 'O''Neil', '', 0, true, DATE '2019-12-31'),
      (4, 'Zoë', NULL, NULL, NULL, NULL),
      (5, '100% sure_thing', 'berlin', -10, false, DATE '2022-02-28')
    ) AS v(customer_id, name, city, credit, vip, since)`,
  },
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'open', CAST(100.50 AS DECIMAL(18,4)), 3, TIMESTAMP '2024-01-05 10:30:00'),
      (11, 1, 'paid', 20, 4, TIMESTAMP '2024-02-29 23:59:59.123456'),
      (12, 2, 'paid', NULL, NULL, NULL),
      (13, NULL, NULL, 0, 6, TIMESTAMP '2023-12-31 00:00:00'),
      (14, 99, 'open', 20, 5, TIMESTAMP '2024-12-31 12:00:00')
    ) AS v(order_id, customer_id, status, amount, flags, ordered_at)`,
  },
  {
    model: 'shop.items',
    key: ['order_id', 'line'],
    rows: sql`SELECT * FROM (VALUES
      (10, 1, 'a', 2), (10, 2, 'b', 1), (11, 1, 'a', 5), (12, 1, 'b/c', NULL)
    ) AS v(order_id, line, product, qty)`,
  },
  {
    model: 'shop.log',
    key: [],
    rows: sql`SELECT * FROM (VALUES (2, 'b'), (1, 'a'), (2, 'b')) AS v(n, t)`,
  },
]

/** One property of each numeric, temporal and other kind: ordinary, extreme and NULL values. */
export const kinds: readonly Table[] = [
  {
    model: 't.kinds',
    key: ['id'],
    rows: sql`SELECT * FROM (VALUES
      (1, 1::TINYINT, 10::SMALLINT, 100::INTEGER, 1000::BIGINT, 1.5::DOUBLE, 0.1::FLOAT, 10.25::DECIMAL(18,4)),
      (2, 127, -32768, -2147483648, 9223372036854775807, 'NaN'::DOUBLE, 'inf'::FLOAT, 99999999999999.9999),
      (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (4, -128, 32767, 2147483647, 9007199254740993, '-inf'::DOUBLE, 'NaN'::FLOAT, -10.25)
    ) AS v(id, t, s, i, b, d, f, n)`,
  },
  {
    model: 't.others',
    key: ['id'],
    rows: sql`SELECT * REPLACE (level::ENUM('low', 'it''s') AS level) FROM (VALUES
      (1, UUID '01234567-89ab-cdef-0123-456789abcdef', TIME '10:30:00', DATE '2024-02-29',
        TIMESTAMP '2024-01-05 10:30:00', INTERVAL 90 SECOND, '\\x01\\xFF'::BLOB, 'low',
        TIMESTAMPTZ '2024-01-05 12:30:00+02', 18446744073709551615::UBIGINT,
        170141183460469231731687303715884105727::HUGEINT),
      (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      (3, UUID 'ffffffff-ffff-ffff-ffff-ffffffffffff', TIME '23:59:59.5', DATE '0001-01-01',
        TIMESTAMP '9999-12-31 23:59:59.999999', INTERVAL '-1' DAY, ''::BLOB, 'it''s',
        TIMESTAMPTZ '2023-12-31 23:00:00-02', 0, -1)
    ) AS v(id, u, tod, dt, ts, du, bin, level, tz, ub, h)`,
  },
]

/** One row, for statements about values that hold or do not. */
export const one: readonly Table[] = [
  {
    model: 't.one',
    key: ['id'],
    rows: sql`SELECT 1 AS id, 'Straße 😀' AS v, NULL::VARCHAR AS nothing, 7 AS i, -2 AS j, 0 AS zero,
      127::TINYINT AS tiny, 9223372036854775807::BIGINT AS big, NULL::INTEGER AS no_number,
      2.5::DECIMAL(18,4) AS n, 9.99::DECIMAL(3,2) AS edge, -2.5::DOUBLE AS d, 0.5::FLOAT AS f,
      12345678901234567890.12345678::DECIMAL(38,8) AS wide,
      0.1::DECIMAL(38,2) AS total, 9007199254740993::HUGEINT AS counted, 1::DECIMAL(38,20) AS fine,
      DATE '2024-02-29' AS dt, TIMESTAMP '2024-02-29 23:59:58.123456' AS ts, TIME '10:20:30.5' AS tod,
      INTERVAL '1 day 2 hours' AS du, NULL::TIMESTAMP AS no_time, true AS yes`,
  },
]
