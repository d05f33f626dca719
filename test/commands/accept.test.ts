// A set whose clients would break stays as it is published until somebody accepts the change.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const orders = (columns: string, header = '') => ({
  'models/core/orders.sql': `-- @expose id\n${header}SELECT ${columns} FROM raw.orders\n`,
})

const files = {
  'eider.yml': 'name: shop\n',
  'seeds/raw/orders.csv': 'id,total\n1,10\n2,20\n',
  ...orders('id, total, total AS gross'),
  'models/mart/sum.sql': '-- @expose n\nSELECT count(*) AS n, sum(id) AS ids FROM core.orders\n',
}

async function edit(space: Workspace, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(texts)) await space.write(path, text)
}

/** The names of the columns that clients see. */
async function served(space: Workspace): Promise<readonly string[]> {
  const { stdout } = await space.ok(['odata', 'preview', 'core_orders?$top=1'])
  const { value } = JSON.parse(stdout) as { readonly value: readonly object[] }
  return Object.keys(value[0]!)
}

const stopped = async (space: Workspace, args: readonly string[] = ['run']) =>
  (await space.ok(args, { exitCode: 1 })).stdout.replaceAll(/\s+/g, ' ')

test('a column that goes stops at publication, and plan --accept lets the next run publish it', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await edit(space, orders('id, total, 3 AS net'))
  const run = await stopped(space)
  assert.match(run, / built core\.orders .* built mart\.sum /)
  assert.match(
    run,
    /failed core\.orders models\/core\/orders\.sql:1:4: clients of core_orders would break, so it stays as it was published: property gross removed; if they are ready: eider run --accept core\.orders, or eider plan --accept core\.orders for the next run/,
  )
  assert.equal(await served(space), ['id', 'total', 'gross'])
  const table = await space.ok(['query', '--format', 'csv', 'SELECT net FROM core.orders'])
  assert.match(table.stdout, /net\s+3\s+3\s+$/)

  // Nothing is built any more, and nothing is accepted by itself.
  assert.match(await stopped(space), /failed core\.orders .* 1 failed, 2 unchanged/)
  const plan = await space.ok(['plan'], { exitCode: 1 })
  assert.match(plan.stderr, 'eider plan --accept core.orders')
  assert.equal(await served(space), ['id', 'total', 'gross'])

  const accepted = await space.ok(['plan', '--accept', 'core.orders', '--json'])
  const changes = accepted.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event, breaking }) => event === 'contract-change' && breaking === true)
  assert.equal(
    changes.map(({ set, change, accepted: is }) => [set, change, is]),
    [['core_orders', 'property gross removed', true]],
  )
  assert.match((await space.ok(['plan'])).stderr, /accepted: the next run publishes core_orders/)
  const next = await space.ok(['run'])
  assert.match(next.stdout, /breaking +core_orders +property gross removed/)
  assert.equal(await served(space), ['id', 'total', 'net'])

  // The same change of later is another.
  await edit(space, orders('id, total, total AS gross'))
  await space.ok(['run', '--accept', 'core.orders'])
  await edit(space, orders('id, total, 3 AS net'))
  assert.match(await stopped(space), /property gross removed/)
})

test('those who read a set that would break are named', async () => {
  const token = (name: string, sets: string) =>
    `    - name: ${name}\n      hash: sha256:${name === 'excel' ? '1'.repeat(64) : '2'.repeat(64)}\n      sets: [${sets}]\n`
  await using space = await workspace({
    ...files,
    'eider.yml': `name: shop\nodata:\n  tokens:\n${token('excel', 'core_*')}${token('other', 'mart_sum')}`,
    'models/mart/big.sql': 'SELECT id FROM core.orders WHERE total > 15\n',
    'models/mart/sum.sql':
      '-- @expose n\nSELECT count(*) AS n, max(o.total) AS most FROM core.orders o JOIN mart.big b ON b.id = o.id\n',
    'models/mart/ids.sql': 'SELECT id FROM core.orders\n',
  })
  await space.ok(['run'])
  await edit(space, orders('id, total::DOUBLE AS total, total AS gross'))
  const readers = {
    models: ['mart.big', 'mart.sum'],
    sets: ['mart_sum'],
    tokens: ['excel'],
  }
  const said = 'read by mart.big, mart.sum (set mart_sum) and the token "excel"'
  const plan = await space.ok(['plan'], { exitCode: 1 })
  assert.match(plan.stdout, `property total retyped from BIGINT to DOUBLE\n           ${said}\n`)
  const events = async (args: readonly string[]) =>
    (await space.ok([...args, '--json'], { exitCode: 1 })).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  const readBy = (found: readonly Record<string, unknown>[]) =>
    found.flatMap((one) => (one['read_by'] === undefined ? [] : [one['read_by']]))
  const others = { models: [], sets: [], tokens: ['other'] }
  assert.equal(readBy(await events(['plan'])), [readers, others])
  const ran = await events(['run', '--accept', 'mart.sum'])
  assert.equal(readBy(ran.filter(({ model }) => model === 'core.orders')), [readers])
  const text = String(ran.find(({ status }) => status === 'failed')?.['because'])
  assert.match(text, `from BIGINT to DOUBLE; ${said}; if they are ready`)
})

test('what is accepted is what the plan said, and no more', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await edit(space, orders('id, total'))
  await space.ok(['plan', '--accept', 'core.orders'])
  await edit(space, orders('id, total::VARCHAR AS total'))
  const run = await stopped(space)
  assert.match(run, /published: property total retyped from BIGINT to VARCHAR; if/)
  assert.equal(await served(space), ['id', 'total', 'gross'])
  // Before it is built as well.
  await edit(space, orders('id, 1.5 AS total'))
  await space.ok(['plan', '--accept', 'all'])
  await space.ok(['run'])
  assert.equal(await served(space), ['id', 'total'])
  assert.match((await space.ok(['plan', '--accept', 'all'])).stderr, /there is nothing to accept/)
})

test('run --accept takes models of the project, or all', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await edit(space, {
    ...orders('id'),
    'models/mart/sum.sql': '-- @expose n\nSELECT count(*) AS n FROM core.orders\n',
  })
  const wrong = await space.ok(['run', '--accept', 'core.order'], { exitCode: 2 })
  assert.match(wrong.stderr, /--accept: the project has no model core\.order/)
  const one = await stopped(space, ['run', '--accept', 'CORE.orders'])
  assert.match(
    one,
    /failed mart\.sum .*property ids removed.* breaking core_orders property total removed/,
  )
  assert.equal(await served(space), ['id'])
  const all = await space.ok(['run', '--accept', 'all'])
  assert.match(all.stdout, /breaking +mart_sum +property ids removed/)
})

test('a column that a source drops stops as well, and what it adds is published', async () => {
  await using space = await workspace({
    ...files,
    'models/core/orders.sql': '-- @expose id\nSELECT * FROM raw.orders\n',
  })
  await space.ok(['run'])
  await space.write('seeds/raw/orders.csv', 'id,total,day\n1,10,2026-01-01\n')
  await space.ok(['run'])
  assert.equal(await served(space), ['id', 'total', 'day'])
  await space.write('seeds/raw/orders.csv', 'id,day\n1,2026-01-01\n')
  assert.match(await stopped(space), /failed core\.orders .*property total removed/)
  assert.equal(await served(space), ['id', 'total', 'day'])
  await space.write('seeds/raw/orders.csv', 'id,total,day\n1,10,2026-01-01\n')
  await space.ok(['run'])
  assert.equal(await served(space), ['id', 'total', 'day'])
})

test('what breaks no client is published, and what it has as a key stops', async () => {
  await using space = await workspace({
    ...files,
    ...orders('id, total, 1.5::DECIMAL(9,2) AS gross'),
  })
  await space.ok(['run'])
  await edit(
    space,
    orders('7 AS more, 1.5::DECIMAL(18,2) AS gross, id, total', '-- @description: other\n'),
  )
  await space.ok(['run'])
  assert.equal(await served(space), ['more', 'gross', 'id', 'total'])
  await edit(space, {
    'models/core/orders.sql':
      '-- @expose total\nSELECT 7 AS more, 1.5 AS gross, id, total FROM raw.orders\n',
  })
  assert.match(
    await stopped(space),
    /key changed from \(id\) to \(total\); property id may now be null/,
  )
})

test('a set that goes is said, and one with a contract goes by its contract', async () => {
  const contract = (lines: string) => orders('id, total', lines)
  await using space = await workspace({
    ...files,
    ...orders('id, total, 3 AS net', '-- @contract: key(id)\n-- @contract: id BIGINT NOT NULL\n'),
  })
  await space.ok(['run'])
  await edit(space, contract('-- @contract: key(id)\n-- @contract: id BIGINT NOT NULL\n'))
  assert.match((await space.ok(['run'])).stdout, /breaking +core_orders +property net removed/)
  await space.write('models/mart/sum.sql', 'SELECT 1 AS n\n')
  assert.match((await space.ok(['run'])).stdout, /breaking +mart_sum +entity set removed/)
})

test('a column that somebody drops by hand stops at eider publish', async () => {
  await using space = await workspace({
    ...files,
    'models/core/orders.sql': `-- @kind: append
-- @incremental: id
-- @expose id
SELECT id, total, total AS gross FROM raw.orders\n`,
  })
  await space.ok(['run'])
  {
    await using database = await Database.open({ path: space.path('.eider', 'warehouse.duckdb') })
    await using connection = await database.connect()
    await connection.run(sql`ALTER TABLE core.orders DROP COLUMN gross`)
  }
  const { stderr } = await space.ok(['publish', 'core.orders'], { exitCode: 3 })
  assert.match(
    stderr.replaceAll(/\s+/g, ' '),
    /core_orders would break.* property gross removed.*nothing was published/,
  )
  assert.equal(await served(space), ['id', 'total', 'gross'])
  await space.ok(['plan', '--accept', 'core.orders'])
  await space.ok(['publish', 'core.orders'])
  assert.equal(await served(space), ['id', 'total'])
})

test.run()
