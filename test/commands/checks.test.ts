// Checks of seeds, sources and events, files of checks/, and how many rows a check may find.

import { startDaemon } from '../support/daemon-process.ts'
import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace, type Workspace } from '../support/workspace.ts'

interface Result {
  readonly model: string
  readonly status: string
  readonly because: string
  readonly warnings?: readonly string[]
}

async function run(
  space: Workspace,
  exitCode = 0,
  ...args: readonly string[]
): Promise<ReadonlyMap<string, Result>> {
  const { stdout } = await space.ok(['run', '--json', ...args], { exitCode })
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result & { readonly event: string })
  const results = events.filter(({ event }) => event === 'model-finished')
  return new Map(results.map((result) => [result.model, result]))
}

const rowsOf = async (space: Workspace, query: string) =>
  (await space.ok(['query', '--format', 'csv', query])).stdout

const files = {
  'eider.yml': 'name: s\n',
  'seeds/ref/countries.csv': 'id,name\nNO,Norway\nSE,Sweden\n',
  'seeds/raw/orders.csv': 'id,country,amount\n1,NO,5\n2,SE,6\n3,SE,7\n',
  'models/core/countries.sql': '-- @expose id\nSELECT id, name FROM ref.countries\n',
  'models/core/orders.sql': '-- @expose id\nSELECT id, country, amount FROM raw.orders\n',
  'models/mart/sums.sql':
    '-- @expose country\nSELECT country, sum(amount) AS amount FROM core.orders GROUP BY ALL\n',
  'checks/no_orphans.sql': `-- @description: every order has a country
SELECT o.id, o.country FROM core.orders o
WHERE NOT EXISTS (SELECT 1 FROM core.countries c WHERE c.id = o.country)
`,
}

test('a file of checks/ keeps the model that comes last of those it reads, and costs only what reads that', async () => {
  await using space = await workspace(files)
  const first = await run(space)
  assert.ok([...first.values()].every(({ status }) => status === 'built'))
  await space.write(
    'seeds/raw/orders.csv',
    'id,country,amount\n1,NO,50\n4,XX,1\n5,XY,1\n6,XZ,1\n7,XA,1\n',
  )
  await space.write('seeds/ref/countries.csv', 'id,name\nNO,Norge\nSE,Sverige\n')
  const second = await run(space, 1)
  assert.is(second.get('core.countries')?.status, 'built')
  assert.is(second.get('core.orders')?.status, 'failed')
  assert.is(second.get('mart.sums')?.status, 'skipped')
  const because = second.get('core.orders')?.because ?? ''
  assert.match(
    because,
    /^checks\/no_orphans\.sql:2:1: checks\/no_orphans\.sql \(every order has a country\) finds 4 rows: \{'id': 4, 'country': XX\}; .*; and more$/,
  )
  assert.is(because.split(';').length, 4)
  assert.is(await rowsOf(space, 'SELECT count(*) AS n FROM core.orders'), 'n\r\n3\r\n')
  await space.write('seeds/raw/orders.csv', 'id,country,amount\n1,NO,50\n2,SE,1\n')
  const again = await run(space, 0, '--retry')
  assert.is(again.get('core.orders')?.status, 'built')

  const { stdout } = await space.ok(['show', 'core.orders'])
  assert.match(stdout, /checks {7}checks\/no_orphans\.sql \(every order has a country\)/)
  await space.ok(['docs', '--out', 'docs.html'])

  // It is part of what the model means: editing it builds the model again, removing it too.
  await space.write('checks/no_orphans.sql', 'SELECT * FROM core.orders WHERE amount > 40\n')
  const { stdout: plan } = await space.ok(['plan', '--diff'], { exitCode: 1 })
  assert.match(plan, /checks\/no_orphans\.sql finds 1 row/)
  assert.is((await run(space, 1)).get('core.orders')?.status, 'failed')
  await rm(space.path('checks/no_orphans.sql'))
  assert.is((await run(space)).get('core.countries')?.status, 'unchanged')
})

test('a check may find as many rows, or as large a share, as it says', async () => {
  await using space = await workspace({
    ...files,
    'seeds/raw/orders.csv': `id,country,amount\n${Array.from({ length: 40 }, (_, i) => `${i},NO,${i - 1}\n`).join('')}`,
    'models/core/orders.sql': `-- @check: amount >= 0 up to 1 row
-- @check: not_null(id) up to 0 rows
-- @warn: amount > 1 up to 2.5%
SELECT id, country, amount FROM raw.orders
`,
    'checks/no_orphans.sql': '-- @warn: up to 5%\nSELECT * FROM core.orders WHERE amount > 36\n',
    'checks/few.sql': '-- @check: up to 3 rows\nSELECT * FROM core.orders WHERE amount > 35\n',
  })
  const first = (await run(space)).get('core.orders')!
  assert.is(first.status, 'built')
  assert.is(first.warnings?.length, 1)
  assert.match(first.warnings![0]!, 'amount > 1 up to 2.5% does not hold for 3 rows (7.5%): ')
  await space.write(
    'checks/few.sql',
    '-- @check: up to 2 rows\nSELECT * FROM core.orders WHERE amount > 35\n',
  )
  const second = (await run(space, 1)).get('core.orders')
  assert.match(second?.because ?? '', 'checks/few.sql finds 3 rows')
})

test('a check looks only at the rows that its condition names', async () => {
  const seed = (rows: string) => `id,country,amount,mail\n${rows}`
  await using space = await workspace({
    'seeds/ref/c.csv': 'id\nNO\nSE\n',
    'models/core/countries.sql': 'SELECT id FROM ref.c\n',
    'eider.yml': 'name: s\nvars: {least: 10}\n',
    'seeds/raw/orders.csv': seed('1,NO,5,\n1,NO,20,a@x\n2,XX,20,b@x\n3,NO,30,\n'),
    'models/core/orders.sql': `-- @check: unique(id) where amount >= \${least}
-- @check: accepted(country, 'NO', 'XX') WHERE mail IS NOT NULL
-- @check: row_count(> 1) where country = 'NO'
-- @check: not_null(mail) where amount > 10 up to 40%
-- @warn: not_null(mail) where country = 'NO' up to 1 row
-- @warn: references(country, core.countries.id) where amount >= 20
SELECT id, country, amount, mail FROM raw.orders
`,
  })
  const first = (await run(space)).get('core.orders')!
  assert.is(first.because, 'first build')
  assert.equal(
    first.warnings!.map((text) => text.replace(/: .*?(?=not_null|references)/, ': ')),
    [
      `models/core/orders.sql:5:4: not_null(mail) where country = 'NO' up to 1 row does not hold for 2 rows: {'id': 1, 'country': NO, 'amount': 5, 'mail': NULL}; {'id': 3, 'country': NO, 'amount': 30, 'mail': NULL}`,
      `models/core/orders.sql:6:4: references(country, core.countries.id) where amount >= 20 does not hold for 1 row: {'id': 2, 'country': XX, 'amount': 20, 'mail': b@x}`,
    ],
  )
  // Now from what the first run has compiled.
  await space.write('seeds/raw/orders.csv', seed('1,NO,15,\n1,NO,20,a@x\n2,XX,20,\n3,SE,30,c@x\n'))
  const second = (await run(space, 1)).get('core.orders')!
  assert.match(second.because, 'unique(id) where amount >= ${least} does not hold for 1 row')
  assert.match(
    second.because,
    "accepted(country, 'NO', 'XX') WHERE mail IS NOT NULL does not hold for 1 row: {'id': 3",
  )
  assert.match(
    second.because,
    'not_null(mail) where amount > 10 up to 40% does not hold for 2 rows (50%)',
  )
  assert.not.match(second.because, 'row_count')

  for (const [check, place, says] of [
    ['unique(id) where amout > 1', '1:29', /amout/],
    ['unique(id) where amount', '1:29', /the condition is BIGINT, but must be BOOLEAN/],
    ['unique(id) where id IN (SELECT 1)', '1:29', /single expression/],
    ['unique(id) where ', '1:23', /expected/],
    ['unique(id) when id > 1', '1:23', /expected/],
  ] as const) {
    await space.write(
      'models/core/orders.sql',
      `-- @check: ${check}\nSELECT id, amount FROM raw.orders\n`,
    )
    const { stdout, stderr } = await space.ok(['check'], { exitCode: 1 })
    assert.match(stdout + stderr, `models/core/orders.sql:${place}`)
    assert.match(stdout + stderr, says)
  }
})

test('a check takes arguments as a macro', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/orders.csv': 'id\n1\n2\n5\n',
    'models/core/orders.sql': 'SELECT id FROM raw.orders\n',
    'macros/rules.sql': `CREATE MACRO gaps(relation, id, most := 1) AS TABLE
  FROM (SELECT lag(id) OVER (ORDER BY id) AS before, id AS after FROM query_table(relation))
  WHERE after - before > most;
`,
    'checks/orders_without_gaps.sql': "FROM gaps('core.orders', id)\n",
  })
  const first = (await run(space, 1)).get('core.orders')!
  assert.match(first.because, "finds 1 row: {'before': 2, 'after': 5}")
  await space.write('checks/orders_without_gaps.sql', "FROM gaps('core.orders', id, most := 3)\n")
  assert.is((await run(space)).get('core.orders')?.status, 'built')
})

test('rows that checks find are kept where a setting asks for them, until the next build', async () => {
  await using space = await workspace({
    'eider.yml': 'name: s\nfailing_rows: 2\n',
    'seeds/raw/orders.csv': 'id,amount\n1,-1\n2,-2\n3,-3\n4,4\n',
    'models/core/orders.sql': `-- @check: not_null(id)
-- @check: amount > 0
-- @warn: amount > -2
SELECT id, amount::DECIMAL(18,2) AS amount, [id] AS ids FROM raw.orders
`,
  })
  const because = (await run(space, 1)).get('core.orders')!.because
  const [file, other] = [2, 3].map((n) => `target/failing_rows/core.orders/${n}.ndjson`)
  assert.match(because, `amount > 0 does not hold for 3 rows: `)
  assert.match(because, `; kept in ${file}`)
  assert.is(
    await readFile(space.path(file!), 'utf8'),
    '{"id":1,"amount":-1.00,"ids":[1]}\n{"id":2,"amount":-2.00,"ids":[2]}\n',
  )
  const { stdout } = await space.ok([
    'query',
    `SELECT sum(id) AS ids FROM '${file}'`,
    '--format',
    'csv',
  ])
  assert.is(stdout, 'ids\r\n3\r\n')
  assert.match(await readFile(space.path(other!), 'utf8'), '"id":3')

  await space.write('seeds/raw/orders.csv', 'id,amount\n1,1\n')
  await run(space)
  assert.not(existsSync(space.path('target/failing_rows/core.orders')))

  // Those of a setting that is gone go as well.
  await space.write('seeds/raw/orders.csv', 'id,amount\n1,-1\n')
  await run(space, 1)
  assert.ok(existsSync(space.path('target/failing_rows/core.orders')))
  await space.write('eider.yml', 'name: s\n')
  assert.not.match((await run(space, 1)).get('core.orders')!.because, 'kept in')
  assert.not(existsSync(space.path('target/failing_rows/core.orders')))
})

test('seeds, events and tables of sources have checks', async () => {
  await using space = await workspace({
    'eider.yml': `name: s
sources:
  crm:
    tables:
      people:
        file: people.csv
        checks:
          - unique(id)
          - "age < 150 up to 1 row"
        warn:
          - not_null(name)
      others: { file: people.csv }
`,
    'people.csv': 'id,name,age\n1,Ann,20\n2,,30\n',
    'seeds/ref/c.csv': 'id,n\nNO,1\nSE,2\n',
    'seeds/ref/c.yml': 'checks:\n  - unique(id)\n  - n > 0\nwarn:\n  - row_count(> 5)\n',
    'models/raw/e.sql':
      '-- @kind: events\n-- @expose id\n-- @check: references(country, ref.c.id)\n-- @check: amount >= 0\nid INTEGER, country VARCHAR, amount INTEGER\n',
    'models/a/people.sql': 'SELECT id, name FROM crm.people\n',
    'models/a/others.sql': 'SELECT id FROM crm.others\n',
    'models/a/e.sql': 'SELECT id FROM raw.e\n',
    'checks/adults.sql': '-- @warn\nSELECT * FROM crm.people WHERE age < 18\n',
  })
  await using daemon = await startDaemon(space)
  const post = async (body: string) => {
    const { status } = await fetch(`${daemon.url}/collect/raw/e`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    })
    assert.is(status, 202)
  }
  await post('{"id":1,"country":"NO","amount":1}')
  await daemon.stop()
  const first = await run(space)
  assert.ok([...first.values()].every(({ status }) => status === 'built'))
  assert.match(
    first.get('a.people')?.warnings?.[0] ?? '',
    /^eider\.yml:\d+:\d+: not_null\(name\) does not hold for 1 row of crm\.people/,
  )
  assert.match(first.get('ref.c')?.warnings?.[0] ?? '', /^seeds\/ref\/c\.yml:5:5: row_count\(> 5\)/)
  assert.is(first.get('a.others')?.warnings, undefined)

  await space.write('people.csv', 'id,name,age\n1,Ann,12\n1,Bo,30\n')
  await space.write('seeds/ref/c.csv', 'id,n\nNO,1\nNO,0\n')
  const second = await run(space, 1)
  assert.match(
    second.get('a.people')?.because ?? '',
    'unique(id) does not hold for 1 row of crm.people',
  )
  assert.is(second.get('a.others')?.status, 'built')
  const seed = second.get('ref.c')
  assert.match(
    seed?.because ?? '',
    /^seeds\/ref\/c\.yml:2:5: unique\(id\) .*; seeds\/ref\/c\.yml:3:5: n > 0/,
  )
  assert.is(await rowsOf(space, 'SELECT count(*) AS n FROM ref.c'), 'n\r\n2\r\n')
  await space.write('people.csv', 'id,name,age\n1,Ann,12\n')
  await space.write('seeds/ref/c.csv', 'id,n\nNO,1\nSE,2\n')
  assert.match(
    (await run(space)).get('a.people')?.warnings?.join() ?? '',
    'checks/adults.sql finds 1 row',
  )

  // Events are in their table whatever a check says; what is published, and what reads them, waits.
  await using later = await startDaemon(space)
  const response = await fetch(`${later.url}/collect/raw/e`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{"id":2,"country":"XX","amount":-1}',
  })
  assert.is(response.status, 202)
  await later.stop()
  const third = await run(space, 1)
  assert.match(
    third.get('raw.e')?.because ?? '',
    /^models\/raw\/e\.sql:3:4: references\(country, ref\.c\.id\) does not hold for 1 row: .*; models\/raw\/e\.sql:4:4: amount >= 0/,
  )
  assert.is(third.get('a.e')?.status, 'skipped')
  assert.is(await rowsOf(space, 'SELECT count(*) AS n FROM raw.e'), 'n\r\n2\r\n')
  const { stdout } = await space.ok(['odata', 'preview', 'raw_e/$count'])
  assert.match(stdout, /\b1\b/)
  assert.is((await run(space, 1)).get('raw.e')?.status, 'failed')
  await space.write(
    'models/raw/e.sql',
    '-- @kind: events\n-- @expose id\nid INTEGER, country VARCHAR, amount INTEGER\n',
  )
  assert.is((await run(space)).get('a.e')?.status, 'built')
})

test('a mistake in a file of checks/ costs the model that it belongs to, and names its place', async () => {
  await using space = await workspace(files)
  await space.write('checks/no_orphans.sql', 'SELECT * FROM core.orders WHERE contry IS NULL\n')
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, /checks\/no_orphans\.sql:1:33 error sql-binding: no column "contry"/)
  const results = await run(space, 1)
  assert.is(results.get('core.orders')?.status, 'failed')
  assert.is(results.get('core.countries')?.status, 'built')
})

test.run()
