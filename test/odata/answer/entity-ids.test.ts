// Each @odata.id is the URL of its row, for keys of every type and for every place that says one.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { type Served, serve } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'
import { publish } from '../../support/snapshot-files.ts'

const keys: Readonly<Record<string, Sql>> = {
  bin: sql`SELECT unnest(['\\x00'::BLOB, 'abc'::BLOB, '\\xFF\\xFE\\xFD\\xFC'::BLOB, ''::BLOB]) AS k`,
  dur: sql`SELECT unnest([INTERVAL '1 day' - INTERVAL '1 second', INTERVAL '-1 second', INTERVAL '1 day',
    INTERVAL '2 years 3 months', INTERVAL '0.000001 seconds']) AS k`,
  dbl: sql`SELECT unnest(['inf', '-inf', 'nan', '1e300', '-0.1', '5e-324', '0']::DOUBLE[]) AS k`,
  flt: sql`SELECT unnest(['inf', '-inf', 'nan', '3.4028235e38', '0.1']::FLOAT[]) AS k`,
  dec: sql`SELECT unnest([0.5, -0.25]::DECIMAL(2,2)[]) AS k`,
  big: sql`SELECT unnest(['170141183460469231731687303715884105727', '-5']::HUGEINT[]) AS k`,
  txt: sql`SELECT unnest(['', 'it''s', 'a/b?c#d&e=f%', '(1)', 'ä😀', chr(65279) || 'x', 'null', ' ']) AS k`,
  ts: sql`SELECT unnest([TIMESTAMP '2024-02-29 10:00:00.000001', TIMESTAMP 'infinity']) AS k`,
  dt: sql`SELECT unnest([DATE '2024-02-29', DATE '0044-03-15 (BC)']) AS k`,
  tod: sql`SELECT unnest([TIME '10:00:00.5', TIME '24:00:00']) AS k`,
  uid: sql`SELECT unnest(['550e8400-e29b-41d4-a716-446655440000'::UUID]) AS k`,
  bool: sql`SELECT unnest([true, false]) AS k`,
}

const tables = Object.entries(keys).map(([name, rows]) => ({
  model: `t.${name}`,
  key: ['k'],
  rows: sql`SELECT k, row_number() OVER () AS n FROM (${rows})`,
}))

/** Requests the id, and says whether the row that it gives is `n`. */
async function leadsTo(served: Served, id: string, n: number): Promise<void> {
  const answer = await served.get(id)
  assert.is(answer.status, 200, `${id}: ${answer.text}`)
  assert.is(answer.json.n, n, id)
}

test('an id is the URL of its row', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  for (const { model } of tables) {
    const set = model.replace('.', '_')
    const headers = { accept: 'application/json;odata.metadata=full' }
    const rows = (await served.get(set, headers)).json.value
    for (const row of rows) await leadsTo(served, row['@odata.id'], row.n)
    const references = (await served.get(`${set}/$ref`)).json.value
    assert.equal(
      references.map((one: Record<string, string>) => one['@odata.id']),
      rows.map((one: Record<string, string>) => one['@odata.id']),
    )
  }
})

test('the id of a removed row is the one that it had, in both versions', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const tracked = { prefer: 'odata.track-changes', accept: 'application/json;odata.metadata=full' }
  const before = new Map<string, { ids: readonly string[]; link: string }>()
  for (const set of ['t_bin', 't_txt', 't_dec', 't_ts', 't_dt']) {
    const { json } = await served.get(set, tracked)
    const ids = json.value.map((row: Record<string, string>) => row['@odata.id'])
    if (json['@odata.deltaLink'] !== undefined)
      before.set(set, { ids, link: json['@odata.deltaLink'].slice(served.url.length + 1) })
  }
  assert.ok(before.has('t_bin'))
  const none = tables.map((table) => ({ ...table, rows: sql`${table.rows} WHERE false` }))
  await publish(served.dir, 'second', none)
  while ((await served.get('')).headers['eider-snapshot'] !== 'second');
  for (const [set, { ids, link }] of before)
    for (const [version, name] of [
      ['4.0', 'id'],
      ['4.01', '@odata.id'],
    ] as const) {
      const { json } = await served.get(link, { 'odata-maxversion': version })
      const removed = json.value.map((row: Record<string, string>) => row[name])
      assert.equal(removed.toSorted(), ids.toSorted(), `${set} in ${version}`)
    }
})

test('a duration is found by what is served of it, and mixed units are one value', async () => {
  await using resources = new Resources()
  const rows = sql`SELECT * FROM (VALUES
    (1, INTERVAL '361 days' - INTERVAL '1 second', [INTERVAL '1 day' - INTERVAL '1 second'], {d: INTERVAL '-1 day 1 second'}),
    (2, INTERVAL '31190399 seconds', [INTERVAL '86399 seconds'], {d: INTERVAL '-86399 seconds'}),
    (3, NULL, NULL, NULL)) AS v(id, d, l, s)`
  const served = await serve(resources, [{ model: 't.spans', key: ['id'], rows }])
  const found: Readonly<Record<string, string>> = {
    "d eq duration'PT31190399S'": '1,2',
    "d in (duration'PT31190399S',duration'PT1S')": '1,2',
    "d ne duration'PT31190399S'": '3',
    "d lt duration'PT31190399S' or d gt duration'PT31190399S'": '',
    "d eq duration'P360DT23H59M59S'": '1,2',
    "l/any(x:x eq duration'PT86399S')": '1,2',
    "s/d eq duration'-PT86399S'": '1,2',
    "d add duration'P1D' eq duration'PT31276799S'": '1,2',
    "2024-01-02T01:00:00Z sub 2024-01-01T00:00:00Z add duration'-PT2H' eq duration'PT23H'": '1,2,3',
    'd eq null': '3',
  }
  for (const [filter, ids] of Object.entries(found)) {
    const answer = await served.get(`t_spans?$filter=${encodeURIComponent(filter)}`)
    assert.is(answer.status, 200, answer.text)
    const shown = answer.json.value.map(({ id }: { id: number }) => id).join()
    assert.is(shown, ids, filter)
  }
  const groups = await served.get('t_spans?$apply=groupby((d),aggregate($count%20as%20n))')
  assert.is(groups.json.value.length, 2)
})

test('a row without its key has its id, in whatever it stands', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [...shop, ...tables])
  for (const { model } of tables) {
    const set = model.replace('.', '_')
    for (const row of (await served.get(`${set}?$select=n`)).json.value)
      await leadsTo(served, row['@odata.id'], row.n)
  }
  const plain = async (target: string, headers = {}) => {
    const { status, text } = await served.get(encodeURI(target), headers)
    assert.is(status, 200, text)
    return JSON.parse(text, (name, value: unknown) =>
      name === '@odata.context' ? undefined : value,
    )
  }
  const [id, other] = ['shop_customers(1)', 'shop_items(order_id=10,line=1)']
  const alice = { '@odata.id': id, name: 'Alice' }
  assert.equal(await plain(`${id}?$select=name`), alice)
  assert.equal((await plain('shop_customers?$select=name&$top=1')).value, [alice])
  assert.equal((await plain('shop_customers?$select=name,customer_id&$top=1')).value, [
    { name: 'Alice', customer_id: 1 },
  ])
  // A part of a key is none.
  assert.is((await plain(`${other}?$select=line`))['@odata.id'], other)
  const within = await plain(`shop_orders(10)?$select=order_id&$expand=customer($select=name)`)
  assert.equal(within, { order_id: 10, customer: alice })
  const counted = 'shop_customers?$apply=filter(customer_id eq 1)/compute(1 as one)&$select=name'
  assert.equal((await plain(counted)).value, [alice])
  const bare = { accept: 'application/json;odata.metadata=none' }
  assert.equal((await plain('shop_customers?$select=name&$top=1', bare)).value, [{ name: 'Alice' }])
})

test('a client of 4.0 is told that a row of $apply is no entity', async () => {
  await using resources = new Resources()
  const served = await serve(resources, shop)
  const groups = 'shop_orders?$apply=groupby((status))&$top=1'
  const first = async (headers: Readonly<Record<string, string>>) =>
    (await served.get(groups, headers)).json.value[0]
  assert.equal(await first({ 'odata-maxversion': '4.0' }), { '@odata.id': null, status: null })
  assert.equal(await first({ 'odata-maxversion': '4.01' }), { status: null })
  assert.equal(
    await first({ 'odata-maxversion': '4.0', accept: 'application/json;odata.metadata=none' }),
    { status: null },
  )
})

test.run()
