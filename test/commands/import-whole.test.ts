// An import writes what compiles, all of it or nothing, and the same when it is asked again.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const orders = `-- @expose order_id
SELECT 7 AS order_id, 'open' AS status
`
const files = { 'eider.yml': 'name: shop\n', 'models/core/orders.sql': orders }

const contract = (schema: string, more = '') =>
  `apiVersion: v3.1.0\nkind: DataContract\nid: a\n${more}schema:\n${schema}`

const known = `  - name: core_orders
    description: Orders
    properties: [{name: order_id, logicalType: integer}]
`

/** Each with the line of the mistake, and what is said of it. */
const broken: Readonly<Record<string, readonly [schema: string, says: RegExp]>> = {
  'a type that DuckDB does not have': [
    '  - name: a\n    properties:\n      - {name: id, physicalType: "DECIMAL(50,2)"}\n',
    /^c\.yaml:10:16 error /m,
  ],
  'a column twice': [
    '  - name: a\n    properties:\n      - {name: id, logicalType: integer}\n      - {name: ID, logicalType: string}\n',
    /^c\.yaml:11:16 error config-invalid-value: "schema\.2\.properties\.2\.name"/m,
  ],
  'a set without columns': ['  - name: a\n    properties: []\n', /^c\.yaml:8:11 error /m],
  'a schema of DuckDB': [
    '  - name: orders\n    physicalName: temp.orders\n    properties: [{name: id, logicalType: integer}]\n',
    /^c\.yaml:8:11 error invalid-model-path/m,
  ],
  'a check that is no SQL': [
    '  - name: a\n    properties: [{name: id, logicalType: integer}]\n    quality:\n      - {type: custom, engine: eider, implementation: "id >"}\n',
    /^c\.yaml:11:9 error /m,
  ],
  'a rule for a column that is not there': [
    '  - name: a\n    properties: [{name: id, logicalType: integer}]\n    quality:\n      - {metric: duplicateValues, arguments: {properties: [id, gone]}, mustBe: 0}\n',
    /^c\.yaml:11:9 error /m,
  ],
}

for (const [what, [schema, says]] of Object.entries(broken))
  test(`${what} is a mistake of the contract, and nothing is written`, async () => {
    await using space = await workspace({ ...files, 'c.yaml': contract(known + schema) })
    const { stderr } = await space.ok(['import', 'c.yaml'], { exitCode: 1 })
    assert.match(stderr, says)
    assert.is(readFileSync(space.path('models/core/orders.sql'), 'utf8'), orders)
    assert.equal(readdirSync(space.path('models')), ['core'])
  })

test('two metrics with one name are a mistake of the semantic model', async () => {
  const metric = (sql: string) =>
    `      - {name: Total, expression: {dialects: [{dialect: ANSI_SQL, expression: ${sql}}]}}\n`
  const text = `version: 0.1.1
semantic_model:
  - name: a
    datasets: [{name: core_orders}]
    metrics:
${metric('sum(order_id)')}${metric('max(order_id)')}`
  await using space = await workspace({ ...files, 'm.yaml': text })
  const { stderr } = await space.ok(['import', 'm.yaml'], { exitCode: 1 })
  assert.match(stderr, /^m\.yaml:7:16 error config-invalid-value: "semantic_model\.1\.metrics\.2/m)
  assert.is(readFileSync(space.path('models/core/orders.sql'), 'utf8'), orders)
})

test('a version that YAML takes for a number is one', async () => {
  const text = `version: 0.2
semantic_model:
  - name: a
    datasets: [{name: core_orders}]
    metrics: [{name: total, expression: {dialects: [{dialect: ANSI_SQL, expression: sum(order_id)}]}}]
`
  await using space = await workspace({ ...files, 'm.yaml': text })
  await space.ok(['import', 'm.yaml'])
  assert.match(
    readFileSync(space.path('models/core/orders.sql'), 'utf8'),
    '-- @measure total: sum(order_id)\n',
  )
})

test('what nothing stands for is named, wherever it is', async () => {
  const schema = `  - name: core_orders
    customProperties: [{property: owner, value: us}, {property: ring, value: 2}]
    properties:
      - name: order_id
        logicalType: integer
        customProperties: [{property: unit, value: pcs}, {property: mask, value: all}]
`
  const more = `name: Shop contract
version: 2.0.0
status: deprecated
servers: [{server: a, type: api, location: x}, {server: b, type: postgres}]
team: {name: us, members: [{username: ann}]}
`
  await using space = await workspace({ ...files, 'c.yaml': contract(schema, more) })
  const { stderr } = await space.ok(['import', 'c.yaml'])
  assert.is(
    stderr,
    [
      'id',
      'name',
      'version',
      'servers.2',
      'status',
      'team.members',
      'schema.1.customProperties.2',
      'schema.1.properties.1.customProperties.2',
    ]
      .map((path) => `not taken: ${path}\n`)
      .join(''),
  )
})

test('if one file cannot be written, none is', async () => {
  const schema = `${known}  - name: b
    properties: [{name: id, logicalType: integer}]
  - name: c
    physicalName: zz.c
    properties: [{name: id, logicalType: integer}]
`
  await using space = await workspace({
    ...files,
    'c.yaml': contract(schema),
    'models/zz': 'not a directory\n',
  })
  await space.ok(['import', 'c.yaml'], { exitCode: 3 })
  assert.is(readFileSync(space.path('models/core/orders.sql'), 'utf8'), orders)
  assert.not.ok(existsSync(space.path('models/raw')))
  assert.equal(readdirSync(space.path('models/core')), ['orders.sql'])
})

const late = `slaProperties:
  - {property: latency, value: 90, unit: m, element: "core_orders.order_id, core_orders.status"}
  - {property: latency, value: 2, unit: h, element: payments}
  - {property: latency, value: 3, unit: h, element: core_orders}
  - {property: latency, value: 172800, unit: s, element: "gone, core_orders"}
`
const payments = `  - name: payments
    properties:
      - {name: id, logicalType: integer, primaryKey: true, required: true}
`

test('the second import of the same contract changes nothing, and names the same as not taken', async () => {
  await using space = await workspace({
    ...files,
    'c.yaml': contract(known + payments, late),
  })
  const first = await space.ok(['import', 'c.yaml'])
  for (const path of ['slaProperties.2', 'slaProperties.3', 'slaProperties.4'])
    assert.match(first.stderr, `not taken: ${path}\n`)
  assert.match(first.stderr, 'not taken: schema.2.properties.1.primaryKey\n')
  const written = ['models/core/orders.sql', 'models/raw/payments.sql'].map((path) =>
    readFileSync(space.path(path), 'utf8'),
  )
  assert.match(written[0]!, '-- @fresh: 90 minutes\n')
  assert.not.match(written[1]!, '@fresh')
  const second = await space.ok(['import', 'c.yaml'])
  assert.is(second.stderr, first.stderr)
  assert.not.match(second.stdout, 'wrote')
  await space.ok(['import', 'c.yaml', '--check'])
  await space.ok(['check'])
})

test.run()
