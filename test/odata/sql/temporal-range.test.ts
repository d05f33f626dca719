// Values of the engine that OData has not: what an answer shows, a filter finds, and nothing fails.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve } from '../../support/odata-service.ts'

const edges = {
  model: 't.edges',
  key: ['id'],
  rows: sql`SELECT *, ts::TIMESTAMPTZ AS tz, ts::TIMESTAMP_S AS s,
    CASE WHEN id < 3 THEN ts END::TIMESTAMP_NS AS ns FROM (VALUES
    (1, TIMESTAMP 'infinity', DATE 'infinity', TIME '24:00:00'),
    (2, TIMESTAMP '-infinity', DATE '-infinity', TIME '00:00:00'),
    (3, TIMESTAMP '0044-03-15 (BC) 12:00:00', DATE '0044-03-15 (BC)', TIME '12:00:00'),
    (4, TIMESTAMP '12024-01-01 00:00:00', DATE '5000000-01-01', TIME '23:59:59.999999'),
    (5, TIMESTAMP '2024-01-01 10:00:00', DATE '2024-01-01', NULL),
    (6, NULL, NULL, NULL)
  ) AS v(id, ts, dt, tod) ORDER BY id`,
}

const LAST = '9999-12-31T23:59:59.999999Z'
const FIRST = '0001-01-01T00:00:00Z'

test('a value out of range is the nearest one in range, wherever the column is used', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [edges])
  const all = await served.get('t_edges')
  const column = (name: string) => all.json.value.map((row: Record<string, unknown>) => row[name])
  for (const name of ['ts', 'tz', 's'])
    assert.equal(column(name), [LAST, FIRST, FIRST, LAST, '2024-01-01T10:00:00Z', null], name)
  assert.equal(column('ns').slice(0, 2), [LAST, FIRST])
  const days = ['9999-12-31', '0001-01-01', '0001-01-01', '9999-12-31', '2024-01-01', null]
  assert.equal(column('dt'), days)
  assert.equal(column('tod').slice(0, 2), ['23:59:59.999999', '00:00:00'])
  const found: Readonly<Record<string, string>> = {
    [`ts eq ${LAST}`]: '1,4',
    [`tz eq ${LAST} and s eq ${LAST}`]: '1,4',
    [`ts in (${FIRST})`]: '2,3',
    [`ts gt ${LAST}`]: '',
    'dt eq 9999-12-31': '1,4',
    'dt le 0001-01-01': '2,3',
    'tod eq 23:59:59.999999': '1,4',
    'hour(tod) eq 24': '',
    'hour(tod) eq 23': '1,4',
    'year(ts) eq 9999 and year(dt) eq 9999': '1,4',
    'dt eq date(ts)': '1,2,3,4,5,6',
    'ts eq null': '6',
  }
  for (const [filter, ids] of Object.entries(found)) {
    const answer = await served.get(`t_edges?$select=id&$filter=${encodeURIComponent(filter)}`)
    assert.is(answer.json.value.map(({ id }: { id: number }) => id).join(), ids, filter)
  }
  const ordered = await served.get('t_edges?$select=id&$orderby=ts%20desc,id%20desc')
  assert.equal(
    ordered.json.value.map(({ id }: { id: number }) => id),
    [4, 1, 5, 3, 2, 6],
  )
})

test('values in range stay as they are, up to the ends', async () => {
  await using resources = new Resources()
  const inside = {
    ...edges,
    rows: sql`SELECT * FROM (VALUES
      (1, TIMESTAMP '9999-12-31 23:59:59.999999', DATE '9999-12-31', TIME '23:59:59.999999', TIMESTAMP_S '10000-01-01 00:00:00'),
      (2, TIMESTAMP '0001-01-01 00:00:00', DATE '0001-01-01', TIME '00:00:00', NULL)
    ) AS v(id, ts, dt, tod, s)`,
  }
  const served = await serve(resources, [inside])
  const { value } = (await served.get('t_edges')).json
  const last = { id: 1, ts: LAST, dt: '9999-12-31', tod: '23:59:59.999999', s: LAST }
  assert.equal(value[0], last)
  assert.equal(value[1], { id: 2, ts: FIRST, dt: '0001-01-01', tod: '00:00:00', s: null })
})

test('calculations with such values have results', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [edges])
  const expressions = ['ts sub ts', 'time(ts)', 'date(ts)', 'cast(ts,Edm.String)', 'dt sub dt']
  expressions.push(
    'ts sub 2020-01-01T00:00:00Z',
    'dt sub 2020-01-01',
    'cast(dt,Edm.DateTimeOffset)',
  )
  expressions.push('cast(tod,Edm.String)', 'fractionalseconds(ts)', 'totalseconds(ts sub ts)')
  for (const text of ['infinity', '-infinity', '0044-03-15 (BC)', '12024-01-01', '24:00:00'])
    for (const type of ['Date', 'DateTimeOffset', 'TimeOfDay'])
      expressions.push(`cast('${text}',Edm.${type})`)
  expressions.push("cast('infinity',Edm.DateTimeOffset) sub ts")
  for (const expression of expressions) {
    const compute = encodeURIComponent(`${expression} as x`)
    const answer = await served.get(`t_edges?$select=x&$compute=${compute}`)
    assert.is(answer.status, 200, `${expression}: ${answer.text}`)
  }
  const text = await served.get(
    `t_edges?$select=x&$top=1&$compute=${encodeURIComponent('cast(ts,Edm.String) as x')}`,
  )
  assert.is(text.json.value[0].x, LAST)
})

test.run()
