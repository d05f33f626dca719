// eider.yml while it is typed: | is the place.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { meaningOf } from '../support/config-schema/config-schema.ts'
import { describeSetting, pathAt, proposalsAt } from '../../src/editor/settings.ts'

const at = (text: string) => [text.replace('|', ''), text.indexOf('|')] as const

const paths = [
  ['na|me: shop', 'name'],
  ['name: shop\nodata:\n  po|rt: 8090', 'odata.port'],
  ['odata:\n  port: 8090\n\n  # more\n  ho|st: a', 'odata.host'],
  ['targets:\n  prod:\n    odata:\n      port|: 1', 'targets.prod.odata.port'],
  ['schedule:\n  runs:\n    - every|: 5 minutes', 'schedule.runs.-.every'],
  ['schedule:\n  runs:\n    - every: 1 day\n      name|: a', 'schedule.runs.-.name'],
  ['schedule:\n  runs:\n    - every: 1 day\n    - cron|: a', 'schedule.runs.-.cron'],
  ['schedule:\n  runs:\n  - every: 1 day\n    name|: a', 'schedule.runs.-.name'],
  [
    'schedule:\n  runs:\n    - every: 1 day\n      select:\n        - core|',
    'schedule.runs.-.select.-',
  ],
  [
    'sources:\n  crm:\n    tables:\n      orders:\n        file|: a',
    'sources.crm.tables.orders.file',
  ],
] as const

for (const [text, path] of paths)
  test(`in eider.yml: ${path}`, () => assert.is(pathAt(...at(text)).join('.'), path))

const proposals = [
  ['na|', 'name', 'odata'],
  ['odata:\n  |', 'port', 'explorer'],
  ['odata:\n  explorer: |', 'project', 'off'],
  ['odata:\n  access_log: t|', 'true', 'false'],
  ['targets:\n  dev:\n    |', 'vars', 'database'],
  ['schedule:\n  runs:\n    - |', 'every', 'select'],
  ['schedule:\n  runs:\n    - every: 1 day\n      |', 'name', 'exclude'],
  ['sources:\n  bank:\n    tables:\n      rates:\n        |', 'file', 'checks'],
  ['secrets:\n  store:\n    |', 'key_id', 'password'],
  ['secrets:\n  store:\n    type: |', 's3', 'http'],
] as const

for (const [text, ...wanted] of proposals)
  test(`proposed: ${text.replaceAll('\n', ' / ')}`, () => {
    const labels = proposalsAt(...at(text)).map(({ label }) => label)
    for (const label of wanted) assert.ok(labels.includes(label), labels.join())
  })

test('nothing is proposed where nothing is known', () => {
  for (const text of ['# na|', 'name: |', 'vars:\n  |', 'nothing:\n  |', 'odata:\n  port: 80 |'])
    assert.equal(proposalsAt(...at(text)), [], text)
})

test('a setting is explained', () => {
  const found = describeSetting(...at('odata:\n  page_|size: 7'))!
  assert.match(found, `**odata.page_size**\n\n${meaningOf('odata.page_size')}`)
  assert.match(found, 'Default: `10000`')
  assert.is(describeSetting(...at('vars:\n  si|nce: 7')), null)
})

test.run()
