// What changes the past, on a lake: a table of another tool that is taken over, a range of a merge, a column of a table and
// one of events that get other names, and an erasure that is killed after each of its steps in turn.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { startDaemon } from '../support/daemon-process.ts'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { findText } from '../support/find-text.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine } from '../support/lake/raw-engine.ts'
import { withLake } from '../support/lake/with-lake.ts'
import type { Running, Workspace } from '../support/workspace.ts'

const rowsOf = async (space: Workspace, query: string) =>
  (await space.ok(['query', '--format', 'csv', query])).stdout.split(/\r?\n/).slice(1, -1)

const adminOf = ({ adminUrl }: Running) => ({ COLLECT_ADMIN_PORT: new URL(adminUrl!).port })

const days = (...rows: readonly string[]) => ['id,day,v', ...rows].join('\n') + '\n'
const FIRST = ['2,2026-03-02,20', '3,2026-03-05,30'] as const

const merge = (column: string) =>
  `-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\n-- @expose id\nSELECT id, day, v AS ${column} FROM raw.s\n`

lakeTest(
  'a table of another tool goes on, with a range replaced and a column renamed',
  async () => {
    await using lake = await withLake()
    await using space = await lakeProject(lake, {
      'seeds/raw/s.csv': days(...FIRST),
      'models/core/m.sql': merge('v'),
      'models/core/h.sql':
        '-- @kind: scd2\n-- @unique_key: id\n-- @deletes: keep\nSELECT id, v FROM raw.s\n',
    })
    await space.ok(['run', 'raw.s'])
    {
      await using engine = await openRawEngine(lake)
      const connection = await engine.connect()
      await connection.run('CREATE SCHEMA core')
      await connection.run(
        "CREATE TABLE core.m AS SELECT * FROM (VALUES (1::BIGINT, DATE '2026-03-02', 10::BIGINT), (2, '2026-03-02', 5)) t(id, day, v)",
      )
      await connection.run(`CREATE TABLE core.h AS SELECT * FROM (VALUES
      (1::BIGINT, 5::BIGINT, 'a', TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-02', TIMESTAMP '2026-01-05'),
      (1, 6, 'b', TIMESTAMP '2026-01-05', TIMESTAMP '2026-01-05', NULL)
      ) t(id, v, dbt_scd_id, dbt_updated_at, dbt_valid_from, dbt_valid_to)`)
    }
    assert.match((await space.ok(['run'], { exitCode: 1 })).stderr, 'that no run created')
    assert.is((await space.ok(['adopt', 'core.m'])).stdout, 'adopted core.m (merge, 2 rows)\n')
    assert.match((await space.ok(['adopt', 'core.h'])).stdout, /^adopted core\.h \(scd2, 2 rows\)/)
    await space.ok(['run'])
    const byId = 'SELECT * FROM core.m ORDER BY id'
    assert.equal(await rowsOf(space, byId), ['1,2026-03-02,10', ...FIRST])
    const versions = 'SELECT id, v, is_current FROM core.h ORDER BY ALL'
    assert.equal(await rowsOf(space, versions), ['1,5,false', '1,6,true', '2,20,true', '3,30,true'])

    await space.ok(['run', 'core.m', '--start', '2026-03-01', '--end', '2026-03-04', '--by', 'day'])
    assert.equal(await rowsOf(space, byId), FIRST)
    await space.write('models/core/m.sql', merge('w'))
    await space.ok(['mv', 'core.m.v', 'core.m.w'])
    await space.write('seeds/raw/s.csv', days('4,2026-03-06,40'))
    await space.ok(['run', '--accept', 'core.m'])
    assert.equal(await rowsOf(space, 'SELECT id, w FROM core.m ORDER BY id'), [
      '2,20',
      '3,30',
      '4,40',
    ])
  },
)

lakeTest('events of the former name fill the column that was renamed', async () => {
  await using lake = await withLake()
  const events = (line: string, column: string) =>
    `-- @kind: events\n${line}id INTEGER,\n${column} INTEGER,\nreceived_at TIMESTAMPTZ\n`
  const log = (column: string) =>
    `-- @kind: append\n-- @incremental: received_at\n-- @unique_key: id\nSELECT id, ${column} AS v, received_at FROM raw.orders\n`
  await using space = await lakeProject(lake, {
    'models/raw/orders.sql': events('', 'total'),
    'models/core/log.sql': log('total'),
  })
  await using daemon = await startDaemon(space)
  const env = adminOf(daemon)
  await sendOrders(space, daemon.url, [{ id: 1, total: 10 }])
  await space.ok(['run'], { env })
  await sendOrders(space, daemon.url, [{ id: 2, total: 20 }])
  await space.write('models/raw/orders.sql', events('-- @renamed_from sum: total\n', 'sum'))
  await space.write('models/core/log.sql', log('sum'))
  await space.ok(['run'], { env })
  await sendOrders(space, daemon.url, [
    { id: 3, total: 30 },
    { id: 4, sum: 40 },
  ])
  await space.ok(['run'], { env })
  const all = ['1,10', '2,20', '3,30', '4,40']
  assert.equal(await rowsOf(space, 'SELECT id, sum FROM raw.orders ORDER BY id'), all)
  assert.equal(await rowsOf(space, 'SELECT id, v FROM core.log ORDER BY id'), all)
})

const SECRET = 'Mathilde-7f3a'
const CONDITION = 'customer_id = 7'

lakeTest(
  'an erasure that is killed after each of its steps ends with the same command',
  async () => {
    await using lake = await withLake()
    const models = Object.entries(eraseFiles).filter(([path]) => path.startsWith('models/'))
    await using space = await lakeProject(lake, Object.fromEntries(models))
    for (const round of [1, 2]) {
      await using daemon = await startDaemon(space)
      await sendOrders(space, daemon.url, [
        { order_id: round, customer_id: 7, name: SECRET, amount: round },
        { order_id: 10 + round, customer_id: 8, name: 'Olga', amount: round },
      ])
      if (round === 1) await space.ok(['run'], { env: adminOf(daemon) })
    }
    await space.ok(['pull'])
    const steps = ['flushed', 'recorded', 'committed', 'deleted', 'built', 'rewritten'] as const
    for (const step of steps) {
      const script = fileURLToPath(new URL('../support/erase-child.js', import.meta.url))
      const child = spawn(process.execPath, [script, space.dir, 'raw.orders', CONDITION, step], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, ...lake.env },
      })
      const [, signal] = (await once(child, 'close')) as [number | null, string | null]
      assert.is(signal, 'SIGKILL', `it was not killed after ${step}`)
    }
    await space.ok(['erase', 'raw.orders', CONDITION])
    assert.equal(await findText(space.dir, SECRET), [])
    assert.equal(await rowsOf(space, 'SELECT DISTINCT name FROM raw.orders'), ['Olga'])
    assert.equal(await rowsOf(space, 'SELECT DISTINCT called FROM core.history'), ['Olga'])
    assert.match((await space.ok(['erase', 'raw.orders', CONDITION])).stdout, 'nothing was changed')
  },
)

test.run()
