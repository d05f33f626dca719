// Averages and counts of numbers whose sum leaves 128 bits.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'

const MOST = '170141183460469231731687303715884105727'

const tables = [
  {
    model: 't.huge',
    key: ['id'],
    rows: sql`
      SELECT i::INTEGER AS id, ${sql.value(MOST)}::HUGEINT - i AS h, -(${sql.value(MOST)}::HUGEINT) AS least,
        340282366920938463463374607431768211455::UHUGEINT AS u, (i * 3)::HUGEINT AS small, NULL::HUGEINT AS none
      FROM range(4) t(i)`,
  },
]

test('an average of numbers near the limit of HUGEINT is a Double, and counts are there beside it', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const items = [
    '$count as rows',
    'h with count as filled',
    'h with countdistinct as different',
    'h with average as mean',
    'least with average as low',
    'u with average as unsigned',
    'small with average as exact',
    'none with average as none',
  ]
  const { json } = await served.get(encodeURI(`t_huge?$apply=aggregate(${items.join(',')})`))
  assert.equal(json.value, [
    {
      rows: 4,
      filled: 4,
      different: 4,
      mean: Number(MOST),
      low: -Number(MOST),
      unsigned: 2 ** 128,
      exact: 4.5,
      none: null,
    },
  ])
})

test('a sum that leaves 128 bits says so', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const { status, json } = await served.get('t_huge?$apply=aggregate(h%20with%20sum%20as%20s)')
  assert.is(status, 400)
  assert.is(json.error.code, 'arithmetic-error')
  assert.match(json.error.message, 'out of range for its type')
})

test.run()
