// Answers as Parquet: what is in them, the parts that readers ask for, and what is refused.

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { writeFile } from 'node:fs/promises'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { type Answer, serve, type Served } from '../../support/odata-service.ts'
import { publish, type Table } from '../../support/snapshot-files.ts'
import { openStalled } from '../../support/stalled-client.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'

const orders: Table = {
  model: 'shop.orders',
  key: ['id'],
  rows: sql`SELECT i AS id, (i * 1.25)::DECIMAL(10,2) AS amount, 'text ' || i AS note, i % 3 = 0 AS paid,
    TIMESTAMP '2026-01-01 10:00:00.123456' + to_minutes(i::INTEGER) AS placed_at FROM range(5000) AS r(i)`,
}
const types: Table = {
  model: 'shop.types',
  rows: sql`SELECT 12345678901234567890123456789012345678::HUGEINT AS huge, 250.50::DECIMAL(10,2) AS money,
    9007199254740993::BIGINT AS big, 'b0a1c2d3-0000-4000-8000-000000000001'::UUID AS guid,
    ['b0a1c2d3-0000-4000-8000-000000000002'::UUID] AS guids, {'of': 'b0a1c2d3-0000-4000-8000-000000000003'::UUID} AS owner,
    INTERVAL 90 MINUTE AS took, TIME '10:30:00' AS at, DATE '2026-02-28' AS day,
    TIMESTAMP '2026-02-28 12:00:00' AS moment, TIMESTAMPTZ '2026-02-28 12:00:00+02' AS zoned,
    [1, 2, NULL] AS numbers, {'street': 'a', 'since': TIMESTAMP '2020-01-01'} AS address, 'nan'::DOUBLE AS nan,
    '\\x00\\xFF'::BLOB AS bytes, NULL::VARCHAR AS nothing, 'möbel'::VARCHAR AS text`,
}

const TYPE = 'application/vnd.apache.parquet'

/** The columns and rows of a file, as DuckDB reads them. */
async function contents(answer: Answer) {
  await using dir = await temporaryDirectory()
  const path = join(dir.path, 'rows.parquet')
  await writeFile(path, answer.bytes)
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  const from = sql`FROM read_parquet(${sql.value(path)})`
  const columns = await connection.rows(sql`DESCRIBE ${from}`)
  return {
    rows: await connection.rows(sql`SELECT * ${from}`),
    types: Object.fromEntries(columns.map((row) => [row['column_name'], row['column_type']])),
  }
}

const made = async ({ dir }: Served) => {
  const temp = join(dir, '..', 'temp')
  const [service = ''] = await readdir(temp)
  const names = await readdir(join(temp, service))
  return names.filter((name) => name.startsWith('answer-'))
}

test('a file has the rows of the query in types that readers know', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [types])
  const answer = await served.get('shop_types?$format=parquet')
  assert.is(answer.status, 200, answer.text)
  assert.is(answer.headers['content-type'], TYPE)
  assert.match(
    answer.headers['content-disposition']!,
    /^attachment; filename\*=UTF-8''shop_types%2C%20\d{4}-\d\d-\d\d\.parquet$/,
  )
  const { types: columns, rows } = await contents(answer)
  assert.equal(columns, {
    huge: 'VARCHAR',
    money: 'DECIMAL(10,2)',
    big: 'BIGINT',
    guid: 'UUID',
    guids: 'VARCHAR[]',
    owner: 'STRUCT("of" VARCHAR)',
    took: 'VARCHAR',
    at: 'TIME',
    day: 'DATE',
    moment: 'TIMESTAMP WITH TIME ZONE',
    zoned: 'TIMESTAMP WITH TIME ZONE',
    numbers: 'INTEGER[]',
    address: 'STRUCT(street VARCHAR, since TIMESTAMP WITH TIME ZONE)',
    nan: 'DOUBLE',
    bytes: 'BLOB',
    nothing: 'VARCHAR',
    text: 'VARCHAR',
  })
  const [row] = rows
  assert.is(row!['huge'], '12345678901234567890123456789012345678')
  assert.is(row!['money'], '250.50')
  assert.is(row!['big'], '9007199254740993')
  assert.is(row!['took'], 'PT5400S')
  assert.is(row!['guid'], 'b0a1c2d3-0000-4000-8000-000000000001')
  assert.equal(row!['guids'], ['b0a1c2d3-0000-4000-8000-000000000002'])
  assert.is(row!['moment'], '2026-02-28 12:00:00+00')
  assert.is(row!['zoned'], '2026-02-28 10:00:00+00')
  assert.is(row!['text'], 'möbel')
  assert.is(row!['nothing'], null)
  const asText = '$compute=cast(guid,Edm.String)%20as%20digits&$select=digits'
  const texts = await contents(await served.get(`shop_types?$format=parquet&${asText}`))
  assert.equal(texts.types, { digits: 'VARCHAR' })
  assert.equal(texts.rows, [{ digits: 'b0a1c2d3-0000-4000-8000-000000000001' }])
})

test('options of the query count, and the whole result comes, not a page', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders], { pageSize: 10 })
  const all = await contents(await served.get('shop_orders', { accept: TYPE }))
  assert.is(all.rows.length, 5000)
  const some = await contents(
    await served.get(
      'shop_orders?$format=parquet&$filter=paid&$orderby=id%20desc&$select=id,note&$top=3',
    ),
  )
  assert.equal(some.rows, [
    { id: '4998', note: 'text 4998' },
    { id: '4995', note: 'text 4995' },
    { id: '4992', note: 'text 4992' },
  ])
  const grouped = await contents(
    await served.get(
      'shop_orders?$format=parquet&$apply=groupby((paid),aggregate($count%20as%20n))&$orderby=paid',
    ),
  )
  assert.equal(grouped.rows, [
    { paid: false, n: '3333' },
    { paid: true, n: '1667' },
  ])
  const none = await served.get('shop_orders?$format=parquet&$filter=id%20lt%200')
  assert.is(none.status, 200)
  assert.equal((await contents(none)).rows, [])
})

test('a reader gets the parts that it asks for', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  const target = 'shop_orders?$format=parquet'
  const head = await served.send({ target, method: 'HEAD' })
  assert.is(head.status, 200)
  assert.is(head.text, '')
  const whole = await served.get(target)
  const size = whole.bytes.length
  assert.is(head.headers['content-length'], String(size))
  assert.is(head.headers['accept-ranges'], 'bytes')
  assert.match(head.headers['etag']!, /^"/)
  const part = async (range: string, headers = {}) => served.get(target, { range, ...headers })
  const cases: readonly [range: string, start: number, end: number][] = [
    ['bytes=0-3', 0, 4],
    ['bytes=-8', size - 8, size],
    [`bytes=${size - 5}-`, size - 5, size],
    [`bytes=100-${size + 1000}`, 100, size],
    [`bytes=-${size + 1000}`, 0, size],
  ]
  for (const [range, start, end] of cases) {
    const answer = await part(range)
    assert.is(answer.status, 206, range)
    assert.is(answer.headers['content-range'], `bytes ${start}-${end - 1}/${size}`)
    assert.is(answer.headers['content-length'], String(end - start))
    assert.is(answer.bytes.compare(whole.bytes.subarray(start, end)), 0, range)
  }
  for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=5-2', 'bytes=-', 'bytes=x']) {
    const answer = await part(range)
    assert.is(answer.status, 200, range)
    assert.is(answer.bytes.length, size)
  }
  for (const range of [`bytes=${size}-`, 'bytes=-0']) {
    const answer = await part(range)
    assert.is(answer.status, 416, range)
    assert.is(answer.headers['content-range'], `bytes */${size}`)
    assert.is(answer.json.error.code, 'range-not-satisfiable')
  }
  const etag = whole.headers['etag']!
  assert.is((await part('bytes=0-3', { 'if-range': etag })).status, 206)
  for (const other of ['"other"', `W/${etag}`, 'Sun, 01 Nov 2026 00:00:00 GMT'])
    assert.is((await part('bytes=0-3', { 'if-range': other })).status, 200, other)
  assert.is((await part('bytes=0-3', { 'if-none-match': etag })).status, 304)
  const coded = await part('bytes=0-3', { 'accept-encoding': 'gzip, br' })
  assert.is(coded.headers['content-encoding'], undefined)
  assert.is((await part('bytes=0-3', { 'accept-encoding': 'identity;q=0, br' })).status, 406)
  assert.is((await made(served)).length, 1, 'one file for all of these')
})

test('a file is made once for a snapshot and a query, and the same again after a restart', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  const target =
    'shop_orders?$format=parquet&$apply=groupby((paid,note),aggregate(amount%20with%20sum%20as%20sum))'
  const answers = await Promise.all(Array.from({ length: 8 }, () => served.get(target)))
  for (const answer of answers) assert.is(answer.status, 200, answer.text)
  assert.is((await made(served)).length, 1)
  const { text, headers } = await served.get(target)
  assert.is((await served.get(target, { 'if-none-match': headers['etag']! })).status, 304)
  const other = await serve(resources, [orders])
  assert.is((await other.get(target)).text, text)
  await served.get('shop_orders?$format=parquet&$top=1')
  assert.is((await made(served)).length, 2)
})

test('files of a snapshot go with it', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  const target = 'shop_orders?$format=parquet'
  const first = await served.get(target)
  await publish(served.dir, 'second', [{ ...orders, rows: sql`SELECT 1 AS id` }])
  for (;;) {
    const { headers } = await served.get('')
    if (headers['eider-snapshot'] === 'second') break
  }
  const second = await served.get(target)
  assert.is.not(second.headers['etag'], first.headers['etag'])
  assert.equal((await contents(second)).rows, [{ id: 1 }])
  assert.is((await made(served)).length, 1)
})

test('a reader who takes nothing is cut off, a slow one gets all, and neither keeps the file', async () => {
  await using resources = new Resources()
  const stalledClientMs = 1_500
  // More than sockets take while nobody reads.
  const long = sql`SELECT i AS id, md5(i::VARCHAR) || md5((i + 1)::VARCHAR) AS text FROM range(450000) AS r(i)`
  const table = { ...orders, rows: long }
  const served = await serve(resources, [table], { stalledClientMs })
  const target = 'shop_orders?$format=parquet'
  const { bytes } = await served.get(target)
  assert.ok(bytes.length > 16_000_000, `${bytes.length} bytes`)
  const before = served.log.length
  openStalled(resources, served, target)
  const leaving = openStalled(resources, served, target)
  const slow = openStalled(resources, served, target, 'Connection: close\r\n')
  let taken = 0
  const reading = setInterval(
    () => (taken += (slow.read(16 * 1024) as Buffer | null)?.length ?? 0),
    20,
  )
  resources.defer(() => clearInterval(reading))
  const ended = () => served.log.slice(before).filter(({ event }) => event === 'request')
  leaving.once('readable', () => leaving.destroy())
  await until(() => ended().length === 2)
  await new Promise((resolve) => setTimeout(resolve, stalledClientMs))
  assert.equal(
    ended().map(({ fields }) => fields['aborted']),
    [true, true],
  )
  clearInterval(reading)
  slow.on('data', (part: Buffer) => (taken += part.length)).resume()
  await new Promise((resolve) => slow.once('close', resolve))
  assert.ok(taken > bytes.length, `${taken} of ${bytes.length}`)
  await publish(served.dir, 'second', [{ ...orders, rows: sql`SELECT 1 AS id` }])
  await until(async () => (await served.get(target)).headers['eider-snapshot'] === 'second')
  await until(async () => (await made(served)).length === 1)
})

test('what Parquet cannot carry is refused, and single rows and batches have other formats', async () => {
  await using resources = new Resources()
  const customers: Table = {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT 1 AS customer_id`,
  }
  const sales: Table = {
    model: 'shop.sales',
    key: ['id'],
    rows: sql`SELECT 1 AS id, 1 AS customer_id`,
  }
  const served = await serve(resources, [customers, sales])
  const cases: readonly [target: string, status: number, code: string][] = [
    ['shop_sales?$format=parquet&$expand=customer', 400, 'option-not-allowed'],
    ['shop_sales?$format=parquet&$count=true', 400, 'option-not-allowed'],
    ['shop_sales(1)?$format=parquet', 406, 'not-acceptable'],
    ['$metadata?$format=parquet', 406, 'not-acceptable'],
    ['shop_nope?$format=parquet', 404, 'unknown-entity-set'],
    ['shop_customers(9)/sales?$format=parquet', 404, 'entity-not-found'],
    ['shop_sales?$format=parquet&$filter=id%20div%200%20eq%201', 400, 'arithmetic-error'],
  ]
  for (const [target, status, code] of cases) {
    const answer = await served.get(target)
    assert.is(answer.status, status, `${target}: ${answer.text.slice(0, 200)}`)
    assert.is(answer.json.error.code, code, target)
  }
  const related = await served.get('shop_customers(1)/sales?$format=parquet')
  assert.is((await contents(related)).rows.length, 1)
  assert.equal(await made(served), await made(served))
})

test('a service that ends leaves no file', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [orders])
  await served.get('shop_orders?$format=parquet')
  const temp = join(served.dir, '..', 'temp')
  assert.is((await readdir(temp)).length, 1)
  const [service = ''] = await readdir(temp)
  const [file = ''] = await made(served)
  assert.ok((await readFile(join(temp, service, file, 'rows'))).length > 1000)
})

test.run()
