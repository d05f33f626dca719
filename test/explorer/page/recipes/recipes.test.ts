import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSchema } from '../../../../src/explorer/page/model/schema.ts'
import {
  type Recipe,
  recipesFor,
  type ToolId,
} from '../../../../src/explorer/page/recipes/recipes.ts'
import { readRowsState } from '../../../../src/explorer/page/rows/requests.ts'
import { csdl } from '../rows/example-csdl.ts'

const schema = readSchema(csdl)
const orders = schema.set('core_orders')!
const ROOT = 'http://127.0.0.1:8090/odata/'
const FILTERED = "$filter=total%20gt%205%20and%20tags%20eq%20'a''b'&pin=1"

function recipe(id: ToolId, query = '', hasParquet = false): Recipe {
  const recipes = recipesFor(ROOT, orders, readRowsState('core_orders', query), hasParquet)
  return recipes.find((one) => one.id === id)!
}
const code = (...given: Parameters<typeof recipe>) => Object.values(recipe(...given).codes)

test('every tool has something to paste, and says where a token goes without one in it', () => {
  const recipes = recipesFor(ROOT, orders, readRowsState('core_orders', FILTERED), true)
  assert.is(recipes.length, 11)
  for (const { tool, codes, token } of recipes) {
    assert.ok(Object.keys(codes).length > 0, tool)
    assert.match(token.toLowerCase(), 'token', tool)
    for (const text of Object.values(codes)) {
      assert.match(text, ROOT.slice(0, -1), tool)
      assert.not.match(text, 'pin=', tool)
    }
  }
})

test('Power BI gets M for the set, or for the rows of a query', () => {
  assert.equal(code('power-bi'), [
    'OData.Feed("http://127.0.0.1:8090/odata", null, [Implementation="2.0", Concurrent=true]){[Name="core_orders",Signature="table"]}[Data]',
  ])
  assert.equal(code('power-bi', FILTERED), [
    `OData.Feed("${ROOT}core_orders?$filter=total%20gt%205%20and%20tags%20eq%20'a''b'", null, [Implementation="2.0", Concurrent=true])`,
  ])
  const { file } = recipe('power-bi')
  assert.is(file!.name, 'core_orders.pbids')
  assert.equal(JSON.parse(file!.content), {
    version: '0.1',
    connections: [
      {
        details: { protocol: 'odata', address: { url: 'http://127.0.0.1:8090/odata' } },
        options: {},
        mode: 'Import',
      },
    ],
  })
})

test('pandas knows the types of what is selected, and Parquet comes first where there is one', () => {
  const csv = code('pandas', '$select=order_id,total')[0]!
  assert.match(csv, 'dtype={"order_id": "Int32"}')
  assert.not.match(csv, 'parse_dates')
  assert.match(
    code('pandas', '', true)[0]!,
    'pd.read_parquet("http://127.0.0.1:8090/odata/core_orders?$format=parquet")',
  )
})

test('no quote of a condition ends a quoted text', () => {
  assert.is(
    code('curl', FILTERED)[0],
    `curl -fsS -o core_orders.csv '${ROOT}core_orders?$filter=total%20gt%205%20and%20tags%20eq%20%27a%27%27b%27&$format=csv'`,
  )
  assert.match(code('duckdb', FILTERED)[0]!, "tags%20eq%20''a''''b''&$format=csv');")
})

test('Grafana gets %3B and an aggregation', () => {
  assert.match(code('grafana', '$expand=customer($select=name;$top=1)')[0]!, '%3B')
  assert.not.match(code('grafana', '$expand=customer($select=name;$top=1)')[0]!, ';')
})

test.run()
