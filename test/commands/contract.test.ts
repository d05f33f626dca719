import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const header = '-- @kind: merge\n-- @unique_key: id\n-- @expose id\n'
const body = "SELECT 1 AS id, CAST(2.5 AS DECIMAL(12,2)) AS amount, {'a b': 1, 'c': 'x'} AS extra\n"
const path = 'models/mart/sales.sql'
const files = { 'eider.yml': 'name: shop\n', [path]: `${header}${body}` }

test('a contract is written into the file, and each break of it is refused with its line by check, plan and run', async () => {
  await using space = await workspace(files)
  await space.write(path, `${header}-- @contract\n${body}`)
  const empty = await space.ok(['check'], { exitCode: 1 })
  assert.match(empty.stdout, `${path}:4:4 error contract-empty`)
  assert.match(empty.stdout, 'eider contract mart.sales')
  await space.ok(['contract'])
  const terms = [
    '-- @contract: key(id)',
    '-- @contract: id INTEGER NOT NULL',
    '-- @contract: amount DECIMAL(12,2)',
    '-- @contract: extra STRUCT("a b" INTEGER, c VARCHAR)',
    '',
  ].join('\n')
  assert.is(await readFile(space.path(path), 'utf8'), header + terms + body)
  await space.ok(['run', '--quiet'])
  const published = () => readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const before = await published()

  const broken: readonly (readonly [text: string, says: string])[] = [
    [
      body.replace(' AS amount', ' AS total'),
      '6:4 error contract-broken: the contract is broken: the column "amount" is gone',
    ],
    [body.replace('12,2', '12,3'), 'the column "amount" is now DECIMAL(12,3)'],
    [body.replace(' AS amount', ' AS Amount'), 'the column "amount" is now spelled "Amount"'],
    [body.replace("'c': 'x'", "'c': 1"), ':7:4 error contract-broken'],
  ]
  for (const [text, says] of broken) {
    await space.write(path, header + terms + text)
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout, says)
    assert.match(stdout, 'accept it: eider contract mart.sales')
  }
  const plan = await space.ok(['plan'], { exitCode: 1 })
  assert.match(plan.stdout, /fails +mart\.sales/)
  await space.ok(['run'], { exitCode: 1 })
  assert.is(await published(), before)
  await space.ok(['run', '--full-refresh', 'mart.sales'], { exitCode: 1 })
  assert.is(await published(), before)

  const others: readonly (readonly [text: string, says: string])[] = [
    [header.replace('@expose id', '@expose amount') + terms + body, 'the key is now (amount)'],
    [header.replace('-- @expose id\n', '') + terms + body, 'the model is not exposed'],
  ]
  for (const [text, says] of others) {
    await space.write(path, text)
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout, says)
  }
  // The key decides what may be null.
  await space.write(path, others[0]![0])
  assert.match(
    (await space.ok(['check'], { exitCode: 1 })).stdout,
    'the column "id" may now be null',
  )
})

test('columns may be added, and a change that is meant is accepted by one command', async () => {
  await using space = await workspace(files)
  await space.ok(['contract', 'mart_sales'])
  const first = await readFile(space.path(path), 'utf8')
  await space.write(path, first.replace('SELECT', 'SELECT 5 AS more,'))
  await space.ok(['check'])
  await space.write(path, first.replace('CAST(2.5 AS DECIMAL(12,2))', "'2.5'"))
  await space.ok(['check'], { exitCode: 1 })
  assert.match((await space.ok(['contract', 'mart.sales'])).stdout, `wrote  ${path}`)
  await space.ok(['check'])
  const blanks = await readFile(space.path(path), 'utf8')
  await space.write(path, blanks.replaceAll('-- @contract', '--\u00a0@contract'))
  assert.match((await space.ok(['contract', 'mart.sales'])).stdout, `wrote  ${path}`)
  const accepted = await readFile(space.path(path), 'utf8')
  assert.match(accepted, '-- @contract: amount VARCHAR\n')
  assert.is(accepted.match(/@contract/g)?.length, 4)
  assert.match((await space.ok(['contract'])).stdout, `unchanged  ${path}`)
})

test('a check that keeps NULL out of all rows can be promised, and cannot be deleted then', async () => {
  const withChecks = (...checks: readonly string[]) =>
    `${header}${checks.map((check) => `-- ${check}\n`).join('')}${body}`
  await using space = await workspace({
    ...files,
    [path]: withChecks('@check: not_null(amount, extra)'),
  })
  await space.ok(['contract', 'mart.sales'])
  const promised = await readFile(space.path(path), 'utf8')
  assert.match(promised, '-- @contract: amount DECIMAL(12,2) NOT NULL\n')
  await space.ok(['check'])
  for (const weaker of [
    '@check: not_null(extra)',
    '@warn: not_null(amount, extra)',
    '@check: not_null(amount, extra) where id > 1',
    '@check: not_null(amount, extra) up to 1%',
  ]) {
    await space.write(path, promised.replace('@check: not_null(amount, extra)', weaker))
    const { stdout } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout, 'the column "amount" may now be null', weaker)
  }
  await space.write(path, promised)
  await space.ok(['run', '--quiet'])
  const published = await readFile(space.path('.eider/snapshots/manifest.json'), 'utf8')
  const [relation] = JSON.parse(published).relations
  assert.equal(
    relation.columns.map((column: { nullable: boolean }) => column.nullable),
    [false, true, true],
  )
})

test('what cannot be promised is refused, and files stay as they are', async () => {
  await using space = await workspace({
    ...files,
    'models/mart/inner.sql': 'SELECT 1 AS id\n',
    'models/mart/wrong.sql': '-- @expose id\nSELECT none AS id\n',
    'models/mart/odd.sql': '-- @expose id\n-- @contract: id\nSELECT 1 AS id\n',
  })
  const refused = async (name: string, exitCode: number, says: string) => {
    const { stderr } = await space.ok(['contract', name], { exitCode })
    assert.match(stderr, says)
  }
  await refused('mart.inner', 2, 'mart.inner is not exposed')
  await refused('mart.wrong', 1, 'models/mart/wrong.sql:2:8 error')
  await refused('mart.slaes', 2, 'did you mean "mart.sales"')
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, /odd\.sql:2:17 error annotation-syntax: .*expected nothing, key\(columns\)/)
  assert.is(await readFile(space.path(path), 'utf8'), files[path])
})

test.run()
