import { Ajv } from 'ajv'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { writeFiles } from '../../support/golden.ts'
import { serve, serveSnapshots } from '../../support/odata-service.ts'
import { runProject } from '../../support/pipeline-project.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

const tables: readonly Table[] = [
  {
    model: 'shop.orders',
    key: ['order_id'],
    rows: sql`SELECT i AS order_id, i % 2 AS customer_id,
      CASE WHEN i = 2 THEN NULL ELSE 'open' END::ENUM('open', 'paid') AS status,
      CASE WHEN i = 2 THEN NULL ELSE i * 1.25 END::DECIMAL(18,4) AS amount,
      CASE i WHEN 1 THEN 'NaN' WHEN 2 THEN '-inf' ELSE '1.5' END::DOUBLE AS factor,
      [i, NULL] AS numbers, {'street': 'x', 'place': {'city': 'y'}} AS address,
      DATE '2026-01-01' AS day, TIMESTAMP '2026-01-01 08:30:00' AS at, uuid() AS id,
      i::TINYINT AS small, i > 1 AS big, INTERVAL 1 DAY AS span, 'ab'::BLOB AS bytes
      FROM range(1, 4) r(i)`,
  },
  {
    model: 'shop.customers',
    key: ['customer_id'],
    rows: sql`SELECT i AS customer_id, 'c' || i AS name FROM range(0, 2) r(i)`,
  },
  {
    model: 'shop.lines',
    key: ['order_code', 'line'],
    rows: sql`SELECT 'a' AS order_code, i AS line FROM range(0, 2) r(i)`,
  },
  { model: 'shop.keyless', key: [], rows: sql`SELECT 1 AS a` },
  { model: 'hr.salaries', key: ['id'], rows: sql`SELECT 1 AS id, 9 AS pay` },
]

interface Document {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, { readonly get: { readonly operationId: string } }>>
  readonly components: { readonly schemas: Readonly<Record<string, object>> }
}

/** By the maintainers' own schemas of OpenAPI. It is loaded by name, so that other tests compile without it. */
async function problemsOf(document: Document): Promise<string> {
  const parser = '@readme/openapi-parser'
  const { validate } = (await import(parser)) as {
    readonly validate: (api: object) => Promise<{
      readonly valid: boolean
      readonly errors?: readonly object[]
    }>
  }
  const found = await validate(structuredClone(document))
  return found.valid ? '' : JSON.stringify(found.errors)
}

test('the document is OpenAPI, and has paths and schemas for each set', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const answer = await served.get('$openapi')
  assert.is(answer.status, 200, answer.text)
  assert.is(answer.headers['content-type'], 'application/json')
  const document = answer.json as Document
  assert.is(await problemsOf(document), '')
  assert.not.equal(await problemsOf({ ...document, paths: { x: 7 } } as never), '')
  assert.equal([document.openapi, document.servers[0]!.url], ['3.0.3', served.url])
  assert.equal(Object.keys(document.paths).toSorted(), [
    '/hr_salaries',
    '/hr_salaries({id})',
    '/hr_salaries/$count',
    '/shop_customers',
    '/shop_customers({customer_id})',
    '/shop_customers/$count',
    '/shop_keyless',
    '/shop_keyless/$count',
    '/shop_lines',
    "/shop_lines(order_code='{order_code}',line={line})",
    '/shop_lines/$count',
    '/shop_orders',
    '/shop_orders({order_id})',
    '/shop_orders/$count',
  ])
  const ids = Object.values(document.paths).map(({ get: { operationId } }) => operationId)
  assert.is(new Set(ids).size, ids.length)
})

/** As JSON Schema, which says in another way that a value may be null. */
function asJsonSchema(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(asJsonSchema)
  if (typeof part !== 'object' || part === null) return part
  const { nullable = false, ...others } = part as Readonly<Record<string, unknown>>
  const plain = Object.fromEntries(
    Object.entries(others).map(([name, value]) => [name, asJsonSchema(value)]),
  )
  return nullable === true ? { anyOf: [{ type: 'null' }, plain] } : plain
}

test('the rows that the service sends are as their schemas say', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const { components } = (await served.get('$openapi')).json as Document
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const whole = asJsonSchema({ components })
  const check = (set: string, row: unknown) => {
    const id = `${set}${Math.random()}`
    const schema = { ...(whole as object), $ref: `#/components/schemas/eider.${set}` }
    const isValid = ajv.validate({ ...schema, $id: id }, row)
    return isValid ? '' : ajv.errorsText(ajv.errors)
  }
  for (const target of [
    'shop_orders',
    'shop_customers',
    'shop_orders?$expand=customer',
    'shop_lines',
  ]) {
    const { value } = (await served.get(target, { accept: 'application/json;odata.metadata=none' }))
      .json
    assert.ok(value.length > 1)
    for (const row of value) assert.is(check(target.split('?')[0]!, row), '', JSON.stringify(row))
  }
  assert.not.equal(check('shop_orders', { order_id: 'x' }), '')
  assert.not.equal(check('shop_orders', { status: 'lost' }), '')
})

test('a token gets the document of its sets', async () => {
  await using resources = new Resources()
  const tokens = [readerToken('few', { sets: ['shop_customers'] }), readerToken('all', {})]
  const served = await serve(resources, tables, { tokens })
  const few = await served.get('$openapi', bearer('few'))
  assert.is(few.status, 200)
  assert.is(await problemsOf(few.json), '')
  assert.not.match(few.text, /orders|salaries|lines/)
  assert.match((await served.get('$openapi', bearer('all'))).text, /hr_salaries/)
  assert.is((await served.get('$openapi')).status, 401)
})

test('measures are in the rows and in the words of $apply, where a set has some', async () => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'measured' }))
  const model = `-- @expose order_id
-- @measure revenue: sum(amount)
-- @measure orders: count(*)
-- @column revenue: What was paid
-- @unit revenue: EUR
-- @dimension country
-- @rollup country
SELECT i AS order_id, 'c' || i AS country, i * 1.5 AS amount FROM range(3) r(i)`
  await writeFiles(dir, [{ path: 'models/m/orders.sql', content: Buffer.from(model) }])
  await runProject(paths)
  const served = await serveSnapshots(resources, paths.snapshots)
  const document = (await served.get('$openapi')).json
  assert.is(await problemsOf(document), '')
  const { properties } = document.components.schemas['eider.m_orders']
  assert.equal(Object.keys(properties), ['order_id', 'country', 'amount', 'revenue', 'orders'])
  assert.equal(properties.revenue, {
    type: 'number',
    format: 'decimal',
    nullable: true,
    description: 'Measure, where $apply asks for it: What was paid (sum(amount)), in EUR',
  })
  const applyOf = (set: string) =>
    document.paths[`/${set}`].get.parameters.find(
      ({ name }: { readonly name?: string }) => name === '$apply',
    )
  const { example, description } = applyOf('m_orders')
  assert.is(example, 'groupby((country),aggregate(revenue))')
  assert.match(description, /measures \(revenue, orders\)/)
  assert.is((await served.get(`m_orders?$apply=${example}`)).json.value.length, 3)
  const rolled = document.components.schemas['eider.m_orders_by_country'].properties
  assert.not.match(rolled.revenue.description, 'Measure')
})

test('keys that are segments, other formats and options', async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables, { conventions: { keyAsSegment: true } })
  const document = (await served.get('$openapi')).json as Document
  assert.ok('/shop_lines/{order_code}/{line}' in document.paths)
  assert.is(await problemsOf(document), '')
  assert.is((await served.get('$openapi?$format=json')).status, 200)
  assert.is((await served.get('$openapi?$format=xml')).status, 406)
  assert.is((await served.get('$openapi?$top=1')).status, 400)
  assert.is((await served.get('$openapi/x')).status, 404)
})

test.run()
