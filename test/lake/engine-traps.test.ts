// What eider goes around in DuckLake, as facts about the engine: a row that fails after an upgrade names a way around
// that may go, or one that has to be found.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../src/core/resources.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine } from '../support/lake/raw-engine.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { testsSharing } from '../support/shared.ts'

const onLake = testsSharing(async () => {
  await using resources = new Resources()
  const lake = resources.use(await withLake())
  const engine = resources.use(await openRawEngine(lake))
  const connection = await engine.connect()
  const all = resources.move()
  return { lake, engine, connection, [Symbol.asyncDispose]: () => all[Symbol.asyncDispose]() }
}, lakeTest)

const refused: readonly (readonly [string, string, RegExp])[] = [
  [
    'there are no keys',
    'CREATE TABLE r1 (id INTEGER PRIMARY KEY)',
    /PRIMARY KEY\/UNIQUE constraints are not supported in DuckLake/,
  ],
  [
    'there are no checks',
    'CREATE TABLE r2 (id INTEGER CHECK (id > 0))',
    /CHECK constraints are not supported in DuckLake/,
  ],
  ['there are no sequences', 'CREATE SEQUENCE r3', /DuckLake does not support sequences/],
  [
    'there are no types',
    `CREATE TYPE r4 AS ENUM ('a')`,
    /DuckLake does not support user-defined types/,
  ],
  [
    'a transaction writes one database',
    `ATTACH ':memory:' AS r5; BEGIN; CREATE TABLE lake.r5 (n INTEGER); CREATE TABLE r5.main.t (n INTEGER)`,
    /a single transaction can only write to a single attached database/,
  ],
  [
    'options of a schema wait for its COMMIT',
    `BEGIN; CREATE SCHEMA r6; CALL lake.set_option('data_inlining_row_limit', 10, schema => 'r6')`,
    /Settings cannot be set for transaction-local schemas/,
  ],
  [
    'a view is not replaced by a table',
    'CREATE VIEW r7 AS SELECT 1 AS n; CREATE OR REPLACE TABLE r7 AS SELECT 1 AS n',
    /Existing object "?r7"? is of type View, trying to replace with type Table/,
  ],
  [
    'a column of UUID does not become VARCHAR',
    'CREATE TABLE r8 (id UUID); ALTER TABLE r8 ALTER id TYPE VARCHAR',
    /Cannot change type of column id from UUID to VARCHAR/,
  ],
  [
    'a filter with a NUL fails, though the text is stored',
    `CREATE TABLE r9 AS SELECT 'a' || chr(0) AS v; SELECT * FROM r9 WHERE v = 'a' || chr(0)`,
    /Failed to get data file list from DuckLake: .*unterminated quoted string/,
  ],
  [
    'a version that is gone',
    `ATTACH 'ducklake:postgres:' AS r10 (META_SECRET 'lake_catalog', METADATA_SCHEMA 'shop', SNAPSHOT_VERSION 999)`,
    /No snapshot found at version 999/,
  ],
]

for (const [title, statements, message] of refused)
  onLake(title, async ({ engine }) => {
    const connection = await engine.connect()
    const parts = statements.split('; ')
    for (const statement of parts.slice(0, -1)) await connection.run(statement)
    const found = await connection.refusal(parts.at(-1)!)
    assert.match(found, message, found)
    await connection.run('ROLLBACK').catch(() => undefined)
  })

onLake('numbers, DATE and TIMESTAMP are widened in place', async ({ connection }) => {
  for (const [from, to] of [
    ['INTEGER', 'BIGINT'],
    ['FLOAT', 'DOUBLE'],
    ['DATE', 'TIMESTAMP'],
    ['TIMESTAMP', 'TIMESTAMPTZ'],
  ]) {
    await connection.run(`CREATE OR REPLACE TABLE widened (v ${from})`)
    await connection.run(`ALTER TABLE widened ALTER v TYPE ${to}`)
  }
})

onLake('an inlined row with a JSON[] ends the engine', async ({ lake }) => {
  await using engine = await openRawEngine(lake)
  const connection = await engine.connect()
  await connection.run('CREATE SCHEMA inlined')
  await connection.run(`CALL lake.set_option('data_inlining_row_limit', 100, schema => 'inlined')`)
  await connection.run('CREATE TABLE inlined.t (v JSON[])')
  await connection.run(`INSERT INTO inlined.t VALUES (['{"a": 1}'::JSON])`)
  const message = await connection.refusal('FROM inlined.t')
  assert.match(message, /INTERNAL Error/)
})

onLake(
  'where rows are inlined, each table is one of PostgreSQL each time it is made',
  async ({ lake }) => {
    await using engine = await openRawEngine(lake)
    const connection = await engine.connect()
    await connection.run('CREATE SCHEMA remade')
    const tables = async () =>
      (
        await lake.postgres(
          "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'ducklake\\_inlined\\_data\\_%'",
        )
      ).length
    const make = (rows: number) =>
      connection.run(`CREATE OR REPLACE TABLE remade.t AS SELECT id FROM range(${rows}) t(id)`)
    const attachedBytes = async () => {
      lake.catalog.forget()
      await using _other = await openRawEngine(lake)
      return lake.catalog.answeredBytes
    }
    await make(10)
    const before = await tables()
    const bytesBefore = await attachedBytes()
    await connection.run(`CALL lake.set_option('data_inlining_row_limit', 100, schema => 'remade')`)
    for (let i = 1; i <= 3; i++) {
      // Also where the rows lie in a file.
      await make(i === 3 ? 1000 : 10)
      assert.is(await tables(), before + i)
    }
    // Each process that attaches the lake is told of all of them.
    const bytesOfEach = ((await attachedBytes()) - bytesBefore) / 3
    assert.ok(bytesOfEach > 300, `${bytesOfEach}`)
  },
)

onLake('ATTACH shows its text with each error, so a password may not be in it', async (shared) => {
  const { lake, connection } = shared
  const found = await connection.refusal(
    `ATTACH 'ducklake:postgres:host=127.0.0.1 port=1 user=u password=geheim' AS x (DATA_PATH '${lake.data}')`,
  )
  assert.match(found, /geheim/)
})

onLake('errors of a secret show no password', async ({ lake, connection }) => {
  const attach = `ATTACH 'ducklake:postgres:connect_timeout=5' AS x (META_SECRET 'wrong', METADATA_SCHEMA 'shop')`
  const secret = (port: number, password: string) =>
    `CREATE OR REPLACE SECRET wrong (TYPE postgres, HOST '127.0.0.1', PORT ${port}, USER '${lake.user}', PASSWORD '${password}', DATABASE '${lake.database}')`
  await connection.run(secret(lake.catalog.port, 'geheim'))
  const refusal = await connection.refusal(attach)
  assert.match(refusal, /password authentication failed for user/)
  assert.not.match(refusal, /geheim/)
  await connection.run(secret(1, 'geheim'))
  const unreachable = await connection.refusal(attach)
  assert.match(unreachable, /Connection refused/)
  assert.not.match(unreachable, /geheim/)
})

lakeTest('a lake that is not there, one elsewhere, and one of another version', async () => {
  await using lake = await withLake()
  await refusesToAttach(
    lake,
    'READ_ONLY',
    /Existing DuckLake at metadata catalog .* does not exist - and creating a new DuckLake is explicitly disabled/,
  )
  {
    await using _engine = await openRawEngine(lake)
  }
  await refusesToAttach(
    { ...lake, data: `${lake.data}other/` },
    '',
    /DATA_PATH parameter .* does not match existing data path in the catalog/,
  )
  await lake.postgres(`UPDATE shop.ducklake_metadata SET value = '0.2' WHERE key = 'version'`)
  await refusesToAttach(
    lake,
    '',
    /DuckLake catalog version mismatch: catalog version is 0\.2, but the extension requires version 1\.0/,
  )
})

async function refusesToAttach(lake: TestLake, options: string, message: RegExp): Promise<void> {
  try {
    await using _engine = await openRawEngine(lake, { options })
  } catch (error) {
    assert.match(String(error), message, String(error))
    return
  }
  throw new Error(`the lake was attached: ${message.source}`)
}

lakeTest(
  'a server that ends idle transactions fails a long build, unless the session says otherwise',
  async () => {
    await using lake = await withLake()
    await lake.postgres(
      `ALTER DATABASE ${lake.database} SET idle_in_transaction_session_timeout = '300ms'`,
    )
    const build = async (parameters: string): Promise<string> => {
      await using engine = await openRawEngine(lake, { parameters })
      const connection = await engine.connect()
      await connection.run('BEGIN')
      await connection.run('CREATE OR REPLACE TABLE t AS SELECT 1 AS n')
      await new Promise((resolve) => setTimeout(resolve, 800))
      return await connection.run('COMMIT').then(() => 'committed', String)
    }
    assert.match(await build(''), /Failed to commit/)
    const options = `options=''-c idle_in_transaction_session_timeout=0''`
    assert.is(await build(options), 'committed')
  },
)

lakeTest(
  'an advisory lock is waited for as long as asked, and free when its holder is gone',
  async () => {
    await using lake = await withLake()
    const attach = (name: string) =>
      `ATTACH 'application_name=${name}' AS locks (TYPE postgres, SECRET lake_catalog)`
    await using waiter = await openRawEngine(lake)
    const waiting = await waiter.connect()
    await waiting.run(attach('waiter'))
    const lock = async () => {
      await waiting.run('BEGIN')
      await waiting.run(`CALL postgres_execute('locks', 'SET LOCAL lock_timeout = ''200ms''')`)
      return `SELECT * FROM postgres_query('locks', 'SELECT pg_advisory_xact_lock(1, 0)::VARCHAR')`
    }
    {
      await using holder = await openRawEngine(lake)
      const holding = await holder.connect()
      await holding.run(attach('holder'))
      await holding.run('BEGIN')
      await holding.run(
        `FROM postgres_query('locks', 'SELECT pg_advisory_xact_lock(1, 0)::VARCHAR')`,
      )
      assert.match(await waiting.refusal(await lock()), /canceling statement due to lock timeout/)
      await waiting.run('ROLLBACK')
    }
    await waiting.run(await lock())
    await waiting.run('ROLLBACK')
  },
)

test.run()
