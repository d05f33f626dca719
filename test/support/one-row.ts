// Filters on a set of one row: statements about values that hold or do not.

import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import type { Fixture, Table } from './odata-fixture.ts'

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

export async function holds(fixture: Fixture, filters: readonly string[]) {
  for (const filter of filters) assert.is(await fixture.ids('t_one', filter), '1', filter)
}

export async function fails(fixture: Fixture, filters: readonly string[]) {
  for (const filter of filters) assert.is(await fixture.ids('t_one', filter), '', filter)
}

export function refused(fixture: Fixture, code: string, filters: readonly string[]) {
  for (const filter of filters)
    assert.is(fixture.refusal(`t_one?$filter=${encodeURIComponent(filter)}`).code, code, filter)
}
