// Variables from eider.yml to the rows: every type, every place that sets them, and what a change of one builds again.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Outcome, type Workspace, workspace } from '../support/workspace.ts'

const config = `name: v
vars:
  top: 3
  big: 12345678901234567890
  rate: -1.5
  exact: -12345678901234567.890
  since: 2024-02-01
  label: 'it''s "odd"; DROP TABLE x -- \${top}'
  strict: true
  countries: [SE, 'NO']
  days: [2024-01-01, 2024-01-02]
  source: odd name
targets:
  prod:
    vars:
      top: 5
      countries: [DK]
`

const project = {
  'eider.yml': config,
  'macros/m.sql': 'CREATE MACRO capped(x) AS least(x, ${top});\n',
  'models/raw/odd name.sql': "SELECT i AS n, 'SE' AS country FROM range(${top}) t(i)\n",
  'models/mart/types.sql': `SELECT \${top} AS top, \${big} AS big, 1 -\${rate} AS rate, 0 -\${exact} AS exact, \${since} AS since,
  \${label} AS label, \${strict} AS strict, \${countries} AS countries, \${days} AS days, '\${top}' AS text -- \${top}\n`,
  'models/mart/rows.sql': `-- @check: n < \${top}
SELECT capped(n) AS n FROM raw.\${source:identifier} WHERE country IN \${countries} LIMIT \${top}\n`,
}

const rowsOf = async (space: Workspace, query: string, flags: readonly string[] = []) =>
  (await space.ok(['query', query, '--json', ...flags])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

/** Status of each model by name. */
function statuses({ stdout }: Outcome): Readonly<Record<string, string>> {
  const lines = stdout.split('\n').map((line) => /Z (built|unchanged|failed) +(\S.*?)  /.exec(line))
  return Object.fromEntries(lines.flatMap((found) => (found ? [[found[2]!, found[1]!]] : [])))
}

test('each type is a literal of its own, whatever is in it', async () => {
  await using space = await workspace(project)
  await space.ok(['run', '--quiet'])
  const [row] = await rowsOf(space, 'FROM mart.types')
  assert.equal(row, {
    top: 3,
    big: '12345678901234567890',
    rate: '2.5',
    exact: '12345678901234567.890',
    since: '2024-02-01',
    label: 'it\'s "odd"; DROP TABLE x -- ${top}',
    strict: true,
    countries: ['SE', 'NO'],
    days: ['2024-01-01', '2024-01-02'],
    text: '${top}',
  })
  assert.is((await rowsOf(space, 'FROM mart.rows')).length, 3)
})

test('flag before environment before .env before target before eider.yml', async () => {
  await using space = await workspace(project)
  const count = async (flags: readonly string[], options = {}, target: readonly string[] = []) => {
    await space.ok(['run', 'raw.odd name', '--quiet', ...flags, ...target], options)
    const [row] = await rowsOf(space, 'SELECT count(*)::INT AS n FROM raw."odd name"', target)
    return row?.['n']
  }
  const prod = ['--target', 'prod']
  assert.is(await count([]), 3)
  assert.is(await count([], {}, prod), 5)
  await space.write('.env', 'EIDER_VAR_TOP=6\n')
  assert.is(await count([], {}, prod), 6)
  const env = { EIDER_VAR_TOP: '7' }
  assert.is(await count([], { env }, prod), 7)
  assert.is(await count(['--vars', 'top=8', '--vars', 'label=x=y'], { env }, prod), 8)
})

test('a value is part of the version of the models that take it, and of no others', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  const again = await space.ok(['run'])
  assert.match(again.stdout, ' 3 unchanged in ')
  const label = await space.ok(['run', '--vars', 'label=other', '--verbose'])
  assert.equal(statuses(label), {
    'mart.rows': 'unchanged',
    'mart.types': 'built',
    'raw.odd name': 'unchanged',
  })
  const plan = await space.ok(['plan', '--vars', 'label=third', '--json'])
  const reasons = plan.stdout
    .split('\n')
    .filter((line) => line.includes('"step"'))
    .map((line) => JSON.parse(line) as { model: string; because: string })
    .filter(({ because }) => because === 'definition changed')
  assert.equal(
    reasons.map(({ model }) => model),
    ['mart.types'],
  )
  const modified = await space.ok(['ls', 'state:modified', '--vars', 'top=4', '--json'])
  const models = modified.stdout.split('\n').filter((line) => line.includes('"model"'))
  assert.is(models.length, 3)
})

test('a check with a variable, and a place behind one in a failure while it runs', async () => {
  await using space = await workspace({
    ...project,
    'models/mart/broken.sql':
      'SELECT ${label} AS label, CAST(n || \'x\' AS INTEGER) FROM raw."odd name"\n',
  })
  await space.write('models/mart/rows.sql', '-- @check: n < ${top} - 1\nFROM raw."odd name"\n')
  const { stdout } = await space.ok(['run', '--quiet'], { exitCode: 1 })
  assert.match(stdout, 'models/mart/rows.sql:1:4: n < ${top} - 1 does not hold for 1 row')
  assert.match(stdout, 'models/mart/broken.sql:1:27: ')
})

for (const { flags, says } of [
  {
    flags: ['--vars', 'tops=1'],
    says: 'eider.yml declares no variable "tops"',
  },
  { flags: ['--vars', 'top=many'], says: '--vars top must be a number, not "many"' },
  { flags: ['--vars', 'since=2024-02-30'], says: '--vars since must be a date' },
  { flags: ['--vars', 'strict=yes'], says: '--vars strict must be true or false' },
  { flags: ['--vars', 'days=2024-01-01,soon'], says: 'a list of which each is a date' },
  { flags: ['--vars', 'top'], says: '--vars takes name=value, not "top"' },
])
  test(`refused: ${flags.join(' ')}`, async () => {
    await using space = await workspace({ 'eider.yml': config })
    const { stderr } = await space.ok(['run', ...flags], { exitCode: 2 })
    assert.match(stderr, says)
  })

test('a value of the environment that does not fit says where it is from', async () => {
  await using space = await workspace({ 'eider.yml': config })
  const env = { EIDER_VAR_RATE: 'high' }
  const { stderr } = await space.ok(['ls'], { exitCode: 2, env })
  assert.match(stderr, 'the variable EIDER_VAR_RATE must be a number, not "high"')
})

test.run()
