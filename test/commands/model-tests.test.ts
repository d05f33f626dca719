// Tests of models with rows of their own, by the built command.

import { readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { contentsOf, repository, workspace, type Workspace } from '../support/workspace.ts'

const files = {
  'eider.yml':
    'name: s\nvars: {least: 10}\nsources: {crm: {tables: {people: {file: data/people.csv}}}}\n',
  'data/people.csv': 'id,name\n1,Ann\n',
  'seeds/ref/countries.csv': 'id,name\nNO,Norway\nSE,Sweden\n',
  'macros/m.sql': 'CREATE MACRO twice(x) AS x * 2;\n',
  'models/raw/e.sql':
    '-- @kind: events\nid INTEGER NOT NULL, country VARCHAR, amount DECIMAL(9,2)\n',
  'models/mid/big.sql':
    '-- @kind: view\nSELECT id, country, twice(amount) AS amount FROM raw.e WHERE amount >= ${least}\n',
  'models/mart/sums.sql': `-- @expose name
-- @check: row_count(> 100)
SELECT c.name, sum(b.amount) AS amount, today() AS day
FROM mid.big b JOIN ref.countries c ON c.id = b.country GROUP BY ALL
`,
  'models/mart/names.sql': 'SELECT p.name, e.id FROM raw.e e LEFT JOIN crm.people p USING (id)\n',
  'models/core/hist.sql': '-- @kind: scd2\n-- @unique_key: id\nSELECT id, amount FROM raw.e\n',
}

const sums = 'tests/mart/sums/adds_up'
const good = {
  [`${sums}/given/raw.e.csv`]: 'id,country,amount\n1,NO,10\n2,NO,9.99\n3,NO,20.5\n4,SE,50\n',
  [`${sums}/given/ref.countries.ndjson`]: '{"id":"NO","name":"Norway"}\n',
  [`${sums}/expect.csv`]: 'name,amount,day\nNorway,61,2026-01-01\n',
}

const failing = async (space: Workspace, ...args: readonly string[]) =>
  (await space.ok(['test', ...args], { exitCode: 1 })).stdout

test('what lies between the given rows and the model is built, with macros, variables and a clock that stands', async () => {
  await using space = await workspace({ ...files, ...good })
  const before = await contentsOf(space)
  const { stdout } = await space.ok(['test'])
  assert.match(
    stdout,
    /^ok {7}mart\.sums \/ adds_up {2}[\d.]+ m?s\n1 ok in .*; 1 of 4 models has a test\n$/,
  )
  assert.equal(await contentsOf(space), before)
  await space.write(`${sums}/test.yml`, 'now: 2024-02-29T12:00:00Z\nvars: {least: 1}\n')
  await space.write(`${sums}/expect.csv`, 'day,name,amount\n2024-02-29,Norway,80.98\n')
  await space.ok(['test'])
  await space.ok(['test', 'core.*', '--vars', 'least=2'])
})

test('rows that differ are shown with their place, and --accept writes what came out', async () => {
  await using space = await workspace({
    ...files,
    ...good,
    [`${sums}/about.md`]: '# Small ones are left out\n',
  })
  await space.write(`${sums}/expect.csv`, 'name,amount\nNorway,61\nSweden,1\n')
  const shown = await failing(space)
  assert.match(
    shown,
    /failed {3}mart\.sums \/ adds_up +[\d.]+ m?s\n +Small ones are left out\n +name +amount\n/,
  )
  assert.match(shown, /- Sweden +1\.00 +expected\n/)
  assert.not.match(shown, 'built\n')
  assert.match(
    shown,
    /models\/mart\/sums\.sql · tests\/mart\/sums\/adds_up\/expect\.csv:3\n0 ok, 1 failed in/,
  )
  const [line = ''] = (await failing(space, '--json')).split('\n')
  const { difference, status } = JSON.parse(line) as Record<string, unknown>
  assert.is(status, 'failed')
  assert.equal(difference, {
    path: `${sums}/expect.csv`,
    line: 3,
    columns: ['name', 'amount'],
    missing: [{ name: 'Sweden', amount: '1.00' }],
    unexpected: [],
    changed: [],
    missing_rows: 1,
    unexpected_rows: 0,
  })
  await space.ok(['test', '--accept'])
  assert.is(await readFile(space.path(`${sums}/expect.csv`), 'utf8'), 'name,amount\nNorway,61.00\n')
  await space.write(`${sums}/expect.csv`, 'name,amount\n<&",1\n')
  await failing(space, '--junit', 'results.xml')
  const xml = await readFile(space.path('results.xml'), 'utf8')
  assert.match(xml, '<testsuite name="eider test" tests="1" failures="1">')
  assert.match(
    xml,
    /<testcase classname="mart\.sums" name="adds_up" time="[\d.]+"><failure message="other rows than expected">/,
  )
  assert.match(xml, /- &lt;&amp;&quot; +1\.00 +expected\n/)
  await rm(space.path(`${sums}/expect.csv`))
  assert.match(await failing(space), 'there is no expect.csv; "eider test --accept" writes')
  await space.ok(['test', '--accept'])
  await space.ok(['test'])
})

test('runs with numbers follow each other, a day apart; what is not given again stays', async () => {
  const hist = 'tests/core/hist/changes'
  await using space = await workspace({
    ...files,
    [`${hist}/1/given/raw.e.csv`]: 'id,amount\n1,5\n2,7\n',
    [`${hist}/1/expect.csv`]: 'id,amount,is_current\n1,5,true\n2,7,true\n',
    [`${hist}/2/given/raw.e.sql`]: 'SELECT 1 AS id, 6 AS amount UNION ALL SELECT 2, 7',
    [`${hist}/2/expect.csv`]:
      'id,amount,valid_from,is_current\n1,5,2026-01-01T00:00:00Z,false\n1,6,2026-01-02T00:00:00Z,true\n2,7,2026-01-01T00:00:00Z,true\n',
    [`${hist}/3/expect.csv`]: 'id,amount\n1,5\n1,6\n2,7\n',
  })
  assert.match((await space.ok(['test'])).stdout, 'core.hist / changes (3 runs)')
})

test('tables of sources are given too, or are empty, whether the source is there or not', async () => {
  const names = 'tests/mart/names/joins'
  await using space = await workspace({
    ...files,
    [`${names}/given/raw.e.csv`]: 'id\n1\n2\n',
    [`${names}/given/crm.people.csv`]: 'id,name\n2,Bo\n',
    [`${names}/expect.csv`]: 'id,name\n1,\n2,Bo\n',
  })
  await space.ok(['test'])
  await rm(space.path(`${names}/given/crm.people.csv`))
  await space.write(`${names}/expect.csv`, 'id,name\n1,\n2,\n')
  await space.ok(['test'])
})

const mistakes: Readonly<Record<string, [path: string, text: string, says: RegExp]>> = {
  'an event without what it must have': [
    `${sums}/given/raw.e.csv`,
    'country\nNO\n',
    /given\/raw\.e\.csv: "id" of raw\.e is NOT NULL, and a row has none/,
  ],
  'a column that the relation does not have': [
    `${sums}/given/raw.e.csv`,
    'id,contry\n1,NO\n',
    /tests\/mart\/sums\/adds_up\/given\/raw\.e\.csv:1: raw\.e has no column "contry"; did you mean "country"\?/,
  ],
  'a value of another type': [
    `${sums}/given/raw.e.csv`,
    'id,amount\n1,5\nx,6\n',
    /given\/raw\.e\.csv:3:1: 'x' does not fit INTEGER \(column id\)/,
  ],
  'a row with too many fields': [
    `${sums}/given/raw.e.csv`,
    'id,amount\n1,5,6\n',
    /given\/raw\.e\.csv:2:.*this row has 3 fields, the header has 2/,
  ],
  'a relation that the model does not read': [
    `${sums}/given/raw.x.csv`,
    'id\n1\n',
    /given\/raw\.x\.csv: mart\.sums does not read "raw\.x"; did you mean "raw\.e"\?/,
  ],
  'a relation that the model does not read, in place of the one that it reads': [
    'tests/mart/sums/q/given/other.orders.csv',
    'id\n1\n',
    /given\/other\.orders\.csv: mart\.sums does not read "other\.orders"; it reads [\w., ]*mid\.big[\w., ]* \(given\/ has no rows of what it reads\)/,
  ],
  'a fixture of another form': [
    `${sums}/given/raw.e.xlsx`,
    '',
    /given\/raw\.e\.xlsx: a fixture is named after what it stands for, such as core\.orders\.csv/,
  ],
  'a query that is none': [
    'tests/mart/sums/q/given/raw.e.sql',
    'DROP TABLE x',
    /given\/raw\.e\.sql: a query must be a single SELECT/,
  ],
  'a file that belongs to no test': [
    `${sums}/expected.csv`,
    '',
    /tests\/mart\/sums\/adds_up\/expected\.csv: a test has given\/ and expect\.csv/,
  ],
  'an unknown setting': [
    `${sums}/test.yml`,
    'nwo: 1\n',
    /test\.yml: no setting "nwo"; known: now, vars, tolerance/,
  ],
  'a time that is none': [`${sums}/test.yml`, 'now: noon\n', /test\.yml: "now" must be a time/],
  'a model that is not there': [
    'tests/mart/sum/a/expect.csv',
    'x\n1\n',
    /failed {3}mart\.sum \/ a[^]*no model "mart\.sum"; did you mean "mart\.sums"\?/,
  ],
  'a seed': ['tests/ref/countries/a/expect.csv', 'id\n1\n', /ref\.countries is a file/],
  'a model that does not compile': [
    'models/mid/big.sql',
    'SELECT nothing FROM raw.e\n',
    /failed {3}mart\.sums \/ adds_up[^]*models\/mid\/big\.sql:1:8: .*"nothing"/,
  ],
  'a model that fails on these rows': [
    'models/mid/big.sql',
    "SELECT id, country, error('no')::integer AS amount FROM raw.e\n",
    /mid\.big failed: models\/mid\/big\.sql:1:.*no|mart\/sums\.sql:.*no/,
  ],
}

for (const [what, [path, text, says]] of Object.entries(mistakes))
  test(`${what} fails the one test, with its place`, async () => {
    await using space = await workspace({
      ...files,
      ...good,
      'tests/core/hist/other/given/raw.e.csv': 'id,amount\n1,5\n',
      'tests/core/hist/other/expect.csv': 'id\n1\n',
      [path]: text,
    })
    const shown = await failing(space)
    assert.match(shown, says)
    assert.match(shown, /ok {7}core\.hist \/ other/)
  })

test('a project without tests says where they go', async () => {
  await using space = await workspace(files)
  assert.match((await space.ok(['test'])).stdout, 'no tests: tests/<schema>/<model>/<case>/')
})

test('--watch runs the tests again when a test or a model is saved, in a project that is named by a relative path', async () => {
  const moved = Object.entries({ ...files, ...good, [`${sums}/test.yml`]: 'vars: {least: 10}\n' })
  await using space = await workspace(
    Object.fromEntries(moved.map(([path, text]) => [`shop/${path}`, text])),
  )
  await using running = await space.start(['test', '--watch', '--project', 'shop'], {
    ready: 'test-finished',
  })
  const outcomes = () =>
    Promise.resolve(
      running
        .stdout()
        .match(/"event":"test-finished","ok":\w+/g)
        ?.join() ?? '',
    )
  const passed = '"event":"test-finished","ok":true'
  const failed = '"event":"test-finished","ok":false'
  assert.is(await outcomes(), passed)
  await space.write(`shop/${sums}/expect.csv`, 'name,amount\nNorway,1\n')
  await until(outcomes, (seen) => seen === `${passed},${failed}`)
  await space.write(
    'shop/models/mid/big.sql',
    'SELECT id, country, 1 AS amount FROM raw.e WHERE id = 1\n',
  )
  await until(outcomes, (seen) => seen === `${passed},${failed},${passed}`)
  assert.is(await running.stop('SIGINT'), 0)
})

test('the tests of the example project hold', async () => {
  await using space = await workspace()
  const { stdout } = await space.ok(['test', '--project', join(repository, 'example-project')])
  assert.match(stdout, /^2 ok in .*; 2 of 10 models have a test$/m)
})

test('a SELECT in tests/, as dbt has it, fails alone and is sent to checks/', async () => {
  await using space = await workspace({ ...files, ...good, 'tests/no_orphans.sql': 'SELECT 1\n' })
  const { stdout } = await space.ok(['test'], { exitCode: 1 })
  assert.match(stdout, 'tests/no_orphans.sql: a test is a directory')
  assert.match(stdout, 'is a file in checks/')
  assert.match(stdout, /1 ok/)
})

test('a link in tests/ that leads nowhere fails alone', async () => {
  await using space = await workspace({ ...files, ...good })
  await symlink('gone', join(space.dir, 'tests/mart/old'))
  const { stdout } = await space.ok(['test'], { exitCode: 1 })
  assert.match(stdout, /tests\/mart\/old: this link leads nowhere/)
  assert.match(stdout, /1 ok/)
})

test.run()
