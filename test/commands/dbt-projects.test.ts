// Pieces of dbt projects, each as a project of its own: after every run its rows are those that the statements of dbt make of
// the same input, in an engine beside it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

interface Both extends AsyncDisposable {
  readonly space: Workspace
  readonly dbt: Connection
  /** Gives both sides the next state of the table `raw.s`. */
  input(csv: string): Promise<void>
  /** Rows of the warehouse. */
  rows(query: string): Promise<readonly string[]>
  /** Rows of the engine beside it, in the same form. */
  dbtRows(query: Sql): Promise<readonly string[]>
}

const textOf = (row: Readonly<Record<string, unknown>>) => Object.values(row).map(String).join(' ')

async function both(model: string, types: Sql): Promise<Both> {
  const resources = new Resources()
  const space = resources.use(
    await workspace({ 'eider.yml': 'name: ported\n', 'models/core/t.sql': model }),
  )
  const database = resources.use(await Database.open({ path: ':memory:', threads: 1 }))
  const dbt = resources.use(await database.connect())
  return {
    space,
    dbt,
    async input(csv) {
      await space.write('seeds/raw/s.csv', csv)
      const path = sql.value(space.path('seeds/raw/s.csv'))
      await dbt.run(
        sql`CREATE OR REPLACE TABLE s AS FROM read_csv(${path}, header = true, types = ${types})`,
      )
    },
    async rows(query) {
      const { stdout } = await space.ok(['query', query, '--json'])
      const found = stdout.trim() === '' ? [] : stdout.trim().split('\n')
      return found.map((line) => textOf(JSON.parse(line) as Record<string, unknown>))
    },
    async dbtRows(query) {
      const found = await dbt.rows(query)
      return found.map(textOf)
    },
    [Symbol.asyncDispose]: () => resources[Symbol.asyncDispose](),
  }
}

test('daily-replace: microbatch with a lookback', async () => {
  await using project = await both(
    `-- @kind: period
-- @period: day of day lookback 2 days
SELECT sold::DATE AS day, region, sum(amount)::INTEGER AS revenue FROM raw.s GROUP BY ALL
`,
    sql`{'sold': 'TIMESTAMP'}`,
  )
  const { space, dbt } = project
  const daily = sql`SELECT sold::DATE AS day, region, sum(amount)::INTEGER AS revenue FROM s GROUP BY ALL`
  // Each batch of dbt deletes one day and inserts what the SELECT gives for it.
  const microbatch = async (start: Sql) => {
    const since = sql`day >= ${start}`
    await dbt.run(sql`DELETE FROM t WHERE ${since}; INSERT INTO t FROM (${daily}) WHERE ${since}`)
  }
  const own = () =>
    project.rows('SELECT day::VARCHAR, region, revenue FROM core.t ORDER BY day, region')
  const theirs = (from: Sql) =>
    project.dbtRows(sql`SELECT day::VARCHAR, region, revenue FROM (${from}) ORDER BY day, region`)

  await project.input(`sold,region,amount
2026-03-01 08:00:00,north,10
2026-03-04 08:00:00,north,20
2026-03-05 09:00:00,north,30
2026-03-05 10:00:00,south,40
`)
  await dbt.run(sql`CREATE TABLE t AS ${daily}`)
  await space.ok(['run'])
  assert.equal(await own(), await theirs(sql`FROM t`))

  // The south is cancelled, the fourth gets a late row, the sixth begins.
  await project.input(`sold,region,amount
2026-03-01 08:00:00,north,10
2026-03-04 08:00:00,north,20
2026-03-04 23:59:59,north,5
2026-03-05 09:00:00,north,30
2026-03-06 00:00:00,south,7
`)
  await microbatch(sql`DATE '2026-03-03'`)
  await space.ok(['run'])
  assert.equal(await own(), await theirs(sql`FROM t`))
  assert.equal(await own(), [
    '2026-03-01 north 10',
    '2026-03-04 north 25',
    '2026-03-05 north 30',
    '2026-03-06 south 7',
  ])

  // The first is corrected, which is further back than dbt looks.
  await project.input(`sold,region,amount
2026-03-01 08:00:00,north,99
2026-03-06 00:00:00,south,7
2026-03-07 00:00:00,south,8
`)
  await microbatch(sql`DATE '2026-03-04'`)
  await space.ok(['run'])
  assert.equal(await theirs(sql`FROM t`), [
    '2026-03-01 north 10',
    '2026-03-06 south 7',
    '2026-03-07 south 8',
  ])
  assert.equal(await own(), await theirs(daily))
})

test('gone-column: on_schema_change append_new_columns', async () => {
  await using project = await both(
    `-- @kind: merge
-- @unique_key: id
-- @on_schema_change: keep
-- @expose id
FROM raw.s
`,
    sql`{'id': 'BIGINT'}`,
  )
  const { space, dbt } = project
  const own = () => project.rows('SELECT id, v, coalesce(country, $$-$$) FROM core.t ORDER BY id')
  const theirs = () => project.dbtRows(sql`SELECT id, v, coalesce(country, '-') FROM t ORDER BY id`)
  const served = async () => {
    const { stdout } = await space.ok(['odata', 'preview', 'core_t?$top=1'])
    return Object.keys(JSON.parse(stdout).value[0])
  }
  await project.input('id,v,country\n1,a,NO\n2,b,SE\n')
  await dbt.run(sql`CREATE TABLE t AS FROM s`)
  await space.ok(['run'])
  assert.equal(await own(), await theirs())
  assert.equal(await served(), ['id', 'v', 'country'])
  // dbt merges by the columns that the source still has.
  const merge = () =>
    dbt.run(sql`
      MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v
      WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)`)
  await project.input('id,v\n1,changed\n3,c\n')
  const { stdout } = await space.ok(['plan', '--diff'], { exitCode: 1 })
  assert.match(stdout, '1 inserted, 1 changed, 0 removed')
  assert.match(stdout, /breaking +core_t +property country removed/)
  await merge()
  await space.ok(['run', '--accept', 'core.t'])
  assert.equal(await own(), await theirs())
  assert.equal(await own(), ['1 changed NO', '2 b SE', '3 c -'])
  assert.equal(await served(), ['id', 'v'])
})

test('reads-itself: rows beyond the greatest that the table has, which is a watermark here', async () => {
  await using project = await both(
    `-- @kind: append
-- @unique_key: id
-- @incremental: id
SELECT id, v FROM raw.s WHERE id > (SELECT coalesce(max(id), 0) FROM core.t)
`,
    sql`{'id': 'BIGINT'}`,
  )
  const { space, dbt } = project
  await project.input('id,v\n1,a\n3,c\n')
  const { stdout } = await space.ok(['check'], { exitCode: 1 })
  assert.match(stdout, 'error dependency-cycle: core.t reads itself')
  assert.match(stdout, 'a table that keeps its rows is @kind: append or @kind: merge')

  await space.write(
    'models/core/t.sql',
    '-- @kind: append\n-- @unique_key: id\n-- @incremental: id\nSELECT id, v FROM raw.s\n',
  )
  await dbt.run(sql`CREATE TABLE t AS FROM s`)
  await space.ok(['run'])
  const own = () => project.rows('FROM core.t ORDER BY id')
  const theirs = () => project.dbtRows(sql`FROM t ORDER BY id`)
  assert.equal(await own(), await theirs())
  // The source forgets the first, changes the third, which neither takes, and has two more.
  await project.input('id,v\n3,changed\n4,d\n5,e\n')
  await dbt.run(
    sql`INSERT INTO t SELECT id, v FROM s WHERE id > (SELECT coalesce(max(id), 0) FROM t)`,
  )
  await space.ok(['run'])
  assert.equal(await own(), await theirs())
  assert.equal(await own(), ['1 a', '3 c', '4 d', '5 e'])
})

test('reference-back: items refer to orders that are made of items', async () => {
  await using project = await both('FROM raw.s\n', sql`{'item': 'BIGINT'}`)
  const { space } = project
  await space.write(
    'models/core/orders.sql',
    'SELECT order_id, sum(price)::INTEGER AS total FROM core.t WHERE price > 0 GROUP BY ALL\n',
  )
  await space.write(
    'models/core/t.sql',
    '-- @check: references(order_id, core.orders.order_id)\nFROM raw.s\n',
  )
  await project.input('item,order_id,price\n1,1,5\n2,1,6\n3,2,7\n')
  const circle = await space.ok(['check'], { exitCode: 1 })
  assert.match(
    circle.stdout,
    'models/core/t.sql:1:33 error dependency-cycle: these models depend on each other',
  )
  assert.match(circle.stdout, 'hint: this line makes core.t wait for core.orders')

  await space.write('models/core/t.sql', 'FROM raw.s\n')
  await space.write(
    'checks/items_have_orders.sql',
    'SELECT item, order_id FROM core.t ANTI JOIN core.orders USING (order_id)\n',
  )
  await space.ok(['run'])
  await project.input('item,order_id,price\n1,1,5\n2,1,6\n3,2,7\n4,9,0\n')
  // What the test of dbt asks, of tables that are both built.
  const [failures] = await project.dbtRows(sql`
    SELECT count(*) FROM s WHERE order_id IS NOT NULL
    AND order_id NOT IN (SELECT order_id FROM s WHERE price > 0)`)
  const failed = await space.ok(['run'], { exitCode: 1 })
  assert.match(failed.stderr, `checks/items_have_orders.sql finds ${failures} row: {'item': 4,`)
  await project.input('item,order_id,price\n1,1,5\n2,1,6\n3,2,7\n4,9,8\n')
  await space.ok(['run'])
  assert.equal(await project.rows('FROM core.orders ORDER BY order_id'), ['1 11', '2 7', '9 8'])
})

/** The versions of a snapshot of dbt: each time is its place among all times. */
const versions = (columns: Sql) => sql`
  WITH times AS (SELECT valid_from AS moment FROM t UNION SELECT valid_to FROM t WHERE valid_to IS NOT NULL),
  places AS (SELECT moment, row_number() OVER (ORDER BY moment) AS place FROM times)
  SELECT ${columns}, a.place, coalesce(b.place::VARCHAR, 'now')
  FROM t JOIN places a ON a.moment = valid_from LEFT JOIN places b ON b.moment = valid_to
  ORDER BY ${columns}, a.place`

const ownVersions = (columns: string) => `
  WITH times AS (SELECT valid_from AS moment FROM core.t UNION SELECT valid_to FROM core.t WHERE valid_to IS NOT NULL),
  places AS (SELECT moment, row_number() OVER (ORDER BY moment) AS place FROM times)
  SELECT ${columns}, a.place, coalesce(b.place::VARCHAR, 'now') AS until
  FROM core.t JOIN places a ON a.moment = valid_from LEFT JOIN places b ON b.moment = valid_to
  ORDER BY ${columns}, a.place`

interface Snapshot {
  /** Whether the row `s` of the source is another version than the current one, `t`. */
  readonly isNew: Sql
  readonly time: Sql
  readonly closesGone: boolean
}

/** What `dbt snapshot` does to the table `t`: versions end, are corrected never, and begin. */
async function snapshot(dbt: Connection, { isNew, time, closesGone }: Snapshot): Promise<void> {
  const isCurrent = sql`t.id = s.id AND t.valid_to IS NULL`
  await dbt.run(sql`
    CREATE OR REPLACE TEMP TABLE found AS
    SELECT s.*, ${time} AS valid_from, NULL::TIMESTAMP AS valid_to FROM s
    WHERE NOT EXISTS (SELECT 1 FROM t WHERE ${isCurrent} AND NOT (${isNew}));
    UPDATE t SET valid_to = found.valid_from FROM found WHERE t.id = found.id AND t.valid_to IS NULL`)
  if (closesGone)
    await dbt.run(
      sql`UPDATE t SET valid_to = ${time} WHERE valid_to IS NULL AND id NOT IN (SELECT id FROM s)`,
    )
  await dbt.run(sql`INSERT INTO t BY NAME FROM found`)
}

const SNAPSHOT = sql`CREATE TABLE t AS SELECT *, `

test('snapshot-by-time: a version begins when the row says so', async () => {
  await using project = await both(
    '-- @kind: scd2\n-- @unique_key: id\n-- @valid_from: changed\n-- @deletes: keep\nFROM raw.s\n',
    sql`{'changed': 'TIMESTAMP'}`,
  )
  const { space, dbt } = project
  const columns = 'id, v, changed::VARCHAR'
  const same = async () => {
    const own = await project.rows(`SELECT id, v, valid_from AT TIME ZONE 'UTC' AS f,
      coalesce((valid_to AT TIME ZONE 'UTC')::VARCHAR, 'now') AS u, ${columns} AS c FROM core.t ORDER BY id, valid_from`)
    const theirs = await project.dbtRows(sql`SELECT id, v, valid_from::VARCHAR,
      coalesce(valid_to::VARCHAR, 'now'), id, v, changed::VARCHAR FROM t ORDER BY id, valid_from`)
    assert.equal(own, theirs)
    return own.length
  }
  const next = () =>
    snapshot(dbt, { isNew: sql`t.valid_from < s.changed`, time: sql`s.changed`, closesGone: false })
  await project.input(
    'id,v,changed\n1,open,2026-01-02 10:00:00\n2,open,2026-01-03 10:00:00\n3,open,2026-01-03 11:00:00\n',
  )
  await dbt.run(sql`${SNAPSHOT} changed AS valid_from, NULL::TIMESTAMP AS valid_to FROM s`)
  await space.ok(['run'])
  assert.is(await same(), 3)
  // One changes, one is gone, one is new, one is as it was.
  await project.input(
    'id,v,changed\n1,paid,2026-01-09 09:30:00\n2,open,2026-01-03 10:00:00\n4,open,2026-01-01 00:00:00\n',
  )
  await next()
  await space.ok(['run'])
  assert.is(await same(), 5)
  await project.input(
    'id,v,changed\n1,sent,2026-01-12 00:00:00\n2,paid,2026-01-12 00:00:01\n3,open,2026-01-13 00:00:00\n',
  )
  await next()
  await space.ok(['run'])
  assert.is(await same(), 8)
})

const ANY = sql`t.v IS DISTINCT FROM s.v OR t.note IS DISTINCT FROM s.note`

const checked: readonly (readonly [string, string, Sql, boolean])[] = [
  ['snapshot-keeps-gone: a row that is gone stays current', '-- @deletes: keep\n', ANY, false],
  ['snapshots end what is gone, with hard_deletes: invalidate', '', ANY, true],
  [
    'snapshot-some-columns: only some open a version',
    '-- @compare: v\n-- @deletes: keep\n',
    sql`t.v IS DISTINCT FROM s.v`,
    false,
  ],
]

for (const [name, header, isNew, closesGone] of checked)
  test(name, async () => {
    await using project = await both(
      `-- @kind: scd2\n-- @unique_key: id\n${header}FROM raw.s\n`,
      sql`{'id': 'BIGINT'}`,
    )
    const { space, dbt } = project
    const rounds = [
      'id,v,note\n1,a,x\n2,b,y\n3,c,z\n4,d,\n',
      'id,v,note\n1,a,other\n2,bb,other\n5,e,w\n4,d,\n',
      'id,v,note\n1,aa,third\n2,bb,third\n3,c,z\n',
      'id,v,note\n1,a,x\n2,b,y\n3,c,z\n4,d,now\n5,e,w\n',
    ]
    const days = [
      sql`TIMESTAMP '2026-01-01'`,
      sql`TIMESTAMP '2026-01-02'`,
      sql`TIMESTAMP '2026-01-03'`,
      sql`TIMESTAMP '2026-01-04'`,
    ]
    for (const [day, csv] of rounds.entries()) {
      await project.input(csv)
      const time = days[day]!
      if (day === 0)
        await dbt.run(sql`${SNAPSHOT} ${time} AS valid_from, NULL::TIMESTAMP AS valid_to FROM s`)
      else await snapshot(dbt, { isNew, time, closesGone })
      await space.ok(['run'])
      const own = await project.rows(ownVersions('id, v, note'))
      assert.equal(own, await project.dbtRows(versions(sql`id, v, note`)), `round ${day}`)
    }
  })

test.run()
