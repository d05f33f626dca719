// Tables of SQLite files and of servers as sources: read only, by name, and without their passwords anywhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { runResults } from '../support/run-results.ts'
import { workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

withExtensions(
  test,
  ['sqlite_scanner'],
  'a table of an SQLite file, noticed when it changes',
  async () => {
    await using space = await workspace({
      'eider.yml': 'name: t\nsources:\n  app:\n    sqlite: app.db\n    tables:\n      users:\n',
      'models/core/users.sql': '-- @expose id\nSELECT id, name FROM app.users\n',
    })
    const write = async (id: number, name: string) => {
      const extensions = { directory: extensionCache, names: ['sqlite_scanner'] }
      await using database = await Database.open({ path: ':memory:', extensions })
      await using connection = await database.connect()
      await connection.run(sql`ATTACH ${sql.value(space.path('app.db'))} AS app (TYPE sqlite)`)
      await connection.run(sql`CREATE TABLE IF NOT EXISTS app.users (id INTEGER, name VARCHAR)`)
      await connection.run(sql`INSERT INTO app.users VALUES (${sql.value(id)}, ${sql.value(name)})`)
    }
    await write(1, 'Ann')
    await space.ok(['run'], { env })
    assert.match((await space.ok(['run'], { env })).stdout, /1 unchanged/)
    await write(2, 'Bo')
    await space.ok(['run'], { env })
    const { stdout } = await space.ok(['query', 'FROM core.users ORDER BY id', '--json'], { env })
    assert.is(stdout.trim().split('\n').length, 2)
    const missing = await space.ok(['run'], {
      exitCode: 1,
      env: { EIDER_EXTENSIONS: space.path('none') },
    })
    assert.match(
      missing.stderr,
      /error extension-missing: the source "app" needs the extension sqlite_scanner, which is not/,
    )
    assert.match(missing.stderr, /hint: eider extension install sqlite_scanner/)
    const list = await space.ok(['extension', 'list'], {
      env: { EIDER_EXTENSIONS: space.path('none') },
    })
    assert.match(list.stdout, /^missing +sqlite_scanner +needed by source app/)
  },
)

lakeTest(
  'tables of a PostgreSQL server: exact or refused, read only, without the password',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres(`CREATE TABLE public.orders (id int, price numeric(12,2), loose numeric);
    INSERT INTO public.orders VALUES (1, 12345678.91, NULL);
    CREATE TABLE public.seen (id int, at timestamptz); INSERT INTO public.seen VALUES (1, now());
    GRANT SELECT ON public.orders, public.seen TO ${user}`)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      orders:\n      seen: {changed_by: at}\n`,
      'models/core/seen.sql': 'SELECT id FROM crm.seen\n',
      'models/core/orders.sql': 'SELECT id, price FROM crm.orders\n',
      'models/core/loose.sql': 'SELECT id, loose FROM crm.orders\n',
    })
    const own = { ...env, SOURCE_CRM_PASSWORD: password }
    await space.ok(['run'], { env: own })
    const priced = await space.ok(['query', 'FROM core.orders', '--json'], { env: own })
    assert.equal(JSON.parse(priced.stdout), { id: 1, price: '12345678.91' })
    await server.postgres('UPDATE public.orders SET loose = 0.1')
    const outputs = [await space.ok(['run'], { env: own, exitCode: 1 })]
    assert.match(outputs[0]!.stdout, /1 unchanged/, 'not asked for again: changed_by')
    assert.match(
      outputs[0]!.stderr + outputs[0]!.stdout,
      /crm\.orders\.loose is a numeric without a prec/,
    )
    outputs.push(
      await space.ok(['run'], { exitCode: 1, env: { ...own, SOURCE_CRM_PASSWORD: 'wrong' } }),
    )
    assert.match(
      outputs[1]!.stderr,
      /the source "crm" cannot be read: 127\.0\.0\.1:\d+ refuses the password of /,
    )
    assert.match(outputs[1]!.stderr, /hint: set SOURCE_CRM_PASSWORD in the environment or in \.env/)
    for (const { stdout, stderr } of outputs) assert.not((stdout + stderr).includes(password))
  },
)

lakeTest(
  'a table of a PostgreSQL server with the rows of before: nothing is built of it or published',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres(`CREATE TABLE public.orders AS SELECT i AS id, i * 1.5::float8 AS amount FROM generate_series(1, 7000) i;
    GRANT SELECT ON public.orders TO ${user}`)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t\nsources: {crm: {postgres: "${url}", tables: {orders: {}}}}\n`,
      'models/core/orders.sql': '-- @expose id\nSELECT id, amount FROM crm.orders\n',
      'models/core/seen.sql': '-- @kind: view\nSELECT id, amount FROM crm.orders\n',
      'models/mart/seen.sql': '-- @expose id\nSELECT id, amount FROM core.seen\n',
      'models/mart/sum.sql':
        '-- @expose n\nSELECT count(*) AS n, sum(amount) AS sum FROM core.orders\n',
    })
    const own = { env: { ...env, SOURCE_CRM_PASSWORD: password } }
    await space.ok(['run'], own)
    const same = (await space.ok(['run'], own)).stdout
    assert.match(same, /built +core\.orders +7,000 rows as before, .*\(volatile\)/)
    assert.match(same, /built +mart\.seen +7,000 rows as before, /)
    assert.match(same, /3 built, 1 unchanged in /, 'mart.sum is not built, and nothing published')
    await server.postgres('UPDATE public.orders SET amount = amount + 1 WHERE id = 5000')
    assert.match((await space.ok(['run'], own)).stdout, /4 built, published /)
    const { stdout } = await space.ok(['query', 'FROM mart.seen WHERE id = 5000', '--json'], own)
    assert.equal(JSON.parse(stdout), { id: 5000, amount: 7501 })
  },
)

lakeTest(
  'numbers of a PostgreSQL server without a precision, by the type that eider.yml names',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres(`CREATE TABLE public.orders (id int, discount numeric, score numeric);
    INSERT INTO public.orders VALUES (1, 0.10, 0.1234567890123456789), (2, NULL, NULL),
      (3, -9999999999999.99, -1e300), (4, 0.3, 1e-300);
    GRANT SELECT ON public.orders TO ${user}`)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    const withColumns = (columns: string) =>
      `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      orders:\n        columns: {${columns}}\n`
    await using space = await workspace({
      'eider.yml': withColumns('discount: "DECIMAL(15, 2)", score: double'),
      'models/core/orders.sql': 'SELECT id, discount, score FROM crm.orders\n',
    })
    const own = { env: { ...env, SOURCE_CRM_PASSWORD: password } }
    await space.ok(['run'], own)
    const { stdout } = await space.ok(['query', 'FROM core.orders ORDER BY id', '--json'], own)
    const rows = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly discount: unknown })
    assert.equal(
      rows.map(({ discount }) => discount),
      ['0.10', null, '-9999999999999.99', '0.30'],
    )

    await server.postgres('INSERT INTO public.orders VALUES (5, 0.125, 1), (6, 1, 1)')
    const failed = await space.ok(['run'], { ...own, exitCode: 1 })
    assert.match(
      failed.stderr + failed.stdout,
      /crm\.orders\.discount has the number 0\.125, which is no DECIMAL\(15, 2\)/,
    )

    await space.write('eider.yml', withColumns('id: "DECIMAL(15, 2)"'))
    const needless = await space.ok(['run'], { ...own, exitCode: 1 })
    assert.match(needless.stderr, /crm\.orders\.id needs no type, or is no column of the table/)
    await space.write('eider.yml', withColumns('discount: "DECIMAL(18, 2)"'))
    const wide = await space.ok(['ls'], { ...own, exitCode: 1 })
    assert.match(
      wide.stderr,
      /columns\.discount" must be DECIMAL\(15, 2\), of at most 15 digits, or DOUBLE/,
    )
  },
)

lakeTest(
  'numbers of a PostgreSQL server without a precision in arrays and in fields: refused, or a DOUBLE by eider.yml',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres(`CREATE TYPE public.price AS (amount numeric, digits numeric(12,2));
    CREATE TYPE public.offer AS (id int, prices public.price[]);
    CREATE TYPE public.size AS (width numeric(15,2)); CREATE TYPE public.sum AS (total numeric(16,2));
    CREATE TABLE public.orders (id int, price public.price, offer public.offer, list numeric[], sum public.sum,
      sure numeric(30,2)[], size public.size);
    INSERT INTO public.orders VALUES (1, ROW(0.1234567890123456789, 1.5), ROW(1, ARRAY[ROW(0.1, 1)::public.price]),
      ARRAY[0.1], ROW(1), ARRAY[1234567890123456789012345.67], ROW(1.25));
    GRANT SELECT ON public.orders TO ${user}`)
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    const withColumns = (columns: string) =>
      `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      orders:\n        columns: {${columns}}\n`
    await using space = await workspace({
      'eider.yml': withColumns(''),
      'models/core/sure.sql': 'SELECT id, sure, size FROM crm.orders\n',
      'models/core/price.sql': 'SELECT price FROM crm.orders\n',
      'models/core/offer.sql': 'SELECT offer FROM crm.orders\n',
      'models/core/sum.sql': 'SELECT sum FROM crm.orders\n',
      'models/core/list.sql': 'SELECT list FROM crm.orders\n',
    })
    const own = { env: { ...env, SOURCE_CRM_PASSWORD: password } }
    const { stdout, stderr } = await space.ok(['run'], { ...own, exitCode: 1 })
    const said = stdout + stderr
    assert.match(said, /built +core\.sure/)
    for (const [name, what] of [
      ['price', 'a price with a numeric in it'],
      ['offer', 'an? offer with a numeric in it'],
      ['sum', 'a sum with a numeric in it'],
      ['list', 'a numeric\\[\\] without a precision'],
    ] as const)
      assert.match(
        said,
        new RegExp(`crm\\.orders\\.${name} is ${what}, whose digits .* such as ${name}: DOUBLE`),
      )

    await space.write(
      'eider.yml',
      withColumns('price: DOUBLE, offer: DOUBLE, sum: DOUBLE, list: DOUBLE'),
    )
    await space.ok(['run'], own)
    const read = await space.ok(['query', 'FROM core.price', '--json'], own)
    assert.equal(JSON.parse(read.stdout), {
      price: { amount: 0.12345678901234568, digits: 1.5 },
    })
  },
)

const NO_NUMBER = /has a number that is NaN or infinite, which DuckDB reads as 0/

lakeTest('NaN and infinities of a PostgreSQL server fail the models that read them', async () => {
  await using server = await withLake()
  const { user, database, password, servers } = server
  await server.postgres(`CREATE TABLE public.orders (id int, price numeric(12,2), "Sum" numeric, score numeric,
      list numeric(12,2)[], hidden numeric(12,2));
    INSERT INTO public.orders VALUES (1, 0, 0, 0, '{0}', 1), (2, 1.5, NULL, 2, NULL, 1);
    GRANT SELECT (id, price, "Sum", score, list) ON public.orders TO ${user}`)
  const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
  const columns = ['price', 'Sum', 'score', 'list']
  await using space = await workspace({
    'eider.yml': `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      orders:\n        columns: {Sum: "DECIMAL(15, 2)", score: DOUBLE}\n`,
    'models/core/ids.sql': 'SELECT id FROM crm.orders\n',
    'models/core/seen.sql':
      '-- @kind: view\nSELECT id, price AS cost, score FROM crm.orders WHERE id < 10\n',
    'models/core/of_view.sql': 'SELECT max(cost) AS cost FROM core.seen\n',
    ...Object.fromEntries(
      columns.map((name) => [
        `models/core/of_${name.toLowerCase()}.sql`,
        `SELECT id, "${name}" FROM crm.orders\n`,
      ]),
    ),
  })
  const own = { env: { ...env, SOURCE_CRM_PASSWORD: password } }
  await space.ok(['run'], own)
  for (const [column, value] of [
    ['price', `'NaN'`],
    ['Sum', `'NaN'`],
    ['Sum', `'Infinity'`],
    ['score', `'-Infinity'`],
    ['list', `'{1, NaN}'`],
  ] as const) {
    await server.postgres(`INSERT INTO public.orders (id, "${column}") VALUES (3, ${value})`)
    const { models } = await runResults(space, own.env, 1)
    for (const other of columns) {
      const said = models[`core.of_${other.toLowerCase()}`] ?? ''
      if (other !== column) assert.not.match(said, NO_NUMBER)
      else assert.match(said, new RegExp(`crm\\.orders\\.${column} ${NO_NUMBER.source}`))
    }
    if (column === 'price') assert.match(models['core.of_view'] ?? '', NO_NUMBER)
    else assert.not.match(models['core.of_view'] ?? '', NO_NUMBER)
    const ids = await space.ok(['query', 'SELECT count(*) AS n FROM core.ids', '--json'], own)
    assert.equal(JSON.parse(ids.stdout), { n: '3' }, 'a model that does not read the column')
    const asked = ['query', `SELECT max("${column}") AS found FROM crm.orders WHERE id`]
    const query = (rows: string) => [...asked.slice(0, 1), `${asked[1]} ${rows}`]
    const refused = await space.ok(query('>= 3'), { ...own, exitCode: 1 })
    assert.match(refused.stderr, NO_NUMBER)
    // A list is looked at in all rows.
    if (column !== 'list') await space.ok(query('< 3'), own)
    await server.postgres('DELETE FROM public.orders WHERE id = 3')
  }
  await space.ok(['run'], own)
})

lakeTest(
  'a table that the user may not read is named, with its source and the right to grant',
  async () => {
    await using server = await withLake()
    const { user, database, password, servers } = server
    await server.postgres('CREATE TABLE public.secret (id int)')
    const url = `postgres://${user}@127.0.0.1:${servers.postgresPort}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t\nsources:\n  crm:\n    postgres: ${url}\n    tables:\n      secret:\n`,
      'models/core/secret.sql': 'SELECT id FROM crm.secret\n',
    })
    const own = { env: { ...env, SOURCE_CRM_PASSWORD: password }, exitCode: 1 }
    const refused = await space.ok(['run', 'core.secret'], own)
    assert.match(
      refused.stdout + refused.stderr,
      new RegExp(
        `the source "crm" cannot be read: 127\\.0\\.0\\.1:\\d+ does not let ${user} read secret; let its administrator run GRANT SELECT ON public\\.secret TO ${user}`,
      ),
    )
  },
)

test('a URL with a password, and two places of one source, are refused', async () => {
  const yml = (lines: string) => `name: t\nsources:\n  crm:\n${lines}    tables:\n      a:\n`
  await using space = await workspace({
    'eider.yml': yml('    mysql: mysql://reader:hush@db.example/shop\n'),
  })
  const { stderr } = await space.ok(['ls'], { exitCode: 1 })
  assert.match(stderr, /"sources\.crm\.mysql" must be a URL without a password, such as mysql:/)
  assert.not(stderr.includes('hush'))
  assert.match(stderr, /its password is taken from SOURCE_CRM_PASSWORD/)
  await space.write('eider.yml', yml('    sqlite: a.db\n    database: b.duckdb\n'))
  assert.match(
    (await space.ok(['ls'], { exitCode: 1 })).stderr,
    /left out: the source has database/,
  )
})

test.run()
