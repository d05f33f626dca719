// A column that gets another name without losing the rows of its table: by a line of the model, or at once by `eider mv`.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const orders = (column: string, more = '') =>
  `-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from\n${more}SELECT id, total AS ${column} FROM raw.orders\n`

const project = {
  'eider.yml': 'name: s\n',
  'seeds/raw/orders.csv': 'id,total\n1,10\n2,20\n',
  'models/core/orders.sql': orders('total'),
}

const CHANGED = 'id,total\n1,11\n2,20\n'

test('@renamed_from: the plan says what clients lose, and the run keeps the history', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await space.write('seeds/raw/orders.csv', CHANGED)
  await space.write('models/core/orders.sql', orders('total_eur'))
  const refused = await space.ok(['run'], { exitCode: 1 })
  assert.match(
    refused.stderr,
    'write -- @renamed_from total_eur: total, or run eider mv core.orders.total core.orders.total_eur',
  )
  await space.write(
    'models/core/orders.sql',
    orders('total_eur', '-- @renamed_from total_eur: total\n'),
  )
  const plan = await space.ok(['plan', '--diff'], { exitCode: 1 })
  assert.match(plan.stdout, /~ total_eur BIGINT, renamed from total\n/)
  assert.match(plan.stdout, /2 -> 3 rows: 0 inserted, 1 changed, 0 removed/)
  assert.match(plan.stdout, /breaking +core_orders +property total removed/)
  const [step] = (await space.ok(['plan', '-s', 'core.orders', '--json'], { exitCode: 1 })).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { columns: unknown })
  const type = 'BIGINT'
  assert.equal(step!.columns, [{ column: 'total_eur', from: type, to: type, renamedFrom: 'total' }])
  const run = await space.ok(['run', '--accept', 'core.orders'])
  assert.match(run.stdout, /breaking +core_orders +property total removed/)
  const rows = await space.ok([
    'query',
    '--format',
    'csv',
    'SELECT id, total_eur FROM core.orders ORDER BY ALL',
  ])
  assert.is(rows.stdout.replaceAll('\r', ''), 'id,total_eur\n1,10\n1,11\n2,20\n')
  const published = await space.ok([
    'odata',
    'preview',
    'core_orders?$filter=total_eur eq 10&$count=true',
  ])
  assert.match(published.stdout, '"@odata.count":1')
})

test('a renamed watermark or period column: plans, ranges and runs read it under the new name', async () => {
  const log = (column: string, header: string) =>
    `-- @unique_key: id\n${header}\nSELECT id, day AS ${column} FROM raw.log\n`
  const headers = {
    append: (column: string) => `-- @kind: append\n-- @incremental: ${column}`,
    period: (column: string) => `-- @kind: period\n-- @period: day of ${column}`,
  }
  const files = (column: string, more = '') =>
    Object.entries(headers).map(
      ([kind, header]) => [`models/core/${kind}.sql`, log(column, header(column) + more)] as const,
    )
  await using space = await workspace({
    'eider.yml': 'name: s\n',
    'seeds/raw/log.csv': 'id,day\n1,2026-01-01\n2,2026-01-05\n',
    ...Object.fromEntries(files('day')),
  })
  await space.ok(['run'])
  await space.write('seeds/raw/log.csv', 'id,day\n2,2026-01-05\n3,2026-01-06\n')
  for (const [path, text] of files('on_day', '\n-- @renamed_from on_day: day'))
    await space.write(path, text)
  const range = ['--start', '2026-01-05', '--end', '2026-01-07']
  const planned = await space.ok(['plan', '-s', 'core.*', ...range])
  assert.match(planned.stdout, 'replaces 1 row whose on_day is at least')
  await space.ok(['plan', '--diff'])
  await space.ok(['run'])
  // An append keeps a row that is gone from the seed, and a period goes with it.
  const kept = { append: '1,2026-01-01\n', period: '' }
  for (const [kind, first] of Object.entries(kept)) {
    const rows = await space.ok([
      'query',
      '--format',
      'csv',
      `SELECT id, on_day FROM core.${kind} ORDER BY id`,
    ])
    assert.is(
      rows.stdout.replaceAll('\r', ''),
      `id,on_day\n${first}2,2026-01-05\n3,2026-01-06\n`,
      kind,
    )
  }
})

test('eider mv renames the column at once, and the run refuses the table until the model has the name', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  const moved = await space.ok(['mv', 'core.orders.TOTAL', 'core.orders.total_eur'])
  assert.is(moved.stdout, 'renamed core.orders.total to total_eur in the warehouse\n')
  assert.match(moved.stderr, 'models/core/orders.sql has to give the column that name too')
  const behind = await space.ok(['run'], { exitCode: 1 })
  assert.match(behind.stderr, 'no longer has "total_eur", which the table holds')
  // What is published stays as it was.
  assert.match((await space.ok(['odata', 'preview', 'core_orders'])).stdout, '"total":10')
  await space.write('models/core/orders.sql', orders('total_eur'))
  const run = await space.ok(['run', '--accept', 'core.orders'])
  assert.match(run.stdout, /built +core\.orders +0 rows/)
  assert.match((await space.ok(['odata', 'preview', 'core_orders'])).stdout, '"total_eur":10')
  assert.match((await space.ok(['run'])).stdout, /2 unchanged/)
  const json = await space.ok(['mv', 'core.orders.total_eur', 'core.orders.total', '--json'])
  assert.equal(JSON.parse(json.stdout), {
    event: 'column-renamed',
    model: 'core.orders',
    from: 'total_eur',
    to: 'total',
  })
})

test('eider mv of a column says what is in the way', async () => {
  await using space = await workspace({
    ...project,
    'models/core/plain.sql': 'SELECT 1 AS a\n',
    'models/core/clicks.sql': '-- @kind: events\npath VARCHAR\n',
  })
  const refused = async (from: string, to: string, ...more: readonly string[]) =>
    (await space.ok(['mv', from, to, ...more], { exitCode: 2 })).stderr
  await space.ok(['run'])
  const total = 'core.orders.total'
  assert.match(await refused('core.orders.totl', 'core.orders.x'), 'has no column "totl"')
  assert.match(await refused('core.orders.totl', 'core.orders.x'), 'did you mean "total"?')
  assert.match(await refused('core.orders.x', total), 'it has "total" already')
  assert.match(await refused(total, 'core.orders.ID'), 'already has a column "id"')
  assert.match(await refused('core.orders.valid_to', 'core.orders.x'), 'a run adds the column')
  assert.match(await refused(total, 'core.plain.total'), 'are columns of two models')
  assert.match(await refused(total, 'core.total'), 'are not two models, nor two columns of one')
  assert.match(await refused(total, 'core.orders.'), 'write the new name')
  assert.match(await refused(total, 'core.orders.x', '--replace'), 'never replaces')
  assert.match(await refused('core.plain.a', 'core.plain.b'), 'of kind table')
  assert.match(
    await refused('core.clicks.path', 'core.clicks.url'),
    'write -- @renamed_from url: path',
  )
  assert.match(await refused('core.none.a', 'core.none.b'), 'no run has made a table core.none')
  assert.match(await refused(total, total), 'write the new name')
})

test.run()
