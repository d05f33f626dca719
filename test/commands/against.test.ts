import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\nvars: {least: 1}\n',
  'seeds/ref/countries.csv': 'id,name\nNO,Norway\n',
  'macros/tax.sql': 'CREATE MACRO tax(x) AS x * 2;\n',
  'models/core/orders.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\n' +
    "SELECT 1 AS id, 'NO' AS country_id, 10 AS amount\n",
  'models/core/countries.sql': 'SELECT id, name FROM ref.countries\n',
  'models/mart/sales.sql':
    '-- @expose country_id\nSELECT country_id, sum(amount) AS total\n' +
    'FROM core.orders WHERE amount > ${least} GROUP BY ALL\n',
}

interface Planned {
  readonly event: string
  readonly model?: string
  readonly action?: string
  readonly because?: string
  readonly set?: string
  readonly change?: string
  readonly breaking?: boolean | number
}

async function compared(
  space: Workspace,
  args: readonly string[] = [],
  exitCode = 0,
): Promise<readonly Planned[]> {
  const { stdout } = await space.ok(['plan', '--against', 'base.json', '--json', ...args], {
    exitCode,
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Planned)
}

/** The models to build, each with why. */
const built = (events: readonly Planned[]) =>
  Object.fromEntries(
    events.flatMap(({ action, model, because }) =>
      action === 'build' ? [[model!, because!] as const] : [],
    ),
  )

async function withBase(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['check', '--manifest', 'base.json', '--quiet'])
  return space
}

test('edits of the text alone modify nothing; each edit that means something has its reason', async () => {
  await using space = await withBase()
  const edited = async (path: keyof typeof files, text: string) => {
    await space.write(path, text)
    const found = built(await compared(space))
    await space.write(path, files[path])
    return found
  }
  assert.equal(built(await compared(space)), {})
  const orders = files['models/core/orders.sql']
  const withComment = `${orders.replace('SELECT 1 AS', 'select  1   as').trimEnd()} -- why\n`
  assert.equal(await edited('models/core/orders.sql', withComment), {})
  assert.equal(await edited('models/core/orders.sql', orders.replace('10', '11')), {
    'core.orders': 'definition changed',
    'mart.sales': 'upstream core.orders changed',
  })
  const countries = files['models/core/countries.sql']
  assert.equal(await edited('models/core/countries.sql', `-- @kind: view\n${countries}`), {
    'core.countries': 'kind changed from table to view',
  })
  assert.equal(
    await edited('models/mart/sales.sql', `-- @owner: ana\n${files['models/mart/sales.sql']}`),
    { 'mart.sales': 'annotations changed' },
  )
  assert.equal(await edited('seeds/ref/countries.csv', 'id,name\nNO,Norge\n'), {
    'ref.countries': 'file seeds/ref/countries.csv changed',
    'core.countries': 'upstream ref.countries changed',
  })
  assert.equal(await edited('eider.yml', 'name: shop\nvars: {least: 2}\n'), {
    'mart.sales': 'definition changed',
  })
  const macros = await edited('macros/tax.sql', 'CREATE MACRO tax(x) AS x * 3;\n')
  assert.is(macros['core.orders'], 'definition changed')
})

test('a plan against a manifest tells what breaks clients, and opens no warehouse', async () => {
  await using space = await withBase()
  await space.write(
    'models/core/orders.sql',
    files['models/core/orders.sql'].replace('country_id', 'country_id, 5 AS more'),
  )
  const added = await compared(space)
  assert.equal(
    added.filter(({ event }) => event === 'contract-change').map(({ change }) => change),
    ['property more added'],
  )
  await space.write('models/mart/sales.sql', 'SELECT 1 AS one\n')
  const broken = await compared(space, [], 1)
  const [gone] = broken.filter(({ breaking }) => breaking === true)
  assert.is(`${gone?.set}: ${gone?.change}`, 'mart_sales: entity set removed')
  await compared(space, ['--allow-breaking'])
  // What is not selected stays as it is.
  assert.equal(built(await compared(space, ['core.orders', '--allow-breaking'])), {
    'core.orders': 'definition changed',
  })
  const text = await space.ok(['plan', '--against', 'base.json'], { exitCode: 1 })
  assert.match(
    text.stdout,
    /build {6}mart\.sales {6,}definition changed\n {11}\+ one INTEGER\n {11}- country_id VARCHAR/,
  )
  assert.not(await readFile(space.path('.eider/warehouse.duckdb')).catch(() => null))
})

test('state:modified takes the manifest in run, check and ls, also that of a run', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  await space.write('models/mart/sales.sql', `${files['models/mart/sales.sql']} HAVING true\n`)
  await space.write('models/new/one.sql', 'SELECT 1 AS x\n')
  await space.write('old/keep.txt', '')
  const against = ['--against', '../target/manifest.json']
  const listed = await space.ok(['ls', 'state:modified', ...against, '--json'], {
    cwd: space.path('old'),
  })
  assert.equal(listed.stdout.match(/"model":"[^"]+"/g), [
    '"model":"mart.sales"',
    '"model":"new.one"',
  ])
  const ran = await space.ok(['run', 'state:modified', '--against', 'target/manifest.json'])
  assert.match(ran.stdout, /built {6}mart\.sales/)
  // The run has replaced the manifest, which it had read before.
  const nothing = await space.ok(['check', 'state:modified', '--against', 'target/manifest.json'])
  assert.match(nothing.stdout, /ok: 0 models/)
})

test('a manifest that cannot be read, and a check without one, say what to do', async () => {
  await using space = await workspace({ ...files, 'bad.json': '{}', 'cut.json': '{"schema' })
  for (const [file, why] of [
    ['none.json', 'ENOENT'],
    ['bad.json', 'it is not a manifest with schema_version 1'],
    ['cut.json', 'it is not JSON'],
  ] as const)
    for (const command of ['run', 'plan', 'check', 'ls']) {
      const { stderr } = await space.ok([command, '--against', file], { exitCode: 2 })
      assert.match(stderr, why)
      assert.match(stderr, 'eider check --manifest FILE')
    }
  const { stderr } = await space.ok(['check', 'state:modified'], { exitCode: 2 })
  assert.match(stderr, 'add --against FILE')
  await space.ok(['plan', '--against', 'bad.json', '--diff'], { exitCode: 2 })
  const nowhere = await space.ok(['check', '--manifest', 'no/such/m.json'], { exitCode: 2 })
  assert.match(nowhere.stderr, '--manifest cannot be written')
})

test.run()
