// `eider erase`: the rows of a person go from everywhere, beside a daemon and a service, and those of others stay.

import { readdir, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ModelName } from '../../src/core/names.ts'
import { eraseRows } from '../../src/pipeline/erase/erase.ts'
import { erasureId } from '../../src/pipeline/erase/record.ts'
import { loadProject } from '../../src/project/load.ts'
import { openErasing } from '../../src/wiring/erasing.ts'
import { runBeside, startDaemon } from '../support/daemon-process.ts'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { findText } from '../support/find-text.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'
import { silentLogger } from '../support/silent-logger.ts'
import { until } from '../support/until.ts'

const SECRET = 'Mathilde-7f3a'

const order = (id: number, customer: number, name: string, more: object = {}) => ({
  order_id: id,
  customer_id: customer,
  name,
  amount: 10,
  ...more,
})

/** Orders of two people in two runs, so that there are older states; two more events wait in the daemon. */
async function withPerson(space: Workspace, daemon: Running): Promise<void> {
  await sendOrders(space, daemon.url, [
    order(1, 7, SECRET),
    order(2, 8, 'Olga'),
    order(101, 9, 'Nils'),
    order(102, 7, SECRET),
    order(3, 8, 'Olga'),
  ])
  await runBeside(space, daemon)
  await sendOrders(space, daemon.url, [
    order(1, 7, `${SECRET} again`),
    order(2, 8, 'Olga again'),
    order(4, 7, SECRET),
  ])
  await runBeside(space, daemon)
  await sendOrders(space, daemon.url, [order(5, 7, SECRET), order(6, 8, 'Olga')])
}

const beside = (daemon: Running) => ({
  env: { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port },
})

const events = (text: string, event: string) =>
  text
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const rows = async (space: Workspace, text: string) =>
  (await space.ok(['query', text, '--json'])).stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

test('a person is erased beside a daemon and a service; others keep their rows and their history', async () => {
  await using space = await workspace(eraseFiles)
  await using daemon = await startDaemon(space)
  await withPerson(space, daemon)
  await using service = await space.start(['serve', '--port', '0'])
  const ask = async (path: string) =>
    JSON.stringify(await (await fetch(`${service.url}/${path}`)).json())
  assert.match(await ask('core_orders'), SECRET)
  assert.match(await ask('core_history'), SECRET)
  const before = await rows(space, 'SELECT * FROM core.history WHERE buyer = 8 ORDER BY ALL')
  assert.is(before.length, 3)

  const { stdout } = await space.ok(
    ['erase', 'raw.orders', 'customer_id = 7', '--json'],
    beside(daemon),
  )
  const [erased] = events(stdout, 'erased')
  assert.equal(erased?.['erased'], [
    { place: 'table', model: 'raw.orders', count: 5 },
    { place: 'table', model: 'core.both', count: 4 },
    { place: 'table', model: 'core.orders', count: 3 },
    { place: 'table', model: 'core.history', count: 4 },
  ])
  assert.equal(erased?.['left'], [])
  assert.equal(erased?.['rebuilt'], ['mart.sums'])
  assert.is(erased?.['unfinished'], null)

  assert.equal(await findText(space.dir, SECRET), [])
  await until(async () => !(await ask('core_orders')).includes(SECRET))
  for (const set of ['raw_orders', 'core_orders', 'core_history', 'mart_sums'])
    assert.not.match(await ask(set), SECRET)
  assert.match(await ask('core_orders'), 'Olga again')
  const after = await rows(space, 'SELECT * FROM core.history WHERE buyer = 8 ORDER BY ALL')
  assert.equal(
    before.filter((row) => row['is_current'] === false),
    after.filter((row) => row['is_current'] === false),
  )
  const { stdout: run } = await space.ok(['run', '--verbose'], beside(daemon))
  assert.match(run, /unchanged +core\.history/)
  const { stdout: again } = await space.ok(
    ['erase', 'raw.orders', 'customer_id = 7'],
    beside(daemon),
  )
  assert.is(again, 'nothing in raw.orders is meant; nothing was changed\n')
})

test('what came in while rows are erased stays, and is no failure', async () => {
  await using space = await workspace(eraseFiles)
  await using daemon = await startDaemon(space)
  const send = (id: number) => sendOrders(space, daemon.url, [order(id, 7, SECRET)])
  const erase = async (onStep: (step: string) => Promise<void>) => {
    const project = await loadProject(space.dir, {
      env: { ...process.env, ...beside(daemon).env },
      flags: {},
      target: null,
    })
    const request = await openErasing(
      project,
      { model: 'raw.orders', condition: 'customer_id = 7' },
      {
        all: true,
        unreadable: false,
        rewrite: false,
        lockWaitMs: 10_000,
        signal: new AbortController().signal,
        progress: () => {},
        logger: silentLogger,
      },
    )
    return await eraseRows({ ...request, onStep })
  }
  await send(1)
  await runBeside(space, daemon)
  const first = await erase(async (step) => {
    if (step === 'deleted') await send(2)
  })
  assert.equal([first.unfinished, first.left], [null, []])
  assert.equal(await rows(space, 'SELECT count(*)::INT AS n FROM raw.orders'), [{ n: 0 }])
  const second = await erase(async (step) => {
    if (step !== 'deleted') return
    await send(3)
    await runBeside(space, daemon)
  })
  assert.is(second.unfinished, null)
  assert.match(second.left.map(({ what }) => what).join(), '1 row of raw.orders that came in while')
  assert.equal(await rows(space, 'SELECT order_id::INT AS id FROM raw.orders'), [{ id: 3 }])
  // The records do not tell which condition it was.
  const id = erasureId('raw.orders' as ModelName, 'customer_id = 7')
  assert.equal(await findText(space.dir, id), [])
})

test('rows that went in another way leave nothing either, where that is asked for', async () => {
  await using space = await workspace(eraseFiles)
  {
    await using daemon = await startDaemon(space)
    await sendOrders(space, daemon.url, [
      order(1, 7, SECRET, { received_at: '2020-01-01T00:00:00Z' }),
      order(2, 8, 'Olga'),
    ])
  }
  for (const name of ['core/orders', 'core/history', 'core/both', 'mart/sums'])
    await rm(space.path(`models/${name}.sql`))
  await space.ok(['run'])
  const raw = eraseFiles['models/raw/orders.sql']
  await space.write('models/raw/orders.sql', raw.replace('events', 'events\n-- @keep: 90 days'))
  await space.ok(['run'])
  const erase = ['erase', 'raw.orders', "received_at < '2026-01-01'"]
  await space.ok(erase)
  assert.not.equal(await findText(space.dir, SECRET), [])
  const { stdout } = await space.ok([...erase, '--rewrite'])
  assert.match(stdout, /^nothing in raw\.orders is meant\nrewrote \d/)
  assert.equal(await findText(space.dir, SECRET), [])
})

test('a dry run counts and changes nothing; a condition that means every row asks for --all', async () => {
  await using space = await workspace(eraseFiles)
  {
    await using daemon = await startDaemon(space)
    await withPerson(space, daemon)
  }
  await space.ok(['run'])
  const { stdout } = await space.ok(['erase', 'raw.orders', 'customer_id = 7', '--dry-run'])
  assert.match(stdout, /would erase +raw\.orders +5 rows\n/)
  assert.match(stdout, /would rebuild mart\.sums/)
  assert.equal(await rows(space, 'SELECT count(*)::INT AS n FROM raw.orders'), [{ n: 10 }])
  const refused = await space.ok(['erase', 'raw.orders', 'order_id > 0'], { exitCode: 2 })
  assert.match(refused.stderr, 'the condition means all 10 rows of raw.orders')
  assert.match(refused.stderr, 'add --all')
  assert.equal(
    await readdir(space.path('.eider')).then((names) => names.includes('erasures')),
    false,
  )
  await space.ok(['erase', 'raw.orders', 'order_id > 0', '--all'])
  assert.equal(await findText(space.dir, SECRET), [])
  assert.equal(await rows(space, 'SELECT count(*)::INT AS n FROM raw.orders'), [{ n: 0 }])
})

test('what a condition cannot be is said with its place', async () => {
  await using space = await workspace(eraseFiles)
  await space.ok(['run'])
  const cases = [
    [
      'customer = 7',
      /CONDITION:1:1 error sql-binding: no column "customer"\n(?:.*\n)*.*customer_id/,
    ],
    [
      'customer_id',
      /CONDITION:1:1 error invalid-check: the condition is BIGINT, but must be BOOLEAN/,
    ],
    ['customer_id IN (SELECT 7)', /CONDITION:1:1 error invalid-check: .*without subqueries/],
    ['sum(amount) > 1', /CONDITION:1:1 error sql-binding: WHERE clause cannot contain aggregates/],
    ['customer_id = 7; DROP TABLE raw.orders', /without subqueries/],
    [
      'received_at < now()',
      /CONDITION:1:1 error invalid-check: now gives another result each time/,
    ],
    ['amount = NULL', /"amount = NULL" is NULL for every row\n(?:.*\n)*.*write amount IS NULL/],
    ['', /a condition is a single expression/],
  ] as const
  for (const [condition, expected] of cases) {
    const { stderr } = await space.ok(['erase', 'raw.orders', condition], { exitCode: 1 })
    assert.match(stderr, expected)
  }
  const table = await space.ok(['erase', 'mart.sums', 'true'], { exitCode: 2 })
  assert.match(table.stderr, 'mart.sums is a table, which a run makes from nothing')
  const unknown = await space.ok(['erase', 'raw.order', 'true'], { exitCode: 2 })
  assert.match(unknown.stderr, 'did you mean "raw.orders"?')
})

test('rejected events go too, and the rows that runs have shown', async () => {
  const orders = eraseFiles['models/raw/orders.sql']
  await using space = await workspace({
    ...eraseFiles,
    'eider.yml': 'name: shop\nfailing_rows: 10\n',
    'models/raw/orders.sql': orders.replace('amount DECIMAL(10,2)', 'amount VARCHAR'),
    'models/mart/sums.sql': `-- @warn: length(called) < 10
SELECT called FROM core.orders
`,
  })
  {
    await using daemon = await startDaemon(space)
    await sendOrders(space, daemon.url, [
      order(1, 7, 'x', { amount: SECRET }),
      order(2, 8, 'y', { amount: 'none' }),
      order(3, 7, SECRET, { amount: '5' }),
      order(4, 8, 'z', { amount: '5' }),
    ])
  }
  await space.write('models/raw/orders.sql', orders)
  const { stdout: run } = await space.ok(['run'])
  assert.match(run, SECRET)
  const rejected = 'SELECT count(*)::INT AS n FROM _eider.rejected_events'
  assert.equal(await rows(space, rejected), [{ n: 2 }])
  const before = await findText(space.dir, SECRET)
  for (const place of [
    'target/failing_rows/mart.sums/1.ndjson',
    'target/run_results.json',
    '.eider/warehouse.duckdb _eider.runs',
  ])
    assert.ok(before.includes(place), place)
  const { stdout } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(stdout, /erased +raw\.orders +1 rejected event\n/)
  assert.equal(await findText(space.dir, SECRET), [])
  assert.equal(await rows(space, rejected), [{ n: 1 }])
  assert.match((await space.ok(['history', 'mart.sums'])).stdout, 'built')
})

test('rejected events that do not tell are named, and go with --unreadable', async () => {
  const orders = eraseFiles['models/raw/orders.sql']
  await using space = await workspace({
    ...eraseFiles,
    'models/raw/orders.sql': orders.replace('customer_id BIGINT', 'customer_id VARCHAR'),
  })
  {
    await using daemon = await startDaemon(space)
    await sendOrders(space, daemon.url, [
      { order_id: 1, customer_id: 'seven', name: SECRET },
      { order_id: 2, customer_id: '7', name: 'x' },
      { order_id: 3, customer_id: '8', name: 'y' },
    ])
  }
  await space.write('models/raw/orders.sql', orders)
  await space.ok(['run'])
  const { stderr } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(stderr, 'not erased: 1 rejected event of raw.orders')
  assert.not.equal(await findText(space.dir, SECRET), [])
  await space.write('.eider/warehouse.duckdb.wal.torn-01234567', SECRET)
  await space.write('.eider/buffer/raw.orders/1-01234567.damaged', SECRET)
  const again = ['erase', 'raw.orders', 'customer_id = 7', '--unreadable']
  const { stdout } = await space.ok(again)
  assert.match(stdout, /erased +raw\.orders +1 rejected event\n/)
  assert.match(stdout, /erased +raw\.orders +1 file with damaged events\n/)
  assert.match(stdout, 'deleted 1 file that could not be searched')
  assert.equal(await findText(space.dir, SECRET), [])
})

test('tables that it cannot reach are named, and so are recorded tests', async () => {
  await using space = await workspace({
    ...eraseFiles,
    'models/core/names.sql':
      '-- @kind: append\n-- @incremental: received_at\nSELECT name, received_at FROM raw.orders\n',
    'tests/core/orders/one/given/raw.orders.csv': 'order_id\n1\n',
  })
  {
    await using daemon = await startDaemon(space)
    await withPerson(space, daemon)
  }
  await space.ok(['run'])
  const { stderr } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(stderr, 'not erased: core.names (append) keeps rows made from raw.orders')
  assert.match(stderr, 'eider run core.names --full-refresh')
  assert.match(stderr, 'not erased: tests/core/orders/one, a test')
  // Also once the table itself has no such row.
  for (const dry of [[], ['--dry-run']]) {
    const again = await space.ok(['erase', 'raw.orders', 'customer_id = 7', ...dry])
    assert.is(
      again.stdout,
      'nothing in raw.orders is meant where it can be searched; nothing was changed\n',
    )
    assert.match(again.stderr, 'not erased: core.names (append) keeps rows made from raw.orders')
    assert.match(again.stderr, 'not erased: tests/core/orders/one, a test')
  }
  const { stderr: second } = await space.ok(['erase', 'core.names', `name LIKE '${SECRET}%'`])
  assert.match(second, 'not erased: raw.orders, which core.names reads')
  assert.equal(await findText(space.dir, SECRET), [])
})

test('periods that lose rows are made anew, also behind other tables, and where they begin', async () => {
  const sums = (table: string) => `-- @kind: period
-- @period: day of day
-- @expose day
SELECT made::DATE AS day, count(*) AS orders, sum(amount) AS amount FROM ${table} GROUP BY ALL
`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/raw/orders.sql':
      '-- @kind: events\norder_id BIGINT NOT NULL,\ncustomer_id BIGINT,\namount INTEGER,\nmade TIMESTAMPTZ\n',
    'models/core/orders.sql': `-- @kind: merge
-- @unique_key: order_id
SELECT order_id, customer_id, amount, made FROM raw.orders
`,
    'models/core/newest.sql': `SELECT order_id, amount, made FROM raw.orders
QUALIFY row_number() OVER (PARTITION BY order_id ORDER BY made DESC) = 1
`,
    'models/mart/behind.sql': sums('core.newest'),
    'models/mart/near.sql': sums('raw.orders'),
    'models/mart/far.sql': sums('core.orders'),
  })
  await using daemon = await startDaemon(space)
  const send = (id: number, customer: number, day: string) =>
    sendOrders(space, daemon.url, [
      { order_id: id, customer_id: customer, amount: 10, made: `2026-${day}T10:00:00Z` },
    ])
  for (const [id, customer, day] of [
    [9, 7, '02-20'],
    [1, 7, '03-01'],
    [2, 8, '03-01'],
    [3, 7, '03-02'],
    [4, 8, '03-03'],
  ] as const)
    await send(id, customer, day)
  await runBeside(space, daemon)
  const asked = ['erase', 'raw.orders', 'customer_id = 7']
  const dry = await space.ok([...asked, '--dry-run'], beside(daemon))
  assert.match(dry.stdout, /would rebuild .*mart\.behind, mart\.far, mart\.near/)
  const { stdout, stderr } = await space.ok(asked, beside(daemon))
  assert.match(stdout, 'mart.behind, mart.far, mart.near')
  assert.not.match(stderr, 'not erased')
  const left = [
    { day: '2026-03-01', orders: 1, amount: 10 },
    { day: '2026-03-03', orders: 1, amount: 10 },
  ]
  const sumsOf = async (name: string) =>
    (await rows(space, `FROM mart.${name} ORDER BY day`)).map(({ day, orders, amount }) => ({
      day,
      orders: Number(orders),
      amount: Number(amount),
    }))
  assert.equal(await sumsOf('near'), left)
  assert.equal(await sumsOf('far'), left)
  assert.equal(await sumsOf('behind'), left)

  // What comes afterwards is found as before, though the table has as many rows as it had.
  await send(5, 8, '03-01')
  await send(6, 8, '03-02')
  await runBeside(space, daemon)
  const more = [
    { day: '2026-03-01', orders: 2, amount: 20 },
    { day: '2026-03-02', orders: 1, amount: 10 },
    { day: '2026-03-03', orders: 1, amount: 10 },
  ]
  assert.equal(await sumsOf('near'), more)
  assert.equal(await sumsOf('far'), more)
})

test.run()
