// Change tracking: delta links, what they give, and when they end.

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { retainedManifestFile } from '../../../src/core/snapshot.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { type Served, serve } from '../../support/odata-service.ts'

const TRACK = { prefer: 'track-changes' }

const orders = (rows: Sql): Table => ({ model: 'shop.orders', key: ['id'], rows })

const FIRST = sql`SELECT * FROM (VALUES (1, 'open', 10.5, 'a'), (2, 'open', NULL, 'b'), (3, 'paid', 7, NULL), (4, 'paid', 1, 'd'))
  AS v(id, status, amount, note)`
/** 2 is changed, 3 deleted, 4 as it was, 5 added, of 1 only the status. */
const SECOND = sql`SELECT * FROM (VALUES (1, 'paid', 10.5, 'a'), (2, 'open', 20, 'b'), (4, 'paid', 1, 'd'), (5, 'open', 0, NULL))
  AS v(id, status, amount, note) ORDER BY id`

async function publishAndWait(served: Served, id: string, tables: readonly Table[]) {
  await publish(served.dir, id, tables)
  for (let current = ''; current !== id;)
    current = (await served.get('')).headers['eider-snapshot'] ?? ''
}

/** The link below the root. */
const linkOf = (served: Served, json: Readonly<Record<string, string>>): string => {
  const link = json['@odata.deltaLink']
  assert.ok(link?.startsWith(`${served.url}/`), JSON.stringify(json))
  return link!.slice(served.url.length + 1)
}

async function changesOf(target: string, headers = {}, from = FIRST, to = SECOND) {
  await using resources = new Resources()
  const served = await serve(resources, [orders(from)])
  const first = await served.get(target, { ...TRACK, ...headers })
  assert.is(first.headers['preference-applied'], 'track-changes', first.text)
  const none = await served.get(linkOf(served, first.json), headers)
  assert.equal(none.json.value, [])
  assert.is(linkOf(served, none.json), linkOf(served, first.json))
  await publishAndWait(served, 'second', [orders(to)])
  const delta = await served.get(linkOf(served, first.json), headers)
  assert.is(delta.status, 200, delta.text)
  assert.is(delta.headers['eider-snapshot'], 'second')
  const later = await served.get(linkOf(served, delta.json), headers)
  assert.equal(later.json.value, [])
  return { ...delta.json, url: served.url }
}

test('added, changed and removed entities, in the order of the key', async () => {
  const delta = await changesOf('shop_orders')
  assert.is(delta['@odata.context'], `${delta.url}/$metadata#shop_orders/$delta`)
  assert.equal(delta.value, [
    { id: 1, status: 'paid', amount: 10.5, note: 'a' },
    { id: 2, status: 'open', amount: 20, note: 'b' },
    { '@removed': { reason: 'deleted' }, '@odata.id': 'shop_orders(3)', id: 3 },
    { id: 5, status: 'open', amount: 0, note: null },
  ])
})

test('4.0 has deleted entities of its own form', async () => {
  const delta = await changesOf('shop_orders?$count=true', { 'odata-maxversion': '4.0' })
  assert.is(delta['@odata.count'], 4)
  assert.equal(delta.value[2], {
    '@odata.context': `${delta.url}/$metadata#shop_orders/$deletedEntity`,
    id: 'shop_orders(3)',
    reason: 'deleted',
  })
})

test('an entity that leaves the filter is removed with the reason changed, one that enters it is added', async () => {
  const delta = await changesOf(`shop_orders?$filter=${encodeURIComponent("status eq 'open'")}`)
  assert.equal(delta.value, [
    { '@removed': { reason: 'changed' }, '@odata.id': 'shop_orders(1)', id: 1 },
    { id: 2, status: 'open', amount: 20, note: 'b' },
    { id: 5, status: 'open', amount: 0, note: null },
  ])
  const paid = await changesOf('shop_orders?$search=paid&$orderby=amount')
  assert.equal(
    paid.value.map((row: { readonly id: number }) => row.id),
    [1, 3],
  )
})

test('changes are those of the properties asked for', async () => {
  const delta = await changesOf('shop_orders?$select=note')
  assert.is(delta['@odata.context'], `${delta.url}/$metadata#shop_orders(note)/$delta`)
  assert.equal(delta.value, [
    { '@removed': { reason: 'deleted' }, '@odata.id': 'shop_orders(3)', id: 3 },
    { '@odata.id': 'shop_orders(5)', note: null },
  ])
  const full = await changesOf('shop_orders?$select=amount', {
    accept: 'application/json;odata.metadata=full;IEEE754Compatible=true',
  })
  assert.equal(full.value[0], {
    '@odata.type': '#eider.shop_orders',
    '@odata.id': 'shop_orders(2)',
    'amount@odata.type': 'Decimal',
    amount: '20.0',
  })
})

test('changes have pages, which end with a delta link', async () => {
  await using resources = new Resources()
  const many = (rows: Sql): Table => ({ model: 'shop.many', key: ['a', 'b'], rows })
  const served = await serve(resources, [
    many(
      sql`SELECT i // 10 AS a, 'k' || i % 10 AS b, i AS v FROM range(100) AS r(i) ORDER BY a, b`,
    ),
  ])
  // The delta link stands on the last page alone.
  let page = await served.get('shop_many?$select=v', { prefer: 'track-changes,maxpagesize=40' })
  assert.is(page.headers['preference-applied'], 'track-changes, maxpagesize=40')
  for (
    ;
    page.json['@odata.nextLink'] !== undefined;
    page = await served.get(next(served, page.json))
  )
    assert.is(page.json['@odata.deltaLink'], undefined)
  const link = linkOf(served, page.json)
  await publishAndWait(served, 'second', [
    many(sql`SELECT i // 10 AS a, 'k' || i % 10 AS b, CASE WHEN i % 2 = 0 THEN i ELSE -i END AS v
      FROM range(20, 120) AS r(i) ORDER BY a, b`),
  ])
  const ids: string[] = []
  const sizes: number[] = []
  for (page = await served.get(link); ; page = await served.get(next(served, page.json))) {
    assert.is(page.status, 200, page.text)
    ids.push(...page.json.value.map((row: Readonly<Record<string, string>>) => row['@odata.id']))
    sizes.push(page.json.value.length)
    // What is published meanwhile comes with the next delta link.
    if (sizes.length === 1)
      await publishAndWait(served, 'third', [
        many(sql`SELECT 0::BIGINT AS a, 'k0' AS b, 0::BIGINT AS v`),
      ])
    if (page.json['@odata.nextLink'] === undefined) break
  }
  const id = (i: number) => `shop_many(a=${Math.floor(i / 10)},b='k${i % 10}')`
  const expected = Array.from({ length: 120 }, (_, i) => i).filter(
    (i) => i < 20 || i >= 100 || i % 2 === 1,
  )
  assert.equal(ids, expected.map(id))
  assert.equal(sizes, [40, 40])
  assert.is(page.headers['eider-snapshot'], 'second')
  const rest = await served.get(linkOf(served, page.json), { prefer: 'maxpagesize=1000' })
  assert.is(rest.json.value.length, 101)
  assert.is(rest.json.value.filter((row: object) => '@removed' in row).length, 100)
})

const next = (served: Served, json: Readonly<Record<string, string>>): string =>
  json['@odata.nextLink']!.slice(served.url.length + 1)

test('what cannot be tracked is answered without a delta link', async () => {
  await using resources = new Resources()
  const people: Table = {
    model: 'shop.people',
    key: ['person_id'],
    rows: sql`SELECT 1 AS person_id, 2.5::DOUBLE AS x`,
  }
  const dogs: Table = {
    model: 'shop.dogs',
    key: ['dog_id'],
    rows: sql`SELECT 7 AS dog_id, 1 AS person_id`,
  }
  const noKey: Table = { model: 'shop.log', rows: sql`SELECT 1 AS n` }
  const floats: Table = { model: 'shop.floats', key: ['x'], rows: sql`SELECT 2.5::DOUBLE AS x` }
  const served = await serve(resources, [people, dogs, noKey, floats])
  for (const target of [
    'shop_log',
    'shop_floats',
    'shop_people?$apply=filter(person_id%20eq%201)',
    'shop_people?$expand=dogs',
    'shop_people?$top=1',
    'shop_people?$skip=1',
    'shop_people?$compute=x%20add%201%20as%20y',
    'shop_people?$filter=dogs/any()',
    'shop_people?$filter=year(now())%20gt%201',
    'shop_people(1)/dogs',
    'shop_people/$ref',
    'shop_people?$format=csv',
  ]) {
    const answer = await served.get(target, TRACK)
    assert.is(answer.status, 200, target)
    assert.is(answer.headers['preference-applied'], undefined, target)
    assert.not.ok(answer.text.includes('deltaLink'), target)
  }
  assert.not.ok((await served.get('shop_people')).text.includes('deltaLink'))
  const metadata = await served.get('$metadata?$format=json')
  const supports = (set: string) =>
    metadata.json.eider.Default[set]['@Org.OData.Capabilities.V1.ChangeTracking'].Supported
  assert.equal(['shop_people', 'shop_log', 'shop_floats'].map(supports), [true, false, false])
})

test('a delta link is 410 when its state is gone or has another shape, and 400 when it was made up', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders(FIRST)])
  const link = linkOf(served, (await served.get('shop_orders?$select=id,note', TRACK)).json)
  const refusal = async (target: string) => {
    const { status, json } = await served.get(target)
    return [status, json.error?.code, json.error?.target]
  }
  const madeUp = [400, 'invalid-option-value', '$deltatoken']
  assert.equal(await refusal('shop_orders?$deltatoken=x'), madeUp)
  assert.equal(await refusal(link.replace('id,note', 'id')), madeUp)
  assert.equal(await refusal(`${link}&$count=true`), madeUp)
  assert.is((await served.get(`${link}&$format=csv`)).status, 406)
  const gone = [410, 'snapshot-gone', '$deltatoken']
  await publishAndWait(served, 'second', [orders(sql`SELECT id, amount, note FROM (${FIRST})`)])
  assert.equal(await refusal(link), gone)
  await publishAndWait(served, 'third', [orders(sql`SELECT id, status, amount FROM (${FIRST})`)])
  assert.equal(await refusal(link), gone)
  await publishAndWait(served, 'fourth', [{ ...orders(FIRST), key: ['status', 'id'] }])
  assert.equal(await refusal(link), gone)
  await publishAndWait(served, 'fifth', [])
  assert.equal(await refusal(link), gone)
  await publishAndWait(served, 'sixth', [orders(SECOND)])
  // Each request is another one, so that no answer of before is given again.
  let tries = 0
  const ask = () => served.get(link, { prefer: `maxpagesize=${1000 + tries++}` })
  assert.is((await ask()).json.value.length, 2)
  await rm(join(served.dir, retainedManifestFile('first')))
  // By its next look at the manifest the service has closed what is no longer among the last ones.
  while ((await ask()).status === 200 && tries < 300) await sleep(50)
  assert.equal(await refusal(link), gone)
})

test('a copy that follows delta links is what the service answers', async () => {
  await using resources = new Resources()
  // Each state keeps, changes, drops and adds rows by a hash of the row and its number.
  const state = (round: number) =>
    orders(sql`SELECT i AS id, CASE WHEN hash(i, round) % 4 = 0 THEN NULL ELSE chr((97 + hash(i, round // 2) % 3)::INTEGER) END AS status,
      CAST(hash(i, round // 3) % 5 AS DOUBLE) / (hash(i) % 2) AS ratio
      FROM range(200) AS r(i), (SELECT ${sql.value(round)}::INTEGER AS round) WHERE hash(i, round // 2, 1) % 5 > 0 ORDER BY i`)
  const served = await serve(resources, [state(0)], { pageSize: 23 })
  const filters = [
    '',
    "$filter=status%20ne%20'a'",
    '$filter=not%20(ratio%20gt%202)&$select=id,status',
  ]
  const copies = filters.map((filter) => ({
    target: `shop_orders?${filter}`,
    rows: new Map<number, object>(),
    link: '',
  }))
  const follow = async (copy: (typeof copies)[number], from: string) => {
    for (let target = from; ;) {
      const { status, json, text } = await served.get(target, TRACK)
      assert.is(status, 200, text)
      for (const row of json.value)
        if ('@removed' in row) assert.ok(copy.rows.delete(row.id), `${row.id} was not there`)
        else copy.rows.set(row.id, row)
      if (json['@odata.nextLink'] !== undefined) target = next(served, json)
      else return void (copy.link = linkOf(served, json))
    }
  }
  for (const copy of copies) await follow(copy, copy.target)
  for (let round = 1; round < 6; round++) {
    await publishAndWait(served, `round-${round}`, [state(round)])
    for (const copy of copies) {
      await follow(copy, copy.link)
      const all = await served.get(copy.target, { prefer: 'maxpagesize=1000' })
      const rows = [...copy.rows.entries()].toSorted(([a], [b]) => a - b).map(([, row]) => row)
      assert.equal(rows, all.json.value, `${copy.target} in round ${round}`)
    }
  }
})

test('a delta link within a batch', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders(FIRST)])
  const link = linkOf(served, (await served.get('shop_orders', TRACK)).json)
  await publishAndWait(served, 'second', [orders(SECOND)])
  const batch = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      requests: [
        { id: '1', method: 'GET', url: link },
        { id: '2', method: 'GET', url: 'shop_orders', headers: TRACK },
      ],
    }),
  })
  const [delta, all] = batch.json.responses
  assert.is(delta.body.value.length, 4)
  assert.is(all.headers['preference-applied'], 'track-changes')
  assert.equal(linkOf(served, all.body), linkOf(served, delta.body))
})

test.run()
