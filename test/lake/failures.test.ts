// What can be wrong with a lake: each has a code and names the setting to change, and no secret is shown.

import { readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import type { LakeSettings } from '../../src/core/lake.ts'
import { openStore } from '../../src/store/open.ts'
import { sql } from '../../src/core/sql.ts'
import { query } from '../support/handmade-models.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { startServers } from '../support/lake/servers.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { openProject, type TestProject } from '../support/pipeline-project.ts'

type Change = (lake: LakeSettings, test: TestLake) => LakeSettings | Promise<LakeSettings>

const catalog = (lake: LakeSettings, change: Partial<NonNullable<LakeSettings['catalog']>>) => ({
  ...lake,
  catalog: { ...lake.catalog!, ...change },
})
const store = (lake: LakeSettings, change: Partial<LakeSettings['store']>) => ({
  ...lake,
  store: { ...lake.store, ...change },
})

interface Row {
  readonly name: string
  readonly change: Change
  readonly code: string
  readonly said: RegExp
}

const rows: readonly Row[] = [
  {
    name: 'a wrong password',
    change: (lake) => catalog(lake, { password: 'hush-wrong' }),
    code: 'lake-refused',
    said: /refuses .*LAKE_PASSWORD/s,
  },
  {
    name: 'a database that is not there',
    change: (lake) => catalog(lake, { database: 'nowhere' }),
    code: 'lake-refused',
    said: /no such database.*createdb nowhere/s,
  },
  {
    name: 'a server that does not run',
    change: (lake) => catalog(lake, { port: 1 }),
    code: 'lake-unreachable',
    said: /PostgreSQL does not answer, postgres:.*lake\.catalog/s,
  },
  {
    name: 'rows in another place',
    change: (lake) => store(lake, { data: 's3://eider-lakes/elsewhere/' }),
    code: 'lake-moved',
    said: /lake\.data is s3:\/\/eider-lakes\/elsewhere\//,
  },
  {
    name: 'the schema of another project',
    change: (lake) => ({ ...lake, project: 'other' }),
    code: 'lake-taken',
    said: /project shop, and this one is other.*lake\.schema/s,
  },
  {
    name: 'a key that the store does not know',
    change: (lake) => store(lake, { keyId: 'WRONG', secret: 'hush-wrong' }),
    code: 'lake-store-refused',
    said: /the store refuses the key.*LAKE_S3_SECRET/s,
  },
  {
    name: 'a store that does not run',
    change: (lake) => store(lake, { endpoint: '127.0.0.1:1' }),
    code: 'lake-store-unreachable',
    said: /the store does not answer.*lake\.s3_endpoint/s,
  },
  {
    name: 'a store that answers with errors',
    change: (lake, { store: proxy }) => {
      proxy.refuseWith = 503
      return lake
    },
    code: 'lake-store-unreachable',
    said: /the store does not answer/,
  },
  {
    name: 'a server that may lose commits',
    change: async (lake, own) => {
      await own.postgres('ALTER SYSTEM SET full_page_writes = off')
      await own.postgres('SELECT pg_reload_conf(), pg_sleep(0.3)')
      return lake
    },
    code: 'lake-unsafe',
    said: /full_page_writes = off.*postgresql\.conf/s,
  },
]

lakeTest('what is wrong with a lake has a code, and names the setting', async () => {
  // A setting of the whole server is among it.
  await using servers = await startServers()
  await using lake = await withLake(servers)
  await using space = await openProject()
  const settings = store(lakeSettingsOf(lake), { retrySeconds: 0 })
  await run(space, settings, 1)
  for (const [i, { name, change, code, said }] of rows.entries()) {
    const failure = await run(space, await change(settings, lake), i + 2).then(
      () => null,
      (error: unknown) => error,
    )
    assert.instance(failure, EnvironmentError, `${name}: ${String(failure)}`)
    const { code: given, message, hint } = failure as EnvironmentError
    assert.is(given, code, `${name}: ${message}`)
    const shown = `${message}\n${hint}`
    assert.match(shown, said, name)
    for (const secret of ['hush', lake.password]) assert.not.ok(shown.includes(secret), name)
    lake.store.refuseWith = null
  }
  await lake.postgres('ALTER SYSTEM RESET full_page_writes')
  await lake.postgres('SELECT pg_reload_conf(), pg_sleep(0.3)')
  await using database = await openStore({ ...space.paths, lake: settings }).warehouse.openToRead({
    memoryLimit: null,
  })
  await using connection = await database.connect()
  assert.equal(await connection.rows(sql`SELECT v FROM a.t`), [{ v: 1 }], 'nothing was written')
})

lakeTest('before the first run a lake is empty to those who read', async () => {
  await using lake = await withLake()
  await using space = await openProject()
  const opened = openStore({ ...space.paths, lake: lakeSettingsOf(lake) })
  assert.is(await opened.warehouse.exists(), false)
  await using database = await opened.warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  const { state } = await opened.state.read(connection, [])
  assert.is(state.models.size, 0)
})

async function run(space: TestProject, lake: LakeSettings, value: number): Promise<void> {
  const paths = { ...space.paths, lake }
  await space.ok([query('a.t', `SELECT ${value} AS v`)], { paths, store: openStore(paths) })
}

lakeTest('what fails while a command reads is told by its code, and shows no secret', async () => {
  await using lake = await withLake()
  const models = {
    'models/mart/many.sql': "SELECT i, 'text ' || hash(i) AS t FROM range(200000) r(i)\n",
    'models/mart/sum.sql': 'SELECT sum(i) AS total FROM mart.many\n',
  }
  await using project = await lakeProject(lake, models, lake.env, { s3_retry_seconds: '0' })
  await project.ok(['run'])
  const text = 'SELECT max(t) AS t FROM mart.many'
  const said = async (args: readonly string[], exitCode: number) => {
    const { stdout, stderr } = await project.ok(args, { exitCode })
    for (const secret of [lake.password, lake.env['LAKE_S3_SECRET']!])
      assert.not.match(stdout + stderr, secret)
    return stderr
  }
  for (const [answer, says] of [
    [503, /the store does not answer: s3:/],
    [403, /the store refuses the key: s3:/],
    [0, /the store does not answer: s3:/],
  ] as const) {
    lake.store.refuseWith = answer
    assert.match(await said(['query', text], 3), says)
    lake.store.refuseWith = null
  }
  lake.store.refuseWith = 503
  const changed = "SELECT i, 'changed' AS t FROM mart.sum, range(5) r(i)\n"
  await project.write('models/mart/many.sql', changed)
  await project.write('models/mart/sum.sql', 'SELECT 1 AS total\n')
  assert.match(await said(['plan', '--diff'], 3), /the store does not answer: s3:/)
  lake.store.refuseWith = null
  // The first query that reads the table, which comes after the engine has been attached and pinned.
  const cut = async (args: readonly string[], when: RegExp) => {
    lake.catalog.forget()
    lake.catalog.cutAt = when
    const stderr = await said(args, 3)
    assert.is(lake.catalog.cutAt, null, 'nothing was cut')
    assert.match(stderr, /PostgreSQL does not answer/)
  }
  await cut(['query', text], /ducklake_data_file/)
  await cut(['ls'], /ducklake_inlined_data/)
  await cut(['plan'], /ducklake_inlined_data/)

  await project.ok(['query', text])
  await removeObjects(lake, 'many')
  assert.match(
    await said(['query', text], 3),
    /an object of the lake is gone from the store: mart\/many\/ducklake-.*--full-refresh/s,
  )
  await project.ok(['run', 'mart.many', '--full-refresh'])
  assert.match((await project.ok(['query', text])).stdout, /changed/)
})

/** Those of a table of the schema mart. */
async function removeObjects({ servers, database }: TestLake, table: string): Promise<void> {
  const directory = join(servers.directory, 'store')
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
    if (name.includes(database) && name.includes(`mart/${table}/`) && name.includes('.parquet'))
      await rm(join(directory, name), { recursive: true, force: true })
}

test.run()
