// Checks of a contract against those of models: what one demands of the other, in whichever words.

import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { seededRandom } from '../support/seeded-random.ts'
import { workspace } from '../support/workspace.ts'

const BODY = "SELECT 7 AS id, 3 AS size, 'a' AS status, 9.5::DECIMAL(12, 2) AS amount\n"

const contract = (rules: string) => `apiVersion: v3.1.0
kind: DataContract
id: a
schema:
  - name: core_orders
    properties:
      - {name: id, logicalType: integer}
    quality:
${rules}`

test('a warning does not keep a check, and the import raises it in its place', async () => {
  const orders = `-- @expose id
-- @warn: not_null( status )
-- @check: not_null(size, amount)
${BODY}`
  const rule = (column: string, severity: string) =>
    `      - {metric: nullValues, arguments: {properties: [${column}]}, mustBe: 0, severity: ${severity}}\n`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/orders.sql': orders,
    'c.yaml': contract(rule('status', 'error') + rule('size', 'warning')),
  })
  const { stderr } = await space.ok(['import', 'c.yaml', '--check'], { exitCode: 1 })
  assert.match(stderr, 'c.yaml:9:9 error contract-broken')
  assert.match(stderr, 'core.orders only warns of not_null(status)')
  assert.not.match(stderr, 'not_null(size)')
  await space.ok(['import', 'c.yaml'])
  const text = readFileSync(space.path('models/core/orders.sql'), 'utf8')
  assert.equal(
    text.split('\n').filter((line) => /@(?:check|warn)/.test(line)),
    ['-- @check: not_null(status)', '-- @check: not_null(size, amount)'],
  )
  await space.ok(['import', 'c.yaml', '--check'])
})

test('each bound of a rule is a check, and what no check stands for is named', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/orders.sql': `-- @expose id\n${BODY}`,
    'c.yaml': contract(`      - {metric: rowCount, mustBeGreaterThan: 10, mustBeLessThan: 100}
      - metric: invalidValues
        arguments: {properties: [status], validValues: [a, "b  c"], pattern: "^a"}
        mustBe: 0
      - {metric: nullValues, arguments: {properties: [size]}, mustBeLessThan: 5, mustBeGreaterThan: 1}
      - {type: custom, engine: eider, implementation: "size > 0 /* why */", schedule: daily}
      - {metric: duplicateValues, arguments: {properties: [size]}, mustBeLessOrEqualTo: 49, unit: percent}
      - {metric: duplicateValues, arguments: {properties: [status]}, mustBeLessOrEqualTo: 50, unit: percent}
`),
  })
  const { stderr } = await space.ok(['import', 'c.yaml'])
  const lines = stderr.split('\n').filter((line) => line !== '')
  assert.equal(lines, [
    'not taken: id',
    'not taken: schema.1.quality.2.arguments.pattern',
    'not taken: schema.1.quality.3.mustBeGreaterThan',
    'not taken: schema.1.quality.4.schedule',
    'not taken: schema.1.quality.6',
    'SQL of the file: -- @check: size > 0 /* why */',
  ])
  const text = readFileSync(space.path('models/core/orders.sql'), 'utf8')
  for (const check of [
    'row_count(> 10)',
    'row_count(< 100)',
    "accepted(status, 'a', 'b  c')",
    'not_null(size) up to 4 rows',
    'unique(size) up to 49%',
  ])
    assert.ok(text.includes(`-- @check: ${check}\n`), text)
  await space.ok(['check'])
})

test('values of a column with numbers are numbers', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/orders.sql': `-- @expose id
-- @check: accepted(size, 1, '2')
-- @check: accepted(status, 1, 'x')
${BODY}`,
  })
  const { stdout } = await space.ok(['export', 'odcs'])
  const { schema } = parse(stdout) as {
    schema: { properties: { quality?: { arguments: { validValues: unknown } }[] }[] }[]
  }
  const values = schema[0]!.properties.flatMap(({ quality = [] }) =>
    quality.map((rule) => rule.arguments.validValues),
  )
  assert.equal(values, [
    [1, 2],
    ['1', 'x'],
  ])
})

/** One of many forms of each check, with odd spaces, texts and numbers. */
function randomCheck(random: () => number): string {
  const one = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)]!
  const space = () => one(['', ' ', '  '])
  const column = () => one(['id', 'size', 'status', 'amount', 'STATUS'])
  const columns = () => Array.from({ length: 1 + Math.floor(random() * 3) }, column)
  const list = () => [...new Set(columns().map((name) => name.toLowerCase()))].join(`,${space()}`)
  const text = () => one(["'a'", "'it''s'", "'b  c'", "'x--y'", "'/* z'", '3', "'${n}'"])
  const upTo = () => one(['', '', ' up to 3 rows', ' up to  0.5%', ' up to 0 rows'])
  const where = () => one(['', '', " where status = 'b  c'", ' where size>0 -- small'])
  const number = () => one(['1', '-2', '1.50', "'7'"])
  const form = one<() => string>([
    () => `not_null(${space()}${list()}${space()})${where()}${upTo()}`,
    () => `unique(${list()})${where()}${upTo()}`,
    () => `accepted(status,${space()}${text()}, ${text()})${upTo()}`,
    () => `accepted(${one(['amount'])}, ${number()}, ${number()})`,
    () => `references(id,${space()}core.other.id)${where()}${upTo()}`,
    () => `row_count(${one(['>', '<=', '<>'])}${space()}${Math.floor(random() * 9)})`,
    () => `size${space()}>${space()}0${one(['', ' AND status <> ' + text(), ' -- why'])}`,
    () => `amount >= size${upTo()}`,
  ])
  return `-- @${one(['check', 'warn'])}: ${form().replaceAll('${n}', 'n')}\n`
}

test('what is exported is kept, and its import changes nothing and says nothing', async () => {
  const random = seededRandom(Number(process.env['EIDER_CONTRACTS_SEED'] ?? 1))
  const models = Array.from({ length: 30 }, (_, i) => {
    const checks = Array.from({ length: 1 + Math.floor(random() * 8) }, () => randomCheck(random))
    return [`models/core/m${i}.sql`, `-- @expose id\n${checks.join('')}${BODY}`] as const
  })
  const files = {
    'eider.yml': 'name: shop\n',
    'models/core/other.sql': '-- @expose id\n-- @fresh: 2 days\nSELECT 7 AS id\n',
    ...Object.fromEntries(models),
  }
  await using space = await workspace(files)
  await space.ok(['export', 'odcs', '--out', 'c.yaml'])
  const checked = await space.ok(['import', 'c.yaml', '--check'])
  assert.is(checked.stderr, '')
  const imported = await space.ok(['import', 'c.yaml'])
  assert.is(imported.stderr, '')
  const contracts = models.map(([path, before]) => {
    const after = readFileSync(space.path(path), 'utf8')
    // The first import of a contract writes what the model promises from now on.
    assert.is(after.replaceAll(/^-- @contract: .*\n/gm, ''), before)
    return after
  })
  const again = await space.ok(['import', 'c.yaml'])
  assert.not.match(again.stdout, 'wrote')
  assert.equal(
    models.map(([path]) => readFileSync(space.path(path), 'utf8')),
    contracts,
  )
})

test('a metric whose text is not its expression is refused', async () => {
  const orders = `-- @expose id\n-- @measure total: sum(size)\n${BODY}`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/orders.sql': orders,
  })
  await space.ok(['export', 'ossie', '--out', 'm.yaml'])
  const honest = readFileSync(space.path('m.yaml'), 'utf8')
  const forged = honest.replace(String.raw`"text":"sum(size)"`, String.raw`"text":"max(size)"`)
  assert.is.not(forged, honest)
  await space.write('m.yaml', forged)
  const { stderr } = await space.ok(['import', 'm.yaml'], { exitCode: 1 })
  assert.match(stderr, 'm.yaml:')
  assert.match(stderr, 'max(size) is not the expression of the metric, which is sum(size)')
  assert.is(readFileSync(space.path('models/core/orders.sql'), 'utf8'), orders)
})

test.run()
