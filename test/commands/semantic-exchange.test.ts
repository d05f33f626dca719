// Measures and dimensions as semantic models of Apache Ossie, out and in.

import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/core/customers.sql': `-- @expose id
-- @measure customers: count(*)
SELECT 1 AS id, 'Ann' AS name
`,
  'models/core/orders.sql': `-- @description: Orders in their newest state
-- @expose order_id
-- @measure revenue: sum(amount) where status = 'paid'
-- @measure margin: sum(amount - cost) / revenue
-- @measure customers: count(DISTINCT customer_id)
-- @column revenue: What was paid
-- @label revenue: Revenue
-- @unit revenue: EUR
-- @dimension country, status
-- @time at
-- @column amount: With tax
-- @unit amount: EUR
-- @check: references(customer_id, core.customers.id)
SELECT 7 AS order_id, 1 AS customer_id, 'NO' AS country, 'paid' AS status,
  9.5::DECIMAL(12, 2) AS amount, 1 AS cost, DATE '2026-01-01' AS at
`,
}

interface SemanticModel {
  readonly version: string
  readonly semantic_model: readonly {
    readonly datasets: readonly Readonly<Record<string, unknown>>[]
    readonly relationships: unknown
    readonly metrics: readonly {
      readonly name: string
      readonly expression: { readonly dialects: readonly { readonly expression: string }[] }
    }[]
  }[]
}

test('measures are metrics in standard SQL over the columns of their sets', async () => {
  await using space = await workspace(files)
  const { stdout } = await space.ok(['export', 'ossie'])
  const { version, semantic_model: models } = parse(stdout) as SemanticModel
  assert.is(version, '0.1.1')
  const [{ datasets, metrics, relationships }] = models as [SemanticModel['semantic_model'][number]]
  const sql = Object.fromEntries(
    metrics.map(({ name, expression }) => [name, expression.dialects[0]!.expression]),
  )
  assert.equal(sql, {
    core_customers_customers: 'count(*)',
    revenue: "sum(core_orders.amount) FILTER (WHERE core_orders.status = 'paid')",
    margin:
      "sum(core_orders.amount - core_orders.cost) / nullif((sum(core_orders.amount) FILTER (WHERE core_orders.status = 'paid')), 0)",
    core_orders_customers: 'count(DISTINCT core_orders.customer_id)',
  })
  assert.equal(relationships, [
    {
      name: 'core_orders_customer_id',
      from: 'core_orders',
      to: 'core_customers',
      from_columns: ['customer_id'],
      to_columns: ['id'],
    },
  ])
  const orders = datasets[1]!
  assert.is(orders['source'], 'shop.core.orders')
  assert.equal(orders['primary_key'], ['order_id'])
  const roles = (orders['fields'] as readonly { name: string; dimension?: unknown }[]).map(
    ({ name, dimension }) => [name, dimension],
  )
  assert.equal(roles, [
    ['order_id', undefined],
    ['customer_id', undefined],
    ['country', { is_time: false }],
    ['status', { is_time: false }],
    ['amount', undefined],
    ['cost', undefined],
    ['at', { is_time: true }],
  ])
})

test('what is exported and imported again is the same, also in headers that had lost it', async () => {
  await using space = await workspace(files)
  await space.ok(['export', 'ossie', '--out', 'shop.yaml'])
  const exported = readFileSync(space.path('shop.yaml'), 'utf8')
  await space.ok(['import', 'shop.yaml', '--check'])
  const bare = files['models/core/orders.sql'].replaceAll(/^-- @(?!expose).*\n/gm, '')
  await space.write('models/core/orders.sql', bare)
  const lost = await space.ok(['import', 'shop.yaml', '--check'], { exitCode: 1 })
  assert.match(
    lost.stderr,
    /shop\.yaml:\d+:\d+ error contract-broken.*core\.orders does not say -- @measure margin/,
  )
  await space.ok(['import', 'shop.yaml'])
  await space.ok(['check'])
  assert.match(
    readFileSync(space.path('models/core/orders.sql'), 'utf8'),
    "-- @measure revenue: sum(amount) where status = 'paid'\n",
  )
  assert.match(
    readFileSync(space.path('models/core/orders.sql'), 'utf8'),
    '-- @check: references(customer_id, core.customers.id)\n',
  )
  const again = await space.ok(['export', 'ossie'])
  assert.equal(parse(again.stdout), parse(exported))
})

test('dimensions in any order and in several lines, the time among them, and names that SQL reserves come back', async () => {
  const model = `-- @expose order_id
-- @dimension status, "from"
-- @dimension: at, country
-- @time at
-- @measure senders: count(DISTINCT "from")
-- @label from: Sender
SELECT 7 AS order_id, 'NO' AS country, 'paid' AS status, 'a' AS "from", DATE '2026-01-01' AS at
`
  const path = 'models/core/orders.sql'
  await using space = await workspace({ 'eider.yml': 'name: shop\n', [path]: model })
  await space.ok(['export', 'ossie', '--out', 'shop.yaml'])
  const stdout = readFileSync(space.path('shop.yaml'), 'utf8')
  assert.match(stdout, `expression: '"from"'`)
  await space.ok(['import', 'shop.yaml', '--check'])
  await space.ok(['import', 'shop.yaml'])
  assert.is(readFileSync(space.path(path), 'utf8'), model)
  await space.write(path, model.replaceAll(/^-- @(?:dimension|time|label).*\n/gm, ''))
  await space.ok(['import', 'shop.yaml', '--check'], { exitCode: 1 })
  await space.ok(['import', 'shop.yaml'])
  assert.match(readFileSync(space.path(path), 'utf8'), '-- @dimension: country, status, from, at\n')
  assert.equal(parse((await space.ok(['export', 'ossie'])).stdout), parse(stdout))
  writeFileSync(space.path('shop.yaml'), stdout.replace('"also":"dimension"', '"also":"no"'))
  const other = await space.ok(['import', 'shop.yaml', '--check'], { exitCode: 1 })
  assert.match(other.stderr, 'does not say -- @dimension: country, status, from\n')
})

test('metrics of another tool become measures, without what would mean something else in one line', async () => {
  await using space = await workspace({
    ...files,
    'models/core/orders.sql': `-- @expose order_id\n${files['models/core/orders.sql'].replaceAll(/^--.*\n/gm, '')}`,
    'other.yaml': `version: "0.2.0.dev0"
semantic_model:
  - name: other
    ai_context: please
    datasets:
      - name: o
        source: warehouse.core.orders
        fields:
          - name: amount
            expression: {dialects: [{dialect: SNOWFLAKE, expression: amount}, {dialect: ANSI_SQL, expression: AMOUNT}]}
            description: |
              First
              -- @kind: view
          - name: both
            expression: {dialects: [{dialect: ANSI_SQL, expression: amount + cost}]}
      - name: c
        source: core.customers
    metrics:
      - name: total
        expression: {dialects: [{dialect: ANSI_SQL, expression: "SUM(o.amount) / COUNT(DISTINCT \\"o\\".customer_id)"}]}
      - name: two
        expression: {dialects: [{dialect: ANSI_SQL, expression: SUM(o.amount) / COUNT(c.id)}]}
      - name: cut
        expression: {dialects: [{dialect: ANSI_SQL, expression: "SUM(o.amount) -- all\\n / 2"}]}
      - name: foreign
        expression: {dialects: [{dialect: MDX, expression: "[a].[b]"}]}
      - name: nowhere
        expression: {dialects: [{dialect: ANSI_SQL, expression: COUNT(*)}]}
    relationships:
      - {name: both, from: o, to: c, from_columns: [customer_id, country], to_columns: [id, country]}
      - {name: gone, from: o, to: nowhere, from_columns: [customer_id], to_columns: [id]}
`,
  })
  const { stdout, stderr } = await space.ok(['import', 'other.yaml'])
  assert.match(stdout, 'wrote  models/core/orders.sql')
  assert.match(stdout, 'unchanged  models/core/customers.sql')
  const left = stderr.split('\n').filter((line) => line.startsWith('not taken'))
  assert.equal(left.toSorted(), [
    'not taken: semantic_model.1.ai_context',
    'not taken: semantic_model.1.datasets.1.fields.2',
    'not taken: semantic_model.1.metrics.2',
    'not taken: semantic_model.1.metrics.3',
    'not taken: semantic_model.1.metrics.4',
    'not taken: semantic_model.1.metrics.5',
    'not taken: semantic_model.1.relationships.1',
    'not taken: semantic_model.1.relationships.2',
  ])
  const text = readFileSync(space.path('models/core/orders.sql'), 'utf8')
  assert.ok(
    text.startsWith(
      '-- @column amount: First -- @kind: view\n-- @measure total: SUM(amount) / COUNT(DISTINCT customer_id)\n-- @expose order_id\n',
    ),
    text,
  )
  await space.ok(['check'])
  await space.write(
    'bad.yaml',
    'version: 2\nsemantic_model: [{name: a, datasets: [{name: gone}]}, 1]\n',
  )
  const bad = await space.ok(['import', 'bad.yaml'], { exitCode: 1 })
  assert.match(bad.stderr, 'bad.yaml:1:10 error config-invalid-value')
  assert.match(bad.stderr, /bad\.yaml:2:\d+ error config-invalid-value: "semantic_model\.2"/)
  await space.write(
    'gone.yaml',
    'version: 0.1.1\nsemantic_model: [{name: a, datasets: [{name: gone, source: x}]}]\n',
  )
  const gone = await space.ok(['import', 'gone.yaml'], { exitCode: 1 })
  assert.match(gone.stderr, 'no model has the name "gone"')
})

test('a rollup says what it means without a header, and is held to it', async () => {
  const orders = files['models/core/orders.sql'].replace(
    '-- @check',
    '-- @rollup month, country\n-- @check',
  )
  await using space = await workspace({ ...files, 'models/core/orders.sql': orders })
  await space.ok(['export', 'ossie', '--out', 's.yaml'])
  await space.ok(['import', 's.yaml', '--check'])
  const text = readFileSync(space.path('s.yaml'), 'utf8')
  for (const [from, to, says] of [
    ['is_time: true', 'is_time: false', 'does not say -- @dimension: month'],
    ['label: Revenue', 'label: Sales', 'does not say -- @label revenue: Sales'],
  ] as const) {
    const at = text.indexOf('core_orders_by_month_country')
    const later = text.slice(at).replace(from, to)
    assert.is.not(later, text.slice(at))
    writeFileSync(space.path('s.yaml'), text.slice(0, at) + later)
    const { stderr } = await space.ok(['import', 's.yaml', '--check'], { exitCode: 1 })
    assert.match(stderr, `core.orders_by_month_country ${says}`)
  }
})

test.run()
