// What a run says when a database of a source does not give what it should: where, what was seen, and what to do.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { runResults } from '../support/run-results.ts'
import { until } from '../support/until.ts'
import { workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

lakeTest(
  'a PostgreSQL server that is lost while it is read costs its readers alone, and the source is named',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    const slow = (seconds: number) =>
      server.postgres(
        `CREATE OR REPLACE VIEW public.slow AS SELECT i AS id, pg_sleep(${seconds})::text AS waited FROM generate_series(1, 40) i; GRANT SELECT ON public.slow TO ${user}`,
      )
    await slow(0.5)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      slow:\n  other:\n    postgres: ${url}\n    tables:\n      slow:\n`,
      'models/core/slow.sql': 'SELECT id, waited FROM crm.slow\n',
      'models/core/own.sql': 'SELECT 1 AS one\n',
    })
    const own = { ...env, SOURCE_CRM_PASSWORD: password, SOURCE_OTHER_PASSWORD: password }
    let isOver = false
    const run = runResults(space, own, 1).finally(() => (isOver = true))
    // A model that has failed among others is built once more, alone.
    await until(async () => {
      await server.postgres(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}' AND state = 'active' AND query LIKE 'COPY%slow%'`,
      )
      return isOver
    })
    const { models } = await run
    // Whether rows are read by then, or the table is looked up once more, depends on the moment; it is told alike.
    assert.match(
      models['core.slow'] ?? '',
      /the source "?crm[^]* cannot be read: 127\.0\.0\.1:\d+ closed the connection/,
    )
    assert.is(models['core.own'], 'first build')
    await slow(0)
    await space.ok(['run', '--retry'], { env: own })
  },
)

lakeTest(
  'a table of a PostgreSQL server that may not be read, or is not there, and a column that was renamed',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres(`CREATE SCHEMA "Sales"; GRANT USAGE ON SCHEMA "Sales" TO ${user};
    CREATE TABLE "Sales".secret (id int); CREATE TABLE "Sales".customers (id int);
    CREATE TABLE "Sales".orders (id int, a int, b int, c int, d int, e int, amount int);
    CREATE TABLE public.moved (id int);
    GRANT SELECT ON "Sales".customers, "Sales".orders, public.moved TO ${user}`)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t\nsources:\n  crm:\n    postgres: ${url}\n    schema: Sales\n    tables: {secret: , orders: , custmers: , invoices: , moved: }\n`,
      'models/core/secret.sql': 'SELECT id FROM crm.secret\n',
      'models/core/renamed.sql': 'SELECT id, price FROM crm.orders\n',
      'models/core/custmers.sql': 'SELECT id FROM crm.custmers\n',
      'models/core/invoices.sql': 'SELECT id FROM crm.invoices\n',
      'models/core/moved.sql': 'SELECT id FROM crm.moved\n',
    })
    const own = { ...env, SOURCE_CRM_PASSWORD: password }
    const { text } = await runResults(space, own, 1)
    assert.match(
      text,
      new RegExp(
        `cannot be read: 127\\.0\\.0\\.1:\\d+ does not let ${user} read secret; let its administrator run GRANT SELECT ON \\\\?"Sales\\\\?"\\.secret TO ${user}`,
      ),
    )
    assert.match(text, /no column "price"[^]*hint: crm\.orders has id, a, b, c, d, e, amount\n/)
    const missing = (table: string, hint: string) =>
      assert.match(
        text,
        new RegExp(
          `its database has no table "${table}" that ${user} can see in Sales\n[^\n]*\n[^\n]*\n  hint: ${hint}`,
        ),
      )
    missing('custmers', 'did you mean "customers"\\?')
    missing(
      'invoices',
      `it may have another name or schema now, or ${user} may have lost the right to read it; there are customers, orders\n`,
    )
    missing('moved', 'there is one in the schema public: write "schema: public" at the source')

    await server.postgres(`REVOKE USAGE ON SCHEMA "Sales" FROM ${user}`)
    const closed = await runResults(space, own, 1)
    assert.match(
      closed.text,
      new RegExp(
        `does not let ${user} use the schema Sales; let its administrator run GRANT USAGE ON SCHEMA \\\\?"Sales\\\\?" TO ${user}`,
      ),
    )
  },
)

test('a sign in the password of a URL that has to be written otherwise there', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\nsources:\n  crm:\n    postgres: ${CRM_URL}\n    tables:\n      a:\n',
    'models/core/a.sql': 'SELECT * FROM crm.a\n',
  })
  for (const password of ['hush#1', 'hush/1', 'hush?1', 'hush%1']) {
    const own = { CRM_URL: `postgres://reader:${password}@127.0.0.1:1/shop` }
    const { stdout, stderr } = await space.ok(['run'], { env: own, exitCode: 1 })
    assert.match(
      stderr,
      /\$\{CRM_URL\} is not the URL of a database[^]*in its password @ : \/ # \? % are written %40 %3A %2F %23 %3F %25, or leave the password out and set SOURCE_CRM_PASSWORD/,
      password,
    )
    assert.not((stdout + stderr).includes('hush'))
  }
  const plain = await space.ok(['run'], { env: { CRM_URL: 'shop' }, exitCode: 1 })
  assert.not.match(plain.stderr, /%40/)
})

withExtensions(
  test,
  ['sqlite_scanner'],
  'a value of SQLite that has another type than its column',
  async () => {
    await using space = await workspace({
      'eider.yml': 'name: t\nsources:\n  app:\n    sqlite: app.db\n    tables:\n      users:\n',
      'models/core/users.sql': 'SELECT id FROM app.users\n',
    })
    const insert = async (value: string) => {
      await rm(space.path('app.db'), { force: true })
      const extensions = { directory: extensionCache, names: ['sqlite_scanner'] }
      await using database = await Database.open({ path: ':memory:', extensions })
      await using connection = await database.connect()
      await connection.run(sql`ATTACH ${sql.value(space.path('app.db'))} AS app (TYPE sqlite)`)
      await connection.run(sql`CREATE TABLE app.users (id INTEGER)`)
      await connection.run(sql`SET sqlite_all_varchar = true`)
      await connection.run(sql`DETACH app`)
      await connection.run(sql`ATTACH ${sql.value(space.path('app.db'))} AS app (TYPE sqlite)`)
      await connection.run(sql`INSERT INTO app.users VALUES (${sql.value(value)})`)
    }
    await insert('n/a')
    const { models } = await runResults(space, env, 1)
    assert.match(
      models['core.users'] ?? '',
      /the source "app" cannot be read: a value of app\.db is text, "n\/a", in the column id, which is integer; find its rows with SELECT rowid, id FROM users WHERE typeof\(id\) = 'text'; correct these values, or give the column the type TEXT/,
    )
    await insert('long '.repeat(1_000))
    const { models: again } = await runResults(space, env, 1)
    assert.match(again['core.users'] ?? '', /is text, "(?:long ){8}…", in the column id/)
  },
)

test.run()
