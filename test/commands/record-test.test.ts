// `eider test --record`: a test from rows of the warehouse, by lineage.

import { readFile, readdir } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { contentsOf, workspace, type Workspace } from '../support/workspace.ts'

const orders = Array.from({ length: 3000 }, (_, i) => {
  const id = Math.floor(i / 2)
  return `${id},c${id % 50},${i},"2026-01-01 00:00:${String(i % 2).padStart(2, '0')}",note ${i}\n`
})
const files = {
  'eider.yml': 'name: s\nsources: {crm: {tables: {tiers: {file: data/tiers.csv}}}}\n',
  'data/tiers.csv': 'tier,rate\ngold,0.5\nsilver,1\n',
  'seeds/raw/orders.csv': `order_id,customer,amount,seen,note\n${orders.join('')}`,
  'seeds/ref/customers.csv': `id,email,tier\n${Array.from({ length: 50 }, (_, i) => `c${i},c${i}@x.example,${i % 2 === 0 ? 'gold' : 'silver'}\n`).join('')}`,
  'models/staging/orders.sql':
    '-- @kind: view\nSELECT order_id, customer, amount, seen FROM raw.orders\n',
  'models/core/orders.sql': `-- @kind: merge
-- @unique_key: order_id
-- @on_duplicate: latest(seen)
SELECT o.order_id, o.customer, c.email, o.amount, o.seen
FROM staging.orders o JOIN ref.customers c ON c.id = o.customer
`,
  'models/mart/sums.sql': `-- @expose email
SELECT email, sum(amount * rate)::DECIMAL(18,2) AS amount, count(*) AS orders
FROM core.orders JOIN ref.customers c USING (email) JOIN crm.tiers USING (tier) GROUP BY ALL
`,
}

const read = (space: Workspace, path: string) => readFile(space.path(path), 'utf8')

test('a recorded test has the rows that lineage leads to, in the columns that are read, and holds', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const record = ['test', '--record', 'core.orders', 'latest']
  const { stdout } = await space.ok([...record, '--where', 'order_id IN (1, 7)'])
  const given = 'tests/core/orders/latest/given'
  assert.equal(stdout.trimEnd().split('\n').toSorted(), [
    'wrote  tests/core/orders/latest/expect.csv  2 rows',
    `wrote  ${given}/raw.orders.csv  4 rows`,
    `wrote  ${given}/ref.customers.csv  2 rows`,
  ])
  assert.is(
    await read(space, `${given}/raw.orders.csv`),
    'order_id,customer,amount,seen\n1,c1,2,2026-01-01 00:00:00\n1,c1,3,2026-01-01 00:00:01\n7,c7,14,2026-01-01 00:00:00\n7,c7,15,2026-01-01 00:00:01\n',
  )
  assert.is(
    await read(space, `${given}/ref.customers.csv`),
    'id,email\nc1,c1@x.example\nc7,c7@x.example\n',
  )
  assert.is(
    await read(space, 'tests/core/orders/latest/expect.csv'),
    'order_id,customer,email,amount,seen\n1,c1,c1@x.example,3,2026-01-01 00:00:01\n7,c7,c7@x.example,15,2026-01-01 00:00:01\n',
  )
  await space.ok(['test', 'core.orders'])

  const summed = ['test', '--record', 'mart.sums', 'c4', '--where', "email = 'c4@x.example'"]
  const recorded = await space.ok([...summed, '--mask', 'email', '--json'])
  const { files: written, remarks } = JSON.parse(recorded.stdout) as {
    files: { path: string; rows: number }[]
    remarks: string[]
  }
  const rowsOf = (name: string) => written.find(({ path }) => path.endsWith(`/${name}`))?.rows
  assert.is(rowsOf('raw.orders.csv'), 60)
  assert.is(rowsOf('ref.customers.csv'), 1)
  assert.is(rowsOf('expect.csv'), 1)
  assert.equal(remarks, [])
  assert.is(rowsOf('crm.tiers.csv'), 1)
  assert.not.match(await read(space, 'tests/mart/sums/c4/given/ref.customers.csv'), '@')
  assert.match(await read(space, 'tests/mart/sums/c4/expect.csv'), /^email,amount,orders\nemail 1,/)
  await space.ok(['test'])
})

test('partners come by the columns that join them, not by values that many of them share', async () => {
  // The partner that counts is beyond the bound of what is recorded.
  const people = Array.from({ length: 3005 }, (_, i) => `${i},${i % 3 === 0 ? 'north' : 'east'}\n`)
  const sold = Array.from({ length: 3000 }, (_, i) => {
    const day = String((i % 28) + 1).padStart(2, '0')
    return `${i},${3004 - i},2026-03-${day} 10:00:00,${i}\n`
  })
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/people.csv': `id,region\n${people.join('')}`,
    'seeds/raw/sold.csv': `order_id,person,at,amount\n${sold.join('')}`,
    'seeds/raw/staff.csv': 'id,boss,name\n1,2,Ann\n2,3,Bo\n3,,Cy\n4,3,Di\n',
    'models/core/orders.sql': `-- @kind: merge
-- @unique_key: order_id
SELECT o.order_id, d.region, o.at, o.amount
FROM raw.sold o LEFT JOIN raw.people d ON d.id = o.person
`,
    'models/core/inside.sql': `-- @kind: merge
-- @unique_key: order_id
WITH o AS (SELECT order_id, person AS who FROM raw.sold)
SELECT order_id FROM o WHERE who IN (SELECT id FROM raw.people WHERE region = 'east')
`,
    'models/core/bosses.sql': `-- @kind: merge
-- @unique_key: id
SELECT s.id, b.name AS boss FROM raw.staff s LEFT JOIN raw.staff b ON s.boss = b.id
`,
    'models/mart/daily.sql': `-- @expose day, region
SELECT o.at::DATE AS day, d.region, sum(o.amount)::BIGINT AS revenue
FROM raw.sold o JOIN raw.people d ON d.id = o.person GROUP BY ALL
`,
  })
  await space.ok(['run', '--quiet'])
  const record = async (model: string, where: string, ...more: readonly string[]) => {
    const args = ['test', '--record', model, 'one', '--where', where, '--json', ...more]
    const { files: written, remarks } = JSON.parse((await space.ok(args)).stdout) as {
      files: { path: string; rows: number }[]
      remarks: string[]
    }
    const rows = Object.fromEntries(
      written.map(({ path, rows: n }) => [path.replace(/^.*\//, ''), n]),
    )
    const expected = await read(space, `tests/${model.replace('.', '/')}/one/expect.csv`)
    return { rows, remarks, expected }
  }

  const one = await record('core.orders', 'order_id = 1', '--mask', 'region')
  assert.equal(one.rows, { 'raw.sold.csv': 1, 'raw.people.csv': 1, 'expect.csv': 1 })
  assert.equal(one.remarks, [])
  assert.match(one.expected, /^order_id,region,at,amount\n1,region 1,/)

  const inside = await record('core.inside', 'order_id = 2')
  assert.equal(inside.rows, { 'raw.sold.csv': 6, 'raw.people.csv': 6, 'expect.csv': 1 })
  assert.equal(inside.remarks, [
    'also given are rows that core.inside leaves out, and their partners: 5 of raw.sold, 5 of raw.people',
  ])

  const boss = await record('core.bosses', 'id = 1')
  assert.match(boss.expected, '1,Bo')
  assert.is(boss.rows['raw.staff.csv'], 2)

  const day = await record('mart.daily', "day = '2026-03-05' AND region = 'north'")
  assert.is(day.rows['raw.sold.csv'], 107)
  assert.is(day.rows['raw.people.csv'], 107)
  assert.equal(day.remarks, ['expect.csv also has 1 row that --where does not ask for'])
  const { stdout } = await space.ok([
    'query',
    "SELECT revenue FROM mart.daily WHERE day = '2026-03-05' AND region = 'north'",
    '--format',
    'csv',
  ])
  assert.match(day.expected, `2026-03-05,north,${stdout.trim().split('\n')[1]}`)
  await space.ok(['test'])
})

test('rows of a window come with those of its part, and a number by chance leads nowhere', async () => {
  const rows = Array.from({ length: 60 }, (_, i) => `${i + 1},${(i % 6) + 1},${(i * 7) % 60}\n`)
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/orders.csv': `order_id,customer,seen\n${rows.join('')}`,
    'models/core/ranked.sql':
      'SELECT customer, order_id, row_number() OVER (PARTITION BY customer ORDER BY seen, order_id) AS nth FROM raw.orders\n',
  })
  await space.ok(['run', '--quiet'])
  const record = async (name: string, where: string) => {
    const { stdout } = await space.ok(['test', '--record', 'core.ranked', name, '--where', where])
    assert.match(stdout, /given\/raw\.orders\.csv {2}10 rows/)
    assert.not.match(stdout, /different from the warehouse/)
  }
  await record('last', 'order_id = 59')
  await record('first', 'customer = 2 AND nth <= 2')
  await space.ok(['test'])
})

test('partners come by what is made of columns: of a key, a window or a join', async () => {
  const hits = Array.from(
    { length: 60 },
    (_, i) => `${i},2026-0${1 + (i % 3)}-${String(1 + (i % 28)).padStart(2, '0')},${i % 7}\n`,
  )
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/hits.csv': `id,day,n\n${hits.join('')}`,
    'seeds/ref/rates.csv': 'month,rate\n2026-01-01,1\n2026-02-01,2\n2026-03-01,3\n',
    'models/mart/months.sql':
      "SELECT date_trunc('month', day)::DATE AS month, sum(n) AS n FROM raw.hits GROUP BY 1\n",
    'models/mart/ranked.sql':
      "SELECT id, row_number() OVER (PARTITION BY date_trunc('month', day) ORDER BY n, id) AS nth FROM raw.hits\n",
    'models/mart/rated.sql':
      "SELECT h.id, h.n * r.rate AS eur FROM raw.hits h JOIN ref.rates r ON r.month = date_trunc('month', h.day)\n",
  })
  await space.ok(['run', '--quiet'])
  const recorded = async (model: string, where: string) => {
    const { stdout } = await space.ok(['test', '--record', model, 'one', '--where', where])
    return [...stdout.matchAll(/(given\/\S+|note .*different.*)(?: {2}(\d+))?/g)].map(
      ([, what, rows]) => `${what} ${rows}`,
    )
  }
  // The first day of a month is a day that there is, too.
  assert.equal(await recorded('mart.months', "month = '2026-03-01'"), ['given/raw.hits.csv 20'])
  assert.equal(await recorded('mart.ranked', 'id = 2'), ['given/raw.hits.csv 20'])
  assert.equal(await recorded('mart.rated', 'id = 2'), [
    'given/raw.hits.csv 1',
    'given/ref.rates.csv 1',
  ])
  await space.ok(['test'])
})

test('some rows that a condition leaves out are recorded with their partners, so its removal is found', async () => {
  const sold = Array.from(
    { length: 300 },
    (_, i) => `${i},c${i % 40},${i % 3 === 0 ? 'paid' : 'open'},${i}\n`,
  )
  const people = Array.from({ length: 40 }, (_, i) => `c${i},${i % 8 === 0}\n`)
  const core = `-- @expose order_id
SELECT o.order_id, o.amount, c.id AS customer
FROM staging.orders o JOIN raw.customers c ON c.id = o.customer WHERE NOT c.is_test
`
  const staging = `-- @kind: view
SELECT order_id, customer, amount FROM raw.orders WHERE status = 'paid'
`
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/orders.csv': `order_id,customer,status,amount\n${sold.join('')}`,
    'seeds/raw/customers.csv': `id,is_test\n${people.join('')}`,
    'models/staging/orders.sql': staging,
    'models/core/orders.sql': core,
  })
  await space.ok(['run', '--quiet'])
  const record = ['test', '--record', 'core.orders', 'paid', '--where', 'order_id = 3', '--json']
  const { files: written, remarks } = JSON.parse((await space.ok(record)).stdout) as {
    files: { path: string; rows: number }[]
    remarks: string[]
  }
  assert.is(remarks.length, 1)
  assert.match(
    remarks[0]!,
    /^also given are rows that core\.orders leaves out, and their partners: \d+ of raw\.\w+, \d+ of raw\.\w+$/,
  )
  assert.is(written.find(({ path }) => path.endsWith('expect.csv'))?.rows, 1)
  const given = written.find(({ path }) => path.endsWith('raw.orders.csv'))!
  assert.ok(given.rows > 10 && given.rows <= 21, `${given.rows}`)
  await space.ok(['test'])
  const changes = [
    ['models/staging/orders.sql', staging, " WHERE status = 'paid'"],
    ['models/core/orders.sql', core, ' WHERE NOT c.is_test'],
  ] as const
  for (const [path, text, condition] of changes) {
    await space.write(path, text.replace(condition, ''))
    await space.ok(['test'], { exitCode: 1 })
    await space.write(path, text)
  }
})

test('rows that came after the last run, and of which nothing can be built, are not recorded', async () => {
  const orders = 'id,amount\n1,10 EUR\n2,20 EUR\n'
  await using space = await workspace({
    'eider.yml': 'name: s\nsources: {crm: {tables: {orders: {file: data/orders.csv}}}}\n',
    'data/orders.csv': orders,
    'models/core/orders.sql':
      "-- @expose: id\nSELECT id, replace(amount, ' EUR', '')::INTEGER AS amount FROM crm.orders\n",
  })
  await space.ok(['run', '--quiet'])
  await space.write('data/orders.csv', `${orders}3,unknown\n`)
  await space.ok(['test', '--record', 'core.orders', 'one', '--where', 'id = 1'])
  assert.is(
    await read(space, 'tests/core/orders/one/given/crm.orders.csv'),
    'id,amount\n1,10 EUR\n',
  )
  assert.is(await read(space, 'tests/core/orders/one/expect.csv'), 'id,amount\n1,10\n')
})

test('never more than a bound is recorded, and it says so', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const { stdout } = await space.ok(['test', '--record', 'core.orders', 'all', '--where', 'true'])
  assert.match(stdout, 'given/raw.orders.csv has the first 1,000 rows only')
  assert.match(stdout, /[\d,]+ of 1,001 recorded rows came out different from the warehouse/)
  const rows = (await read(space, 'tests/core/orders/all/given/raw.orders.csv')).split('\n')
  assert.is(rows.length, 1002)
})

test('what cannot be recorded is refused and leaves nothing behind', async () => {
  await using space = await workspace({
    ...files,
    'models/raw/e.sql': '-- @kind: events\nid INTEGER\n',
    'tests/core/orders/there/expect.csv': 'order_id\n',
  })
  await space.ok(['run', '-s', '+core.orders', '-s', 'raw.e', '--quiet'])
  const before = await contentsOf(space)
  const refused = async (args: readonly string[], exitCode: number, says: RegExp) => {
    const { stderr } = await space.ok(['test', '--record', ...args], { exitCode })
    assert.match(stderr, says)
  }
  await refused(['core.orders', 'a'], 2, /--record takes a model, a name for the test, and --where/)
  await refused(['core.order', 'a', '--where', 'true'], 2, /did you mean "core\.orders"/)
  await refused(['core.orders', '../a', '--where', 'true'], 2, /cannot name a test/)
  await refused(['core.orders', 'there', '--where', 'true'], 2, /already exists/)
  await refused(['core.orders', 'a', '--where', 'order_id = -1'], 2, /no row of core\.orders/)
  await refused(['core.orders', 'a', '--where', 'oder_id = 1'], 1, /order_id/)
  await refused(['core.orders', 'a', '--where', 'true); DROP TABLE x; --'], 2, /single SELECT/)
  await refused(
    ['core.orders', 'a', '--where', 'order_id = 1', '--mask', 'phone'],
    2,
    /no given table has a column "phone"/,
  )
  await refused(['raw.e', 'a', '--where', 'true'], 2, /takes rows from events/)
  await refused(['mart.sums', 'a', '--where', 'true'], 1, /mart\.sums|sums/)
  assert.equal(await contentsOf(space), before)
  assert.equal(await readdir(space.path('tests/core/orders')), ['there'])
})

test.run()
