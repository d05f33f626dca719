// Answers as Arrow: their frame, what is refused, and that their values are those of JSON, as pyarrow reads them.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { serve, type Served } from '../../support/odata-service.ts'
import { pythonTests, runPython } from '../../support/python.ts'
import type { Table } from '../../support/snapshot-files.ts'

const TYPE = 'application/vnd.apache.arrow.stream'

/** With NULL in every column, and more rows than are computed before the first is sent. */
const types = (rows: number): Table => ({
  model: 'shop.types',
  key: ['id'],
  rows: sql`SELECT * REPLACE (i::INTEGER AS id) FROM (SELECT i, i AS id, CASE WHEN i % 3 > 0 THEN COLUMNS(* EXCLUDE (i)) END
    FROM (SELECT i, i % 2 = 0 AS flag, (i % 100)::TINYINT AS tiny, (i % 999 - 400)::SMALLINT AS small,
      i::INTEGER AS usual, i * -1000000007 AS big, i::HUGEINT * -1000000000000000000000 AS huge,
      (-(i % 99))::DECIMAL(4,2) AS d4, (i * 0.5)::DECIMAL(9,3) AS d9, (i * -1.25)::DECIMAL(18,2) AS d18,
      (i * -3)::DECIMAL(38,10) AS d38, (i % 99 / 100)::DECIMAL(2,2) AS part, i / 7 AS ratio, (i / 4)::FLOAT AS single,
      DATE '2026-02-28' - i::INTEGER AS day, TIME '10:30:00' + to_microseconds(i) AS clock,
      TIMESTAMP '1970-01-02 12:00:00' - to_milliseconds(i * 10007) AS moment,
      TIMESTAMPTZ '2026-02-28 12:00:00+02' AS zoned, 'b0a1c2d3-0000-4000-8000-000000000001'::UUID AS guid,
      encode('x' || i) AS bytes, 'möbel ' || i AS text, repeat('é', (i % 40)::INTEGER) AS long,
      repeat('0123456789', CASE WHEN i % 1999 = 1 THEN 90000 ELSE 1 END) AS longest,
      list_transform(range(i % 5), lambda x: 'item ' || x || repeat('z', x::INTEGER * 5)) AS list,
      [i, NULL, i + 1] AS numbers, [{'a': i, 'b': 'q' || i}, NULL] AS objects,
      {'street': 'a' || i, 'n': i, 'empty': NULL::INTEGER, 'inner': {'c': 'const', 'tags': [1.5::DOUBLE, i / 2]}} AS address,
      ('e' || i % 2)::ENUM('e0', 'e1') AS word, to_seconds(i) + INTERVAL 1 MONTH AS took
    FROM range(${sql.value(rows)}) AS r(i)))`,
})

interface Message {
  /** 1 for a schema, 3 for a batch. */
  readonly kind: number
  readonly bodyBytes: number
}

/** The messages of a stream; throws unless it ends as one ends, and there alone. */
function messagesOf(bytes: Buffer): readonly Message[] {
  const messages: Message[] = []
  for (let at = 0; ;) {
    assert.is(bytes.readInt32LE(at), -1, 'each message begins with 0xFFFFFFFF')
    const length = bytes.readInt32LE(at + 4)
    at += 8
    if (length === 0) {
      assert.is(at, bytes.length)
      return messages
    }
    assert.is(length % 8, 0)
    const message = bytes.subarray(at, at + length)
    const table = message.readInt32LE(0)
    const fields = table - message.readInt32LE(table)
    const field = (number: number) => table + message.readUInt16LE(fields + 4 + 2 * number)
    const bodyBytes = Number(message.readBigInt64LE(field(3)))
    messages.push({ kind: message[field(1)]!, bodyBytes })
    at += length + bodyBytes
  }
}

test('a stream begins with its schema, has all rows in batches, and ends', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [types(30_000)])
  const whole = await served.get('shop_types?$format=arrow&$select=id,flag,d9')
  assert.is(whole.status, 200)
  assert.is(whole.headers['content-type'], TYPE)
  assert.match(
    whole.headers['content-disposition']!,
    /^attachment; filename\*=UTF-8''shop_types%2C%20\d{4}-\d\d-\d\d\.arrows$/,
  )
  assert.ok(whole.headers['etag']?.startsWith('W/'))
  const [schema, ...batches] = messagesOf(whole.bytes)
  assert.equal(schema, { kind: 1, bodyBytes: 0 })
  assert.ok(batches.length >= 30_000 / 2048 && batches.every(({ kind }) => kind === 3))
  const few = await served.get('shop_types?$top=3&$select=id', { accept: TYPE })
  assert.equal(messagesOf(few.bytes), [
    { kind: 1, bodyBytes: 0 },
    { kind: 3, bodyBytes: 16 },
  ])
  const none = await served.get('shop_types?$filter=id%20lt%200&$format=arrow')
  assert.is(messagesOf(none.bytes).length, 1)
  const long = await served.get('shop_types?$top=2000&$select=longest&$format=arrow')
  for (const { bodyBytes } of messagesOf(long.bytes))
    assert.ok(bodyBytes < 1_200_000, `${bodyBytes}`)
  const again = await served.get('shop_types?$top=3&$select=id', {
    accept: TYPE,
    'if-none-match': few.headers['etag']!,
  })
  assert.is(again.status, 304)
  const known = await served.get('shop_types?$top=3&$select=id', { accept: TYPE })
  assert.equal(known.bytes, few.bytes)
})

test('what Arrow cannot hold is refused, as is what it is not for', async () => {
  await using resources = new Resources()
  const huge: Table = {
    model: 'shop.huge',
    key: ['id'],
    rows: sql`SELECT 1 AS id, 1 AS types_id, 170141183460469231731687303715884105727::HUGEINT AS n`,
  }
  const served = await serve(resources, [types(10), huge])
  const cases: readonly (readonly [target: string, status: number, message: RegExp])[] = [
    ['shop_types?$expand=*', 400, /Arrow cannot carry nested rows/],
    ['shop_types?$count=true', 400, /Arrow cannot carry the number of rows/],
    ['shop_types?$select=huge,huge2', 400, /huge2/],
    ['shop_huge', 400, /out of range/],
    ['shop_types(1)', 406, /only served as/],
    ['shop_types(1)/id', 406, /only served as/],
    ['$metadata', 406, /XML or JSON/],
    ['shop_nothing', 404, /shop_nothing/],
  ]
  for (const [target, status, message] of cases) {
    const answer = await served.get(`${target}${target.includes('?') ? '&' : '?'}$format=arrow`)
    assert.is(answer.status, status, `${target}: ${answer.text}`)
    assert.match(answer.json.error.message, message, target)
  }
  const batch = await served.send({
    target: '$batch',
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      requests: [{ id: '1', method: 'GET', url: 'shop_types?$format=arrow' }],
    }),
  })
  assert.is(batch.json.responses[0].status, 406)
})

/** Each column as JSON has it, a text a row; NULL as `null`. */
const PRINTED = `import sys, json, urllib.request, pyarrow as pa, datetime, decimal, base64
def plain(v):
  if isinstance(v, decimal.Decimal): return format(v, 'f')
  if isinstance(v, datetime.datetime): return v.strftime('%Y-%m-%dT%H:%M:%S') + ('.%06d' % v.microsecond).rstrip('0').rstrip('.') + 'Z'
  if isinstance(v, datetime.timedelta): return 'PT%dS' % v.total_seconds()
  if isinstance(v, datetime.time): return v.isoformat().rstrip('0').rstrip('.') if v.microsecond else v.isoformat()
  if isinstance(v, datetime.date): return v.isoformat()
  if isinstance(v, bytes): return base64.urlsafe_b64encode(v).decode().rstrip('=')
  if isinstance(v, list): return [plain(i) for i in v]
  if isinstance(v, dict): return {k: plain(i) for k, i in v.items()}
  return v
table = pa.ipc.open_stream(urllib.request.urlopen(sys.argv[1] + '&$format=arrow').read()).read_all()
table.validate(full=True)
rows = json.load(urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={'Accept': 'application/json;IEEE754Compatible=true;odata.metadata=none', 'Prefer': 'odata.maxpagesize=100000'})), parse_float=float)['value']
big = {f.name for f in table.schema if pa.types.is_int64(f.type)}
def quoted(v, t):
  if v is None: return v
  if pa.types.is_int64(t): return str(v)
  if pa.types.is_list(t): return [quoted(i, t.value_type) for i in v]
  if pa.types.is_struct(t): return {f.name: quoted(v[f.name], f.type) for f in t}
  return v
wrong = 0
columns = {f.name: [quoted(plain(v), f.type) for v in table.column(f.name).to_pylist()] for f in table.schema}
for i, row in enumerate(rows):
  for name, value in row.items():
    if columns[name][i] != value:
      wrong += 1
      if wrong < 4: print(i, name, repr(columns[name][i]), repr(value))
print(len(table), len(rows), len(columns), wrong)`

const withTypes = async (rows: number, check: (served: Served) => Promise<void>) => {
  await using resources = new Resources()
  await check(await serve(resources, [types(rows)]))
}

pythonTests(['pyarrow'])('pyarrow finds the values of JSON, in few rows and in many', async () => {
  for (const rows of [1, 500, 15_000])
    await withTypes(rows, async ({ url }) => {
      assert.is(await runPython(PRINTED, [`${url}/shop_types?`]), `${rows} ${rows} 30 0`)
    })
})

pythonTests(['pyarrow'])('options of a request hold for Arrow as for JSON', async () => {
  await withTypes(15_000, async ({ url }) => {
    const cases: readonly (readonly [options: string, printed: string])[] = [
      ['$top=2500&$skip=12000&$orderby=id%20desc', '2500 2500 30 0'],
      ['$filter=contains(text,%277%27)&$select=text,list,id', '3193 3193 3 0'],
      ['$select=address/street,address/inner&$top=20', '20 20 1 0'],
      ['$compute=id%20add%201%20as%20x&$select=x,objects&$top=12000', '12000 12000 2 0'],
      ['$apply=groupby((flag),aggregate(id%20with%20sum%20as%20s))&$orderby=flag', '3 3 2 0'],
      ['$filter=id%20lt%200', '0 0 30 0'],
    ]
    for (const [option, printed] of cases)
      assert.is(await runPython(PRINTED, [`${url}/shop_types?${option}`]), printed, option)
  })
})

/** What each page has of `id` and `word`, in lines of rows, and the whole answer after them. */
const PAGES = `import sys, urllib.request, re, pyarrow as pa
def read(url, size):
  headers = {'Accept': 'application/vnd.apache.arrow.stream', **({'Prefer': f'odata.maxpagesize={size}'} if size else {})}
  answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers))
  return pa.ipc.open_stream(answer.read()).read_all(), answer.headers
url, size = sys.argv[1], int(sys.argv[2])
whole, headers = read(url, None)
assert headers['Link'] is None and headers['Preference-Applied'] is None
pages = []
while url:
  page, headers = read(url, size)
  assert headers['Preference-Applied'] == f'odata.maxpagesize={size}', headers
  pages.append(page)
  link = headers['Link']
  url = None if link is None else re.fullmatch('<([^>]+)>; rel="next"', link).group(1)
  if url and len(pages) == 2: assert read(url, None)[0].equals(whole.slice(2 * size)), 'the rest without a preference'
print([len(page) for page in pages], pa.concat_tables(pages).equals(whole))`

pythonTests(['pyarrow'])(
  'where pages are asked for, a header leads from each to the next',
  async () => {
    await withTypes(12_345, async ({ url }) => {
      const cases: readonly (readonly [options: string, size: number, pages: string])[] = [
        ['$select=id,word', 5000, '5000, 5000, 2345'],
        ['$select=text&$orderby=word,id%20desc', 5000, '5000, 5000, 2345'],
        ['$orderby=id%20mod%207,id&$select=id', 6000, '6000, 6000, 345'],
        ['$top=30&$skip=5', 10, '10, 10, 10'],
        ['$filter=id%20lt%2021&$select=address/street', 7, '7, 7, 7'],
        ['$filter=id%20lt%200', 7, '0'],
        ['$apply=groupby((flag,id))&$orderby=id&$filter=id%20lt%209', 4, '4, 4, 1'],
      ]
      for (const [options, size, pages] of cases)
        assert.is(
          await runPython(PAGES, [`${url}/shop_types?${options}`, String(size)]),
          `[${pages}] True`,
          options,
        )
    })
  },
)

pythonTests(['pyarrow'])('what stands in the place of a NULL is zero', async () => {
  const script = `import sys, urllib.request, pyarrow as pa
for batch in pa.ipc.open_stream(urllib.request.urlopen(sys.argv[1] + '&$format=arrow').read()):
  for array, size in zip(batch.columns, [4, 8]):
    data = array.buffers()[1].to_pybytes()
    print(sum(1 for i in range(len(array)) if not array[i].is_valid), sum(1 for i in range(len(array)) if not array[i].is_valid and any(data[i * size:(i + 1) * size])))`
  await withTypes(900, async ({ url }) => {
    assert.is(await runPython(script, [`${url}/shop_types?$select=usual,ratio`]), '300 0\n300 0')
  })
})

test.run()
