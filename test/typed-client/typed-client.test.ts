// Its commands are processes: a compiler, Python, and a service that both ask.

import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { pythonClient } from '../../src/typed-client/python.ts'
import { typescriptClient } from '../../src/typed-client/typescript.ts'
import { isWanted, runPython } from '../support/python.ts'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nodata:\n  page_size: 2\n',
  'models/shop/orders.sql': `-- @kind: table
-- @expose order_id
-- @description: Orders */ of all
-- @measure revenue: sum(amount)
-- @measure orders: count(*)
-- @measure mean: avg(amount)
-- @column revenue: What */ was paid
-- @dimension class
-- @rollup class
SELECT order_id, customer_id, amount, factor, big, class, ordered_at FROM (VALUES
  (1, 1, 1.10::DECIMAL(18,4), 0.1::DOUBLE, 9007199254740993::BIGINT, 'a', TIMESTAMP '2026-01-01 08:30:00'),
  (2, 1, NULL, 'NaN', NULL, 'it''s', NULL),
  (3, 2, 3.30, '-inf', 3, NULL, NULL)
) v(order_id, customer_id, amount, factor, big, class, ordered_at)`,
  'models/shop/customers.sql': `-- @kind: table
-- @expose customer_id
SELECT i AS customer_id, 'c' || i AS name, {'city': 'x', 'height': 1.5::DOUBLE} AS place FROM range(1, 3) r(i)`,
  'models/shop/lines.sql': `-- @kind: table
-- @expose code, line
SELECT 'a''b' AS code, i::INTEGER AS line FROM range(0, 2) r(i)`,
  'models/shop/größen.sql': `-- @kind: table
-- @expose "größe", line
-- @measure zahl: count(*)
SELECT 'ü/+' AS "größe", i::INTEGER AS line FROM range(0, 3) r(i)`,
}

const execute = promisify(execFile)

async function served(): Promise<{ readonly space: Workspace; readonly url: string }> {
  const space = await workspace(files)
  await space.ok(['run'])
  const { url } = await space.start(['serve', '--port', '0', '--quiet'])
  return { space, url }
}

const useTypescript = `
import { Client, type Decimal, type Int64, ODataError } from './shop.ts'

const client = new Client(process.argv[2]!)
const rows: { order_id: number; big: Int64 | null; amount: Decimal | null }[] = []
for await (const row of client.rows('shop_orders', { select: ['order_id', 'big', 'amount'] })) rows.push(row)
const one = await client.get('shop_orders', 2, { expand: 'customer' })
const city: string | null | undefined = one?.customer?.place?.city
const line = await client.get('shop_lines', { code: "a'b", line: 1 })
const large = await client.get('shop_größen', { größe: 'ü/+', line: 2 })
const many = await client.count('shop_größen', { filter: "größe eq 'ü/+'" })
const lines: number[] = []
for await (const row of client.rows('shop_größen', { select: ['line', 'größe'] })) lines.push(row.line)
const zahlen: (Int64 | null)[] = []
for await (const row of client.aggregate('shop_größen', { measures: ['zahl'], by: ['größe'] })) zahlen.push(row.zahl)
const none = await client.get('shop_customers', '99')
const totals: unknown[] = []
for await (const row of client.aggregate<{ n: Int64 }>('shop_orders', 'aggregate($count as n)')) totals.push(row.n)
const measured: { customer_id: number | null; revenue: Decimal | null; orders: Int64 | null }[] = []
const asked = { by: ['customer_id'], measures: ['revenue', 'orders'], filter: 'order_id ne 2', orderby: 'revenue desc' } as const
for await (const row of client.aggregate('shop_orders', asked)) measured.push(row)
for await (const { mean } of client.aggregate('shop_orders', { measures: ['mean'] })) totals.push(mean)
const rolled: { class: string | null; revenue: Decimal | null }[] = []
for await (const row of client.aggregate('shop_orders_by_class', { by: ['class'], measures: ['revenue'] })) rolled.push(row)
const refused = await client.count('shop_orders', { filter: 'nothing eq 1' }).catch((error: unknown) => error)
const code = refused instanceof ODataError ? refused.code : null
const some = await client.count('shop_orders', { filter: "class eq 'it''s'" })
console.log(JSON.stringify({ rows, city, factor: one?.factor, line, none, totals, measured, rolled, code, some, odd: { large, many, lines, zahlen } }))
`

const mistakes = [
  `client.rows('shop_order')`,
  `client.get('shop_orders', { order_id: 1 })`,
  `client.rows('shop_orders', { select: ['amuont'] })`,
  `client.get('shop_lines', 'a')`,
  `client.aggregate('shop_orders', { measures: ['revenu'] })`,
  `client.aggregate('shop_orders', { by: ['clas'], measures: ['revenue'] })`,
  `client.aggregate('shop_customers', { measures: ['revenue'] })`,
  `for await (const row of client.aggregate('shop_orders', { measures: ['mean'] })) row.orders`,
]

test('a client in TypeScript compiles strictly, reads all pages with all digits, and refuses mistakes', async () => {
  const { space, url } = await served()
  await using _ = space
  await space.ok(['client', 'typescript', '--out', space.path('shop.ts')])
  await space.write('use.ts', useTypescript)
  const tsc = async (...names: readonly string[]) =>
    await execute(
      process.execPath,
      [
        join(repository, 'node_modules', 'typescript', 'bin', 'tsc'),
        '--strict',
        '--noUncheckedIndexedAccess',
        '--rewriteRelativeImportExtensions',
        '--target',
        'es2022',
        '--module',
        'nodenext',
        '--lib',
        'es2022,dom,dom.iterable',
        '--typeRoots',
        join(repository, 'node_modules', '@types'),
        '--types',
        'node',
        ...names.map((name) => space.path(name)),
      ],
      { cwd: space.dir },
    )
  await space.write('package.json', '{"type":"module"}')
  await tsc('use.ts').catch((error: { stdout: string }) => assert.unreachable(error.stdout))
  const { stdout } = await execute(process.execPath, [space.path('use.js'), url])
  assert.equal(JSON.parse(stdout), {
    rows: [
      { order_id: 1, big: '9007199254740993', amount: '1.1000' },
      { order_id: 2, big: null, amount: null },
      { order_id: 3, big: '3', amount: '3.3000' },
    ],
    city: 'x',
    factor: 'NaN',
    line: { code: "a'b", line: 1 },
    none: null,
    totals: ['3', 2.2],
    measured: [
      { customer_id: 2, revenue: '3.3000', orders: '1' },
      { customer_id: 1, revenue: '1.1000', orders: '1' },
    ],
    rolled: [
      { class: null, revenue: '3.3000' },
      { class: 'a', revenue: '1.1000' },
      { class: "it's", revenue: null },
    ],
    code: 'unknown-property',
    some: 1,
    odd: { large: { größe: 'ü/+', line: 2 }, many: 3, lines: [0, 1, 2], zahlen: ['3'] },
  })
  await space.write(
    'wrong.ts',
    `import { Client } from './shop.ts'\nconst client = new Client('')\n${mistakes.join('\n')}\n`,
  )
  const wrong = await tsc('wrong.ts').then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  )
  for (const i of mistakes.keys()) assert.match(wrong, new RegExp(`wrong\\.ts\\(${i + 3},`))
})

const usePython = `
import sys
sys.path.insert(0, sys.argv[1])
import shop
from decimal import Decimal
client = shop.Client(sys.argv[2])
rows = list(client.rows("shop_orders", select=["order_id", "big", "amount", "factor"]))
assert [row["big"] for row in rows] == [9007199254740993, None, 3], rows
assert rows[0]["amount"] == Decimal("1.1") and type(rows[0]["amount"]) is Decimal, rows
assert rows[0]["factor"] == 0.1 and type(rows[0]["factor"]) is float and rows[2]["factor"] == float("-inf"), rows
one = client.get("shop_orders", 2, expand="customer")
assert one["customer"]["place"] == {"city": "x", "height": 1.5}, one
assert type(one["customer"]["place"]["height"]) is float
assert client.get("shop_lines", {"code": "a'b", "line": 1}) == {"code": "a'b", "line": 1}
assert client.get("shop_größen", {"größe": "ü/+", "line": 2}) == {"größe": "ü/+", "line": 2}
assert client.count("shop_größen", filter="größe eq 'ü/+'") == 3
assert [row["line"] for row in client.rows("shop_größen", select=["größe", "line"])] == [0, 1, 2]
assert list(client.aggregate("shop_größen", measures=["zahl"], by=["größe"])) == [{"größe": "ü/+", "zahl": 3}]
assert list(client.aggregate("shop_größen", "aggregate(zahl)")) == [{"zahl": 3}]
assert client.get("shop_customers", 99) is None
assert list(client.aggregate("shop_orders", "aggregate($count as n)")) == [{"n": 3}]
by = list(client.aggregate("shop_orders", measures=["revenue", "mean"], by=["customer_id"], filter="order_id ne 2"))
assert by == [{"customer_id": 1, "revenue": Decimal("1.1"), "mean": 1.1}, {"customer_id": 2, "revenue": Decimal("3.3"), "mean": 3.3}], by
assert type(by[0]["mean"]) is float and type(by[0]["revenue"]) is Decimal, by
assert list(client.aggregate("shop_orders", measures=["orders"])) == [{"orders": 3}]
assert list(client.aggregate("shop_orders", "groupby((class))", filter="class ne null", top=1)) == [{"class": "a"}]
assert list(client.aggregate("shop_orders_by_class", measures=["revenue"], by=["class"], top=1)) == [{"class": None, "revenue": Decimal("3.3")}]
assert client.count("shop_orders", filter="class eq 'it''s'") == 1
try:
    client.count("shop_orders", filter="nothing eq 1")
except shop.ODataError as error:
    print(error.code, error.status)
`

if (isWanted(['json', 'decimal']))
  test('a client in Python reads all pages with all digits', async () => {
    const { space, url } = await served()
    await using _ = space
    await space.ok(['client', 'python', '--url', url, '--out', space.path('shop.py')])
    assert.is(await runPython(usePython, [space.dir, url]), 'unknown-property 400')
  })

test('the project and its service give the same client, a token the client of its sets', async () => {
  const { space, url } = await served()
  await using _ = space
  const own = await space.ok(['client', 'typescript'])
  const other = await space.ok(['client', 'typescript', '--url', `${url}/`])
  const code = (text: string) => text.split('\n').slice(1).join('\n')
  assert.is(code(own.stdout), code(other.stdout))
  assert.match(own.stdout, /Orders \*\\\/ of all/)
  const event = JSON.parse((await space.ok(['client', 'python', '--json'])).stdout)
  assert.equal([event.event, event.language], ['client', 'python'])
})

test('what keeps a client from being written is said', async () => {
  await using space = await workspace(files)
  const unpublished = await space.ok(['client', 'typescript'], { exitCode: 2 })
  assert.match(unpublished.stderr, /nothing is published yet.*\n.*eider run/)
  const closed = await space.ok(['client', 'python', '--url', 'http://127.0.0.1:1/odata'], {
    exitCode: 3,
  })
  assert.match(closed.stderr, /\$metadata: .*\n.*--token/)
  const odd = await space.ok(['client', 'python', '--url', 'shop'], { exitCode: 2 })
  assert.match(odd.stderr, /no URL of a service/)
  await space.ok(['client', 'cobol'], { exitCode: 2 })
})

test('what another service says cannot become code', () => {
  const metadata = (set: string, type: string, of: string) =>
    JSON.stringify({
      $EntityContainer: 's.c',
      s: {
        [type]: { $Kind: 'EntityType', $Key: ['id'], id: { $Type: of } },
        c: { [set]: { $Collection: true, $Type: `s.${type}` } },
      },
    })
  for (const make of [typescriptClient, pythonClient]) {
    assert.match(make(metadata('orders', 'order', 'Edm.Int32'), 'x'), 'Order')
    assert.not.match(make(metadata('orders', 'order', 'Edm.Int32; evil()'), 'x'), 'evil')
    for (const name of ['o{} evil()', 'o\nevil()', 'o; evil', '']) {
      assert.throws(() => make(metadata(name, 'order', 'Edm.Int32'), 'x'), /is no name/)
      assert.throws(() => make(metadata('orders', name, 'Edm.Int32'), 'x'), /is no name/)
    }
  }
})

test('a type of another service takes no name that the client uses', () => {
  const metadata = (type: string) =>
    JSON.stringify({
      $EntityContainer: 's.c',
      s: {
        [type]: { $Kind: 'EntityType', $Key: ['id'], id: { $Type: 'Edm.Int32' } },
        c: { rows: { $Collection: true, $Type: `s.${type}` } },
      },
    })
  for (const name of ['async_generator', 'promise', 'record', 'pick', 'response'])
    assert.match(typescriptClient(metadata(name), 'x'), /export interface \w+2 \{/)
  for (const name of ['none', 'true', 'false', 'request', 'exception'])
    assert.match(pythonClient(metadata(name), 'x'), /^\w+2 = TypedDict\(/m)
})

test('a measure of another service cannot become code', () => {
  const metadata = (measure: string, type: string) =>
    JSON.stringify({
      $EntityContainer: 's.c',
      s: {
        order: { $Kind: 'EntityType', $Key: ['id'], id: { $Type: 'Edm.Int32' } },
        order_measures: { $Kind: 'ComplexType' },
        c: {
          orders: {
            $Collection: true,
            $Type: 's.order',
            [`@Org.OData.Aggregation.V1.CustomAggregate#${measure}`]: type,
          },
        },
      },
    })
  for (const make of [typescriptClient, pythonClient]) {
    assert.match(make(metadata('total', 'Edm.Int32'), 'x'), 'OrdersMeasures')
    assert.not.match(make(metadata('total', 'Edm.Int32; evil()'), 'x'), 'evil')
    for (const name of ['o{} evil()', 'o\nevil()', '"', ''])
      assert.throws(() => make(metadata(name, 'Edm.Int32'), 'x'), /is no name/)
  }
})

test('a service whose metadata is none is told as such', async () => {
  await using space = await workspace({})
  const documents = ['no JSON', '{}', 'null', '{"$EntityContainer":"s.c","s":{"o{}":{},"c":{}}}']
  const server = createServer((_request, response) => void response.end(documents[0]))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (; documents.length > 0; documents.shift()) {
    const args = ['client', 'python', '--url', `http://127.0.0.1:${port}`]
    const { stderr } = await space.ok(args, { exitCode: 3 })
    assert.match(stderr, /\$metadata: it describes no sets: /)
  }
  await new Promise((resolve) => server.close(resolve))
})

test.run()
