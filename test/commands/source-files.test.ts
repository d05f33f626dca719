// Files elsewhere and in other formats as sources: on web servers, in a store, of Excel, Delta and Iceberg.

import { mkdir, stat, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { cutOff, fileServer, silence, status } from '../support/file-server.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { storeKeys } from '../support/lake/servers.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { pythonTests, runPython } from '../support/python.ts'
import { rowsOf, runResults } from '../support/run-results.ts'
import { workspace } from '../support/workspace.ts'

const env = { EIDER_EXTENSIONS: extensionCache }

withExtensions(
  test,
  ['httpfs'],
  'files on a web server: by a secret, built again when they change, and each refusal in words',
  async () => {
    await using other = await fileServer({ '/a.csv': 'a,b\n1,x\n' })
    await using server = await fileServer({
      '/rates.csv': 'id,rate\n1,1.5\n',
      '/closed.csv': ({ headers }, response) => {
        const isKnown = headers.authorization === 'Bearer hush-token'
        if (!isKnown) return void response.writeHead(401).end()
        response.writeHead(200, { 'content-length': 8 }).end('id,n\n1,2')
      },
      '/away.csv': status(302, { location: `${other.url}/a.csv` }),
      '/moved.csv': status(302, { location: '/rates.csv' }),
      '/circle.csv': status(302, { location: '/circle.csv' }),
      '/broken.csv': status(503),
      '/cut.csv': cutOff,
      '/silent.csv': silence,
    })
    const tables = (names: readonly string[]) =>
      names.map((name) => `      ${name}: {file: '${server.url}/${name}.csv'}\n`).join('')
    const all = ['rates', 'moved', 'missing', 'away', 'circle', 'broken', 'cut', 'silent']
    await using space = await workspace({
      'eider.yml': `name: t
secrets:
  partner: {type: http, token: "\${PARTNER_TOKEN}"}
sources:
  web:
    tables:
${tables(all)}      unsigned: {file: '${server.url}/closed.csv'}
  partner:
    secret: partner
    tables:
      closed: {file: '${server.url}/closed.csv?signature=hush-signature'}
  nobody: {tables: {t: {file: 'http://127.0.0.1:1/a.csv'}}}
`,
      ...Object.fromEntries(
        [...all, 'unsigned'].map((name) => [
          `models/core/${name}.sql`,
          `SELECT * FROM web.${name}\n`,
        ]),
      ),
      'models/core/closed.sql': 'SELECT id, n FROM partner.closed\n',
      'models/core/nobody.sql': 'SELECT * FROM nobody.t\n',
      'models/core/passwd.sql': `SELECT * FROM read_csv('/etc/passwd')\n`,
      'models/core/hidden.sql': `SELECT * FROM read_text('/etc/' || 'passwd')\n`,
      'models/core/foreign.sql': `SELECT * FROM read_csv('${server.url}/other.csv')\n`,
      'models/core/own.sql': `SELECT * FROM 'data/own.csv'\n`,
      'data/own.csv': 'a\n1\n',
    })
    server.files.set('/closed.csv?signature=hush-signature', server.files.get('/closed.csv')!)
    const own = { ...env, PARTNER_TOKEN: 'hush-token' }
    const first = await runResults(space, own, 1)
    const says = (name: string, pattern: RegExp) =>
      assert.match(first.models[`core.${name}`] ?? 'no result', pattern, name)
    for (const name of ['rates', 'moved', 'closed', 'own']) says(name, /^first build$/)
    says('missing', /there is no file http:\/\/127.*missing\.csv \(HTTP 404\)/)
    says('away', /away\.csv redirects to another host, 127\.0\.0\.1:\d+/)
    says('circle', /circle\.csv redirects in a loop/)
    says('broken', /broken\.csv is not available now \(HTTP 503\)/)
    says('cut', /cut\.csv was cut off while it was read/)
    says('silent', /silent\.csv does not answer \(10 s\)/)
    says('unsigned', /closed\.csv is refused \(HTTP 401\)/)
    says('nobody', /nothing listens at http:\/\/127\.0\.0\.1:1\/a\.csv/)
    says(
      'passwd',
      /"\/etc\/passwd" is outside of the project, and no source of eider\.yml names it/,
    )
    says('hidden', /"\/etc\/passwd" is outside of the project/)
    says('foreign', /other\.csv" is outside of the project/)
    assert.equal(other.requests, [])
    assert.not(first.text.includes('hush'))
    assert.ok(
      server.requests.every((line) => line.includes('closed') || !line.includes('hush-token')),
    )
    for (const name of [
      'missing',
      'away',
      'circle',
      'broken',
      'cut',
      'silent',
      'unsigned',
      'foreign',
    ])
      server.files.set(`/${name}.csv`, 'id\n1\n')
    assert.equal((await runResults(space, own, 1)).models['core.rates'], 'unchanged')
    server.files.set('/rates.csv', 'id,rate\n1,1.75\n')
    assert.match((await runResults(space, own, 1)).models['core.rates'] ?? '', /rates\.csv changed/)
    assert.equal(await rowsOf(space, own, 'FROM core.rates'), [{ id: '1', rate: 1.75 }])
    const list = await space.ok(['show', 'partner.closed', '--json'], { env: own })
    assert.not(list.stdout.includes('hush-token'))
  },
)

lakeTest(
  'files in a store: by patterns, by their keys alone, built again when they change',
  async () => {
    await using lake = await withLake()
    const { data, servers } = lake
    const extensions = { directory: extensionCache, names: ['httpfs'] }
    await using database = await Database.open({ path: ':memory:', extensions })
    await using connection = await database.connect()
    await connection.run(sql`CREATE SECRET (TYPE s3, KEY_ID ${sql.value(storeKeys.keyId)}, SECRET ${sql.value(storeKeys.secret)},
    REGION 'us-east-1', ENDPOINT ${sql.value(`127.0.0.1:${servers.storePort}`)}, URL_STYLE 'path', USE_SSL false)`)
    const put = async (path: string, id: number) =>
      connection.run(
        sql`COPY (SELECT ${sql.value(id)} AS id, now() AS at) TO ${sql.value(data + path)}`,
      )
    await put('clicks/2024/a.parquet', 1)
    await put('clicks/2025/a.parquet', 2)
    await put('clicks.csv', 3)
    await put('private/a.parquet', 4)
    await using space = await workspace({
      'eider.yml': `name: t
secrets:
  store:
    type: s3
    key_id: \${STORE_KEY}
    secret: \${STORE_SECRET}
    endpoint: http://127.0.0.1:${servers.storePort}
    url_style: path
sources:
  lake:
    secret: store
    tables:
      clicks: {file: '\${STORE_DATA}clicks/*/*.parquet', loaded_at: at, warn_after: 1 day}
      csv: {file: '${data}clicks.csv'}
      none: {file: '${data}none/*.parquet'}
  nowhere:
    secret: store
    tables:
      t: {file: 's3://no-such-bucket/a/*.parquet'}
`,
      'models/core/clicks.sql': 'SELECT id FROM lake.clicks\n',
      'models/core/csv.sql': 'SELECT id FROM lake.csv\n',
      'models/core/none.sql': 'SELECT id FROM lake.none\n',
      'models/core/nowhere.sql': 'SELECT id FROM nowhere.t\n',
      'models/core/private.sql': `SELECT * FROM read_parquet('${data}private/a.parquet')\n`,
    })
    const own = {
      ...env,
      STORE_KEY: storeKeys.keyId,
      STORE_SECRET: storeKeys.secret,
      STORE_DATA: data,
    }
    const first = await runResults(space, own, 1)
    assert.is(first.models['core.clicks'], 'first build')
    assert.is(first.models['core.csv'], 'first build')
    assert.match(first.models['core.none'] ?? '', /No files found that match/)
    assert.match(first.models['core.nowhere'] ?? '', /there is no bucket at s3:\/\/no-such-bucket/)
    assert.match(
      first.models['core.private'] ?? '',
      /private\/a\.parquet" is outside of the project/,
    )
    assert.not(first.text.includes(storeKeys.secret))
    // The store tells times in seconds, so what is younger than two may still be written again.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    await runResults(space, own, 1)
    assert.is((await runResults(space, own, 1)).models['core.clicks'], 'unchanged')
    await put('clicks/2025/b.parquet', 5)
    await runResults(space, own, 1)
    const ids = await rowsOf(space, own, 'SELECT list_sort(list(id)) AS ids FROM core.clicks')
    assert.equal(ids, [{ ids: [1, 2, 5] }])
    const refused = await runResults(
      space,
      { ...own, STORE_SECRET: 'hush-hush', STORE_KEY: 'NOBODY' },
      1,
    )
    assert.match(refused.models['core.clicks'] ?? '', /is refused \(HTTP 403\)/)
    assert.match(refused.text, /check the key of the secret \\"store\\"/)
    assert.not(refused.text.includes('hush-hush'))
    assert.not(refused.text.includes(data + 'clicks/*'), 'the value of a variable is not shown')
    const unset = await space.ok(['run'], { env, exitCode: 1 })
    assert.match(
      unset.stderr,
      /eider\.yml:5:13 error secret-not-set: "secrets\.store" needs STORE_KEY/,
    )
  },
)

withExtensions(test, ['excel', 'delta'], 'sheets of Excel and tables of Delta', async () => {
  await using space = await workspace({
    'eider.yml': `name: t
sources:
  reports:
    tables:
      budget: {file: data/budget.xlsx, sheet: 2026}
      cells: {file: data/budget.xlsx, sheet: 2026, range: 'A1:A2'}
      nosheet: {file: data/budget.xlsx, sheet: other}
      sales: {delta: data/sales}
      nodelta: {delta: data/none}
`,
    'models/core/budget.sql': 'SELECT * FROM reports.budget\n',
    'models/core/cells.sql': 'SELECT * FROM reports.cells\n',
    'models/core/nosheet.sql': 'SELECT * FROM reports.nosheet\n',
    'models/core/sales.sql': 'SELECT id, amount FROM reports.sales\n',
    'models/core/nodelta.sql': 'SELECT * FROM reports.nodelta\n',
  })
  await mkdir(space.path('data/sales/_delta_log'), { recursive: true })
  const extensions = { directory: extensionCache, names: ['excel'] }
  await using database = await Database.open({ path: ':memory:', extensions })
  await using connection = await database.connect()
  const rows = sql`SELECT unnest(['rent', 'food']) AS what, unnest([1200, 300]) AS amount`
  await connection.run(
    sql`COPY (${rows}) TO ${sql.value(space.path('data/budget.xlsx'))} (FORMAT xlsx, HEADER true, SHEET '2026')`,
  )
  await deltaVersion(space.path('data/sales'), connection, 0)
  const first = await runResults(space, env, 1)
  assert.match(first.models['core.nosheet'] ?? '', /sheet|Sheet/)
  assert.match(first.models['core.nodelta'] ?? '', /nodelta" cannot be read/)
  assert.equal(await rowsOf(space, env, 'FROM core.budget'), [
    { what: 'rent', amount: 1200 },
    { what: 'food', amount: 300 },
  ])
  assert.equal(await rowsOf(space, env, 'FROM core.cells'), [{ what: 'rent' }])
  assert.equal(await rowsOf(space, env, 'FROM core.sales'), [{ id: 0, amount: '10.25' }])
  assert.is((await runResults(space, env, 1)).models['core.sales'], 'unchanged')
  await deltaVersion(space.path('data/sales'), connection, 1)
  assert.match((await runResults(space, env, 1)).models['core.sales'] ?? '', /data\/sales changed/)
  assert.is((await rowsOf(space, env, 'FROM core.sales')).length, 2)
})

/** A commit of a table of Delta, by hand: a file of rows and a line of its log. */
async function deltaVersion(
  path: string,
  connection: { run(statement: ReturnType<typeof sql>): Promise<number> },
  version: number,
): Promise<void> {
  const file = `part-${version}.parquet`
  await connection.run(
    sql`COPY (SELECT ${sql.value(version)}::INTEGER AS id, 10.25::DECIMAL(10,2) AS amount) TO ${sql.value(`${path}/${file}`)}`,
  )
  const { size } = await stat(`${path}/${file}`)
  const field = (name: string, type: string) => ({ name, type, nullable: true, metadata: {} })
  const schema = {
    type: 'struct',
    fields: [field('id', 'integer'), field('amount', 'decimal(10,2)')],
  }
  const head = [
    { protocol: { minReaderVersion: 1, minWriterVersion: 2 } },
    {
      metaData: {
        id: 'a1b2c3d4-0000-4000-8000-000000000000',
        format: { provider: 'parquet', options: {} },
        schemaString: JSON.stringify(schema),
        partitionColumns: [],
        configuration: {},
        createdTime: 0,
      },
    },
  ]
  const add = {
    add: { path: file, partitionValues: {}, size, modificationTime: 0, dataChange: true },
  }
  const lines = [...(version === 0 ? head : []), add].map((line) => JSON.stringify(line))
  const log = `${path}/_delta_log/${String(version).padStart(20, '0')}.json`
  await writeFile(log, lines.join('\n') + '\n')
}

const ICEBERG = `
import sys, pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
root = sys.argv[1]
catalog = SqlCatalog('c', uri='sqlite:///' + root + '/catalog.db', warehouse='file://' + root)
rows = pa.table({'id': [1, 2], 'name': ['a', 'b']})
catalog.create_namespace('shop')
table = catalog.create_table('shop.orders', schema=rows.schema)
table.append(rows)
print(table.metadata_location)`

const iceberg = pythonTests(['pyiceberg.catalog.sql', 'pyarrow'])

iceberg('a table of Iceberg, by the version that it says is the current one', async () => {
  await using space = await workspace({
    'eider.yml': `name: t
sources:
  shop:
    tables:
      orders: {iceberg: shop/orders}
`,
    'models/core/orders.sql': 'SELECT id, name FROM shop.orders\n',
  })
  const metadata = (await runPython(ICEBERG, [space.dir])).replace('file://', '')
  const unsaid = await runResults(space, env, 1)
  assert.match(
    unsaid.models['core.orders'] ?? '',
    /does not say which of its versions is the current/,
  )
  const version = metadata.replace(/^.*\/(.*)\.metadata\.json$/, '$1')
  await space.write('shop/orders/metadata/version-hint.text', version)
  await runResults(space, env)
  assert.is((await rowsOf(space, env, 'FROM core.orders')).length, 2)
  assert.is((await runResults(space, env)).models['core.orders'], 'unchanged')
})

test.run()
