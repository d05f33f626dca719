// Values of files that people write which are right for their format and can be used nowhere. Each is a mistake with a place.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const model = { 'models/mart/one.sql': 'SELECT 1 AS id\n' }
const many = Array.from({ length: 300 }, () => '*a').join(', ')

const rows: readonly (readonly [string, string])[] = [
  [
    'database: *nothing',
    '2:11 error config-syntax: this is not valid YAML: nothing before this is marked as &nothing',
  ],
  ['odata:\n  cors_origins: [*]', '3:18 error config-syntax'],
  [
    'odata:\n  cors_origins: [*later]\ncollect:\n  cors_origins: &later [x]',
    '3:18 error config-syntax: this is not valid YAML: nothing before',
  ],
  ['odata: *x', '2:8 error config-syntax: this is not valid YAML: nothing before'],
  ['extensions: [*x]', '2:14 error config-syntax: this is not valid YAML: nothing before'],
  ['vars: {a: *x}', '2:11 error config-syntax: this is not valid YAML: nothing before'],
  [
    `vars: {a: &a [x]}\nodata: {cors_origins: [${many}]}`,
    '3:24 error config-syntax: this is not valid YAML: what the aliases stand for is too much',
  ],
  [
    'database: "a\\0b"',
    '2:11 error config-syntax: this is not valid YAML: a string must not contain a NUL',
  ],
  ['notify:\n  command: "a\\0b"', '3:12 error config-syntax'],
  ['vars: {"a\\0": 1}', '2:8 error config-syntax'],
]

for (const [text, says] of rows)
  test(`eider.yml: ${text.slice(0, 60)}`, async () => {
    await using space = await workspace({ ...model, 'eider.yml': `name: shop\n${text}\n` })
    for (const command of ['check', 'run']) {
      const { stdout, stderr } = await space.ok([command], { exitCode: 1 })
      assert.match(stdout + stderr, `eider.yml:${says}`)
    }
  })

test('an alias of an anchor before it is its value', async () => {
  const config = 'name: shop\nodata:\n  token: &t secret-token\ncollect:\n  token: *t\n'
  await using space = await workspace({ ...model, 'eider.yml': config })
  await space.ok(['check'])
})

test('an alias without an anchor in the files next to a seed and a test', async () => {
  const files = {
    ...model,
    'eider.yml': 'name: shop\n',
    'seeds/ref/s.csv': 'id\n1\n',
    'tests/mart/one/a/expect.csv': 'id\n1\n',
  }
  await using space = await workspace({ ...files, 'seeds/ref/s.yml': 'checks: [*x]\n' })
  assert.match(
    (await space.ok(['check'], { exitCode: 1 })).stdout,
    'seeds/ref/s.yml:1:10 error config-syntax',
  )
  await space.write('seeds/ref/s.yml', '')
  await space.write('tests/mart/one/a/test.yml', 'tolerance: *x\n')
  const { stdout, stderr } = await space.eider(['test'])
  assert.match(stdout + stderr, 'nothing before this is marked as &x')
})

test('a .env that is no text, of which no line is shown', async () => {
  for (const [bytes, says] of [
    [Buffer.from('A=secret\0more\n'), '.env:1:1 error unreadable-file: the file has a NUL byte'],
    [
      Buffer.from('A=1\nB=secret\xe9\n', 'latin1'),
      '.env:2:9 error unreadable-file: the byte E9 is not',
    ],
    [
      Buffer.from('\ufeffA=secret\n', 'utf16le'),
      '.env:1:1 error unreadable-file: the file looks like UTF-16',
    ],
  ] as const) {
    await using space = await workspace({ ...model, 'eider.yml': 'name: shop\n' })
    await space.write('.env', bytes)
    const { stdout, stderr } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout, says)
    assert.not.match(stdout + stderr, 'secret')
  }
})

test.run()
