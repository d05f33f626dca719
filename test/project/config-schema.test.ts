import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { format } from 'prettier'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { parseConfig } from '../../src/project/config.ts'
import { configSchema, SCHEMA_URL } from '../support/config-schema/config-schema.ts'
import { settings } from '../../src/project/settings.ts'
import { repository } from '../support/workspace.ts'

const file = join(repository, 'docs', 'schemas', 'eider.schema.json')
const read = (...path: string[]) => readFileSync(join(repository, ...path), 'utf8')
const validate = new Ajv({ allowUnionTypes: true }).compile(configSchema())

const isGood = (yaml: string) => validate(parse(yaml))
const isTaken = (yaml: string) =>
  parseConfig({ path: 'eider.yml', text: yaml }).diagnostics.length === 0

test('the schema that ships is made from the settings; UPDATE_GOLDEN=1 writes it', async () => {
  const text = JSON.stringify(configSchema())
  if (process.env['UPDATE_GOLDEN'] === '1')
    writeFileSync(file, await format(text, { parser: 'json', printWidth: 100 }))
  assert.is(JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))), text)
})

test('each setting and each key of a group has a description', () => {
  interface Node {
    readonly description?: string
    readonly properties?: Readonly<Record<string, Node>>
    readonly [keyword: string]: unknown
  }
  const bare: string[] = []
  let count = 0
  const visit = (node: unknown, at: string) => {
    if (typeof node !== 'object' || node === null) return
    for (const [name, member] of Object.entries((node as Node).properties ?? {})) {
      count++
      if (member.description === undefined && !('$ref' in member)) bare.push(`${at}.${name}`)
    }
    for (const [name, member] of Object.entries(node)) visit(member, `${at}.${name}`)
  }
  visit(configSchema(), '$')
  assert.equal(bare, [])
  assert.ok(count > Object.keys(settings).length, String(count))
})

const modeline = (text: string) => /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1]

test('the templates and the example are valid and name the schema', () => {
  for (const path of ['templates/blank', 'templates/events', 'example-project'])
    assert.ok(isGood(read(path, 'eider.yml')), path)
  assert.is(modeline(read('templates/blank/eider.yml')), SCHEMA_URL)
  assert.is(modeline(read('templates/events/eider.yml')), SCHEMA_URL)
  const named = modeline(read('example-project/eider.yml'))
  assert.is(join(repository, 'example-project', named!), file)
  // What the template has to offer in comments is as good.
  const offered = read('templates/events/eider.yml').replaceAll(/^# (?=\w+:|  )/gm, '')
  assert.match(offered, /^collect:\n {2}port: 8080/m)
  assert.ok(isGood(offered), JSON.stringify(validate.errors))
})

test('each eider.yml in the documentation is valid', () => {
  const pages = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
  const blocks = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => Array.from(read('docs', page).matchAll(/^```yaml\n(name: .*?)^```/gms)))
  assert.ok(blocks.length >= 8, String(blocks.length))
  for (const [, yaml] of blocks)
    assert.ok(isGood(yaml!), `${yaml}${JSON.stringify(validate.errors)}`)
})

/** A value that is right and one that is wrong, by type. */
const samples: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  text: ['some', '[some]'],
  size: ['4gb', '4 gallons'],
  boolean: ['true', 'yes'],
  list: ['[https://shop.example]', 'https://shop.example'],
  catalog: ['postgres://eider@db.example/lake', 'mysql://eider@db.example/lake'],
  store: ['s3://shop-lake/prod/', 'gs://shop-lake/prod/'],
  endpoint: ['https://store.example:9000', 'store.example'],
  web: ['https://collector.example/api?key=1', 'collector.example:5000'],
  bearer: ['s3cret', '""'],
  'number-or-auto': ['auto', '0'],
  extensions: ['[spatial, postgres]', '[spacial]'],
}

test('schema and program agree on values of each setting, in the file and in a target', () => {
  for (const [name, { type }] of Object.entries(settings)) {
    const [good, bad] =
      type.is === 'integer'
        ? [String(type.min), String(type.min - 1)]
        : type.is === 'choice'
          ? [type.of[0], `${type.of[0]}s`]
          : type.is === 'secret'
            ? ['', 'written down']
            : samples[type.is]!
    for (const value of ['', good, bad])
      for (const nest of ['', 'targets.dev.']) {
        const lines = `${nest}${name}`
          .split('.')
          .map((key, depth) => `${'  '.repeat(depth)}${key}:`)
        const yaml = `name: shop\n${lines.join('\n')} ${value}\n`
        assert.is(isGood(yaml), value !== bad, yaml)
        assert.is(isTaken(yaml), value !== bad, yaml)
      }
  }
})

test('schema and program take tokens and webhooks', () => {
  const hash = `sha256:${'0'.repeat(64)}`
  for (const yaml of [
    `odata:\n  tokens: [{name: excel, hash: '${hash}'}]`,
    `odata:\n  tokens:\n  - {name: no, hash: '\${NO_HASH}', expires: 2027-01-31, sets: mart_*, rows: {mart_sales: a = 1}}`,
    `collect:\n  port: 1\n  tokens: [{name: shop, hash: '${hash}', targets: [raw.orders], expires: '2027-01-31T12:00:00Z'}]`,
    "collect:\n  webhooks: [{name: gh, target: raw.pushes, signature: github, secret: '${GH}'}]",
    "collect:\n  webhooks: [{name: s, target: raw.s, signature: stripe, secret: ['${A}', '${B}'], tolerance_seconds: 60}]",
    'odata: {tokens: }\ncollect: {tokens: [], webhooks: []}',
  ]) {
    assert.ok(isTaken(`name: shop\n${yaml}`), yaml)
    assert.ok(isGood(`name: shop\n${yaml}`), `${yaml}${JSON.stringify(validate.errors)}`)
  }
})

test('a secret that is written down is refused, and its line not shown', () => {
  const yaml =
    'name: shop\ncollect:\n  webhooks: [{name: a, target: raw.a, signature: github, secret: s3cret}]'
  const { diagnostics } = parseConfig({ path: 'eider.yml', text: yaml })
  assert.equal(
    diagnostics.map(({ span }) => span.end - span.start),
    [0],
  )
})

test('two tokens have two hashes', () => {
  const twice = "[{name: a, hash: '${A}'}, {name: b, hash: '${A}'}]"
  assert.not.ok(isTaken(`name: shop\nodata:\n  tokens: ${twice}`))
})

const wrong = [
  'name: shop\nodata:\n  tokens: [{name: excel}]',
  'name: shop\nodata:\n  tokens: [{name: excel, hash: secret}]',
  'name: shop\nodata:\n  tokens: [{name: a b, hash: "${A}"}]',
  'name: shop\nodata:\n  tokens: [{name: a, hash: "${A}", expires: tomorrow}]',
  'name: shop\nodata:\n  tokens: [{name: a, hash: "${A}", targets: [raw.orders]}]',
  'name: shop\nodata:\n  tokens: [{name: a, hash: "${A}", rows: [a = 1]}]',
  'name: shop\ntargets:\n  dev:\n    odata:\n      tokens: [{name: a, hash: "${A}"}]',
  'name: shop\ncollect:\n  tokens: {name: a, hash: "${A}"}',
  'name: shop\ncollect:\n  tokens: [{name: a, hash: "${A}", rows: a = 1}]',
  'name: shop\ncollect:\n  webhooks: [{name: a, target: raw.a, signature: github, secret: s3cret}]',
  'name: shop\ncollect:\n  webhooks: [{name: a, target: raw.a, signature: gitlab, secret: "${A}"}]',
  'name: shop\ncollect:\n  webhooks: [{name: a, target: raw.a, signature: stripe, secret: "${A}", tolerance_seconds: 0}]',
  'name: shop\ncollect:\n  webhooks: [{target: raw.a, signature: stripe, secret: "${A}"}]',
  'collect: {}',
  'name: 7',
  'name: shop\nport: 8080',
  'name: shop\ncollect:\n  prot: 8080',
  'name: shop\ntargets:\n  dev:\n    name: other',
  'name: shop\ntargets:\n  dev:\n    targets:',
  'name: shop\ntargets:\n  a b:\n    threads: 2',
  'name: shop\nvars:\n  a-b: 1',
  'name: shop\nvars:\n  none: []',
  'name: shop\nvars:\n  deep: {a: 1}',
  'name: shop\nschedule:\n  every: 5 minutes',
  'name: shop\nschedule:\n  runs:\n    - name: nightly',
  "name: shop\nschedule:\n  runs:\n    - {every: 1 hour, cron: '0 3 * * *'}",
  'name: shop\nschedule:\n  runs:\n    - every: 5 min',
  'name: shop\nnotify:\n  on: [failed]',
  'name: shop\nnotify:\n  on: [broken]\n  command: ./tell.sh',
  'name: shop\nnotify:\n  command: ./tell.sh\n  late_after: 30',
  'name: shop\nsources:\n  crm:\n    database: crm.duckdb',
  'name: shop\nsources:\n  crm:\n    databse: crm.duckdb\n    tables:\n      customers:',
  'name: shop\nsources:\n  bank:\n    tables:\n      rates: {file: rates.csv, checks: unique(id)}',
  'name: shop\nsources:\n  bank:\n    tables:\n      rates: {file: r.csv, loaded_at: at, warn_after: 2}',
  'name: shop\nsecrets:\n  store: {type: s3, key_id: AKIA, secret: written}',
  'name: shop\nsecrets:\n  store: {type: ftp}',
  'name: shop\nsecrets:\n  partner: {type: http, region: eu}',
]

for (const yaml of wrong)
  test(`schema and program refuse ${yaml.replaceAll('\n', ' / ')}`, () => {
    assert.not.ok(isGood(yaml))
    assert.not.ok(isTaken(yaml))
  })

test.run()
