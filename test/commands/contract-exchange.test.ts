// Data contracts of the Open Data Contract Standard, out and in.

import { existsSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { limits } from '../../src/core/limits.ts'
import { pythonTests, runPython } from '../support/python.ts'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nodata: {port: 8099}\n',
  'models/core/customers.sql': `-- @expose id
SELECT 1 AS id, 'Ann' AS name
`,
  'models/core/orders.sql': `-- @description: Orders in their newest state
-- @owner: team-a
-- @tags: daily, money
-- @expose order_id
-- @fresh: 10 s
-- @column amount: What was paid
-- @label amount: Amount
-- @unit amount: EUR
-- @format amount: 0.00
-- @check: not_null(customer_id)
-- @check: unique(order_id, status)
-- @check: accepted(status, 'open', 'it''s done')
-- @check: references(customer_id, core.customers.id)
-- @check: row_count(> 0)
-- @check: amount >= 0
-- @warn: not_null(status) up to 5%
-- @check: not_null(amount) where status = 'open'
SELECT 7 AS order_id, 1 AS customer_id, 'open' AS status, 9.5::DECIMAL(12, 2) AS amount,
  TIMESTAMPTZ '2026-01-01 00:00:00Z' AS at, [1, 2] AS list
`,
  'models/core/hidden.sql': 'SELECT 1 AS id\n',
}

interface Contract {
  readonly schema: readonly {
    readonly name: string
    readonly properties: readonly Readonly<Record<string, unknown>>[]
    readonly quality: readonly Readonly<Record<string, unknown>>[]
  }[]
  readonly servers: readonly { readonly location: string }[]
  readonly slaProperties: readonly unknown[]
  readonly team: unknown
}

test('exposed sets are a contract, with types, keys, checks, freshness and owner', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['export', 'odcs'])
  const contract = parse(stdout) as Contract
  assert.equal(
    contract.schema.map(({ name }) => name),
    ['core_customers', 'core_orders'],
  )
  assert.is(contract.servers[0]!.location, 'http://127.0.0.1:8099/odata')
  assert.equal(contract.team, { name: 'team-a' })
  assert.equal(contract.slaProperties, [
    { property: 'latency', value: 10, unit: 's', element: 'core_orders' },
  ])
  const { properties, quality } = contract.schema[1]!
  const [orderId, customerId, status, amount, at, list] = properties
  assert.equal(orderId, {
    name: 'order_id',
    logicalType: 'integer',
    physicalType: 'INTEGER',
    required: true,
    primaryKey: true,
    primaryKeyPosition: 1,
  })
  assert.equal(customerId!['relationships'], [{ type: 'foreignKey', to: 'core_customers.id' }])
  assert.equal(customerId!['quality'], [{ metric: 'nullValues', mustBe: 0 }])
  assert.equal(
    properties.map((property) => property['required'] === true),
    [true, true, false, false, false, false],
  )
  assert.equal(status!['quality'], [
    { metric: 'invalidValues', arguments: { validValues: ['open', "it's done"] }, mustBe: 0 },
    { metric: 'nullValues', mustBeLessOrEqualTo: 5, unit: 'percent', severity: 'warning' },
  ])
  assert.is(amount!['businessName'], 'Amount')
  assert.is(amount!['description'], 'What was paid')
  assert.is(at!['logicalType'], 'timestamp')
  assert.is(list!['logicalType'], 'array')
  assert.equal(quality, [
    { metric: 'duplicateValues', arguments: { properties: ['order_id', 'status'] }, mustBe: 0 },
    { metric: 'rowCount', mustBeGreaterThan: 0 },
    {
      type: 'sql',
      query: 'SELECT count(*) FROM ${table} WHERE NOT (amount >= 0)',
      mustBe: 0,
    },
    {
      type: 'custom',
      engine: 'eider',
      implementation: "not_null(amount) where status = 'open'",
    },
  ])
  const one = await space.ok([
    'export',
    'odcs',
    'core.customers',
    '--url',
    'https://d.example/odata',
  ])
  assert.match(one.stdout, 'location: https://d.example/odata')
  assert.not.match(one.stdout, 'core_orders')
})

test('what is exported and imported again is the same, also in headers that had lost it', async () => {
  await using space = await workspace(files)
  await space.ok(['export', 'odcs', '--out', 'shop.odcs.yaml'])
  const contract = readFileSync(space.path('shop.odcs.yaml'), 'utf8')
  await space.ok(['import', 'shop.odcs.yaml', '--check'])
  const bare = files['models/core/orders.sql'].replaceAll(/^-- @(?!expose).*\n/gm, '')
  await space.write('models/core/orders.sql', bare)
  const lost = await space.ok(['import', 'shop.odcs.yaml', '--check'], { exitCode: 1 })
  assert.match(
    lost.stderr,
    /shop\.odcs\.yaml:\d+:\d+ error contract-broken.*core\.orders does not check amount >= 0/,
  )
  const { stdout } = await space.ok(['import', 'shop.odcs.yaml'])
  assert.match(stdout, 'wrote  models/core/orders.sql')
  assert.match(
    readFileSync(space.path('models/core/orders.sql'), 'utf8'),
    '-- @contract: order_id INTEGER NOT NULL',
  )
  await space.ok(['check'])
  const again = await space.ok(['export', 'odcs'])
  assert.equal(sorted(parse(again.stdout)), sorted(parse(contract)))
  const second = await space.ok(['import', 'shop.odcs.yaml'])
  assert.match(second.stdout, 'unchanged  models/core/orders.sql')
  // From here on the compiler holds the model to it.
  const text = readFileSync(space.path('models/core/orders.sql'), 'utf8')
  await space.write('models/core/orders.sql', text.replace('DECIMAL(12, 2)', 'DOUBLE'))
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, 'contract-broken')
  await space.ok(['import', 'shop.odcs.yaml'], { exitCode: 1 })
})

test('the address of the service is one that a client can ask, and only a contract has a version', async () => {
  await using space = await workspace(files)
  const locationOf = async (host: string) => {
    await space.write('eider.yml', `name: shop\nodata: {host: "${host}", port: 8099}\n`)
    const { stdout } = await space.ok(['export', 'odcs', '--contract-version', '2.0.0'])
    assert.match(stdout, '\nversion: 2.0.0\n')
    return (parse(stdout) as Contract).servers[0]!.location
  }
  assert.is(await locationOf('::1'), 'http://[::1]:8099/odata')
  assert.is(await locationOf('0.0.0.0'), 'http://127.0.0.1:8099/odata')
  assert.is(await locationOf('::'), 'http://[::1]:8099/odata')
  const args = ['export', 'ossie', '--contract-version', '2.0.0']
  const { stderr } = await space.ok(args, { exitCode: 2 })
  assert.match(stderr, '--contract-version has no effect on ossie')
})

/** Rules of quality are in the order of the header. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value.map(sorted).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, sorted(one)]))
}

const foreign = `apiVersion: v3.0.2
kind: DataContract
id: 53581432-6c55-4ba2-a65f-72344a91553a
version: 1.0.0
status: active
price: {priceAmount: 9.95}
schema:
  - name: payments
    physicalName: tbl_1
    description: |
      Provides core payments
      -- @kind: view
      SELECT 1
    tags: [finance, "two words"]
    properties:
      - name: id
        logicalType: integer
        primaryKey: true
        required: true
      - name: rcvr "x"
        logicalType: string
        physicalType: varchar(18)
        description: "One\\nDROP"
        quality:
          - metric: nullValues
            mustBe: 0
          - type: text
            description: is nice
      - name: paid
        physicalType: NUMBER(38,0)
        logicalType: number
`

test('a set that no model has becomes a table of events, whose door keeps the contract', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\n', 'in/c.yaml': foreign })
  const { stdout, stderr } = await space.ok(['import', 'in/c.yaml'])
  assert.match(stdout, 'wrote  models/raw/payments.sql')
  for (const path of ['price', 'schema.1.tags', 'schema.1.properties.2.quality.2'])
    assert.match(stderr, `not taken: ${path}\n`)
  assert.is(
    readFileSync(space.path('models/raw/payments.sql'), 'utf8'),
    `-- @kind: events
-- @description: Provides core payments -- @kind: view SELECT 1
-- @tags: finance
-- @column "rcvr ""x""": One DROP
-- @check: not_null("rcvr ""x""")

id BIGINT NOT NULL,
"rcvr ""x""" VARCHAR,
paid DOUBLE
`,
  )
  await space.ok(['check'])
  await space.ok(['import', 'in/c.yaml', '--check'])
})

test('what a model does not keep is an error at its place in the contract, and nothing is written', async () => {
  const contract = `apiVersion: v3.1.0
kind: DataContract
id: a
version: 1.0.0
status: active
schema:
  - name: core_orders
    properties:
      - {name: Order_ID, logicalType: integer}
      - {name: gone, logicalType: string}
      - {name: amount, physicalType: 'decimal(10,2)', logicalType: number}
      - {name: status, logicalType: string, required: true}
      - {name: at, logicalType: date}
      - {name: customer_id, logicalType: integer, primaryKey: true}
  - name: core.hidden
    properties: []
  - name: no good
`
  await using space = await workspace({ ...files, 'c.yaml': contract })
  for (const flags of [[], ['--check']]) {
    const { stderr } = await space.ok(['import', 'c.yaml', ...flags], { exitCode: 1 })
    for (const line of [
      'c.yaml:9:16 error contract-broken: the contract is broken: the column "Order_ID" is spelled "order_id"',
      'c.yaml:10:16 error contract-broken: the contract is broken: core.orders has no column "gone"',
      'c.yaml:11:16 error contract-broken: the contract is broken: the column "amount" is DECIMAL(12,2), not DECIMAL(10,2)',
      'c.yaml:12:16 error contract-broken: the contract is broken: the column "status" may be null',
      'c.yaml:13:16 error contract-broken: the contract is broken: the column "at" is TIMESTAMP WITH TIME ZONE, not date',
      'c.yaml:7:11 error contract-broken: the contract is broken: the key of core.orders is (order_id)',
      'c.yaml:15:11 error contract-broken: the contract is broken: core.hidden is not exposed',
      'c.yaml:17:11 error contract-broken: the contract is broken: no model has the name "no good"',
    ])
      assert.match(stderr, line)
  }
  assert.is(
    readFileSync(space.path('models/core/orders.sql'), 'utf8'),
    files['models/core/orders.sql'],
  )
})

test('a column that a contract requires is kept by a check of the model, or of the contract itself', async () => {
  const contract = (column: string) => `apiVersion: v3.1.0
kind: DataContract
id: shop
version: 1.0.0
status: active
schema:
  - name: core_orders
    properties:
      - {name: order_id, logicalType: integer, primaryKey: true, required: true}
      - {name: customer_id, logicalType: integer, required: true}
      ${column}
`
  await using space = await workspace({
    ...files,
    'kept.yaml': contract(''),
    'by-itself.yaml': contract(
      '- {name: status, logicalType: string, required: true, quality: [{metric: nullValues, mustBe: 0}]}',
    ),
    'broken.yaml': contract(
      '- {name: status, logicalType: string, required: true, quality: [{metric: nullValues, mustBeLessThan: 5}]}',
    ),
  })
  await space.ok(['import', 'kept.yaml', '--check'])
  const { stderr } = await space.ok(['import', 'broken.yaml'], { exitCode: 1 })
  assert.match(stderr, 'the column "status" may be null')
  await space.ok(['import', 'by-itself.yaml', '--check'], { exitCode: 1 })
  const { stderr: notes } = await space.ok(['import', 'by-itself.yaml'])
  assert.is(notes, '')
  const text = readFileSync(space.path('models/core/orders.sql'), 'utf8')
  assert.match(text, '-- @contract: status VARCHAR NOT NULL\n')
  await space.ok(['import', 'by-itself.yaml', '--check'])
  await space.ok(['check'])
})

test('of a contract with very many mistakes, the first are shown', async () => {
  const sets = Array.from({ length: 500 }, (_, i) => `  - name: gone${i}\n`).join('')
  const head = 'kind: DataContract\napiVersion: v3.1.0\nschema:\n'
  await using space = await workspace({ ...files, 'c.yaml': head + sets })
  const { stderr } = await space.ok(['import', 'c.yaml', '--check'], { exitCode: 1 })
  assert.is(stderr.split('error contract-broken').length - 1, limits.exchangedMistakes)
})

test('a file that is no contract is refused with its place, however odd it is', async () => {
  await using space = await workspace(files)
  const refused = async (text: string, says: string | RegExp, exitCode = 1) => {
    await space.write('c.yaml', text)
    const { stderr } = await space.ok(['import', 'c.yaml'], { exitCode })
    assert.match(stderr, says)
  }
  const head = 'kind: DataContract\nid: a\nversion: 1.0.0\nstatus: active\n'
  await refused('', 'c.yaml')
  await refused('- 1\n', 'must be a data contract (ODCS)')
  await refused('a: [\n', 'config-syntax')
  await refused(`${head}apiVersion: v2.2.2\n`, 'c.yaml:5:13 error config-invalid-value')
  await refused(`${head}apiVersion: v3.1.0\n`, '"schema" must be a list of sets')
  await refused(`${head}apiVersion: v3.1.0\nschema: [1]\n`, 'c.yaml:6:10')
  await refused(
    `${head}apiVersion: v3.1.0\nschema:\n  - name: a\n    properties: [{name: b, logicalType: odd}]\n`,
    /c\.yaml:8:\d+ error config-invalid-value/,
  )
  await refused(
    `${head}apiVersion: v3.1.0\nschema: &a\n  - name: a\n    properties: *a\n`,
    /config-|contract-/,
  )
  await refused(`${head}${'['.repeat(200)}\n`, 'deep')
  await refused('x'.repeat(9 * 1024 * 1024), 'c.yaml')
  const none = await space.ok(['import', 'none.yaml'], { exitCode: 1 })
  assert.match(none.stderr, 'none.yaml')
  await space.ok(['export', 'csv'], { exitCode: 2 })
  await space.ok(['export', 'odcs', 'core.hidden'], { exitCode: 2 })
  assert.not.ok(existsSync(space.path('models/raw')))
})

// The package of those who maintain the standard has its JSON schema, and reads contracts.
pythonTests(['open_data_contract_standard', 'jsonschema'])(
  'the standard takes what is exported',
  async () => {
    await using space = await workspace(files)
    await space.ok(['export', 'odcs', '--out', 'c.yaml'])
    const script = `
import json, sys, yaml, importlib.resources, jsonschema
from open_data_contract_standard.model import OpenDataContractStandard
schema = json.loads(importlib.resources.files('open_data_contract_standard').joinpath('schema.json').read_text())
contract = yaml.safe_load(open(sys.argv[1]))
errors = list(jsonschema.Draft201909Validator(schema).iter_errors(contract))
print([e.message for e in errors], len(OpenDataContractStandard.from_file(sys.argv[1]).schema_))
contract['schema'][0]['properties'][0]['logicalType'] = 'odd'
print(len(list(jsonschema.Draft201909Validator(schema).iter_errors(contract))) > 0)
`
    assert.is(await runPython(script, [space.path('c.yaml')]), '[] 2\nTrue')
  },
)

test.run()
