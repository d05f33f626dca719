// Mistakes in settings and failures of servers, as a user meets them at the command line: the exit code, the line that
// names the setting, nothing written, and no secret in anything that is printed or lies in the project afterwards.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject, settingLines } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import type { Outcome, Workspace } from '../support/workspace.ts'

const models = {
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/total.sql': '-- @expose n\nSELECT count(*) AS n FROM raw.orders\n',
}

interface Row {
  readonly name: string
  /** Instead of those of the lake. */
  readonly settings?: (lake: TestLake) => Readonly<Record<string, string>>
  readonly env?: (lake: TestLake) => Readonly<Record<string, string>>
  readonly project?: string
  /** What is wrong outside of the machine, from now on and no longer. */
  readonly break?: (lake: TestLake) => unknown
  readonly mend?: (lake: TestLake) => unknown
  readonly exitCode: number
  readonly says: RegExp
}

/** In a process that starts with it, the clock of JavaScript is a day ahead. */
const DAY_AHEAD = `data:text/javascript,${encodeURIComponent(
  'const now = Date.now; Date.now = () => now() + 86400000',
)}`

const withUser = (lake: TestLake, user: string) =>
  lake.settings['catalog']!.replace(/\/\/[^@]*@/, `//${user}@`)

const rows: readonly Row[] = [
  {
    name: 'a password in the URL of eider.yml',
    settings: (lake) => ({ catalog: withUser(lake, `${lake.user}:${lake.password}`) }),
    exitCode: 1,
    says: /"lake\.catalog" must be a URL without a password.*LAKE_PASSWORD/s,
  },
  {
    name: 'a password of its own in eider.yml',
    settings: (lake) => ({ password: lake.password }),
    exitCode: 1,
    says: /"lake\.password" must be set outside of eider\.yml.*LAKE_PASSWORD/s,
  },
  {
    name: 'a catalog of another kind',
    settings: () => ({ catalog: 'mysql://shop@127.0.0.1/lake' }),
    exitCode: 1,
    says: /"lake\.catalog" must be a URL such as postgres:/,
  },
  {
    name: 'a catalog of another kind in the environment, with its password',
    env: (lake) => ({ LAKE_CATALOG: `mysql://shop:${lake.password}@127.0.0.1/lake` }),
    exitCode: 2,
    says: /LAKE_CATALOG must be a URL such as postgres:/,
  },
  {
    name: 'a key without its secret',
    env: () => ({ LAKE_S3_SECRET: '' }),
    exitCode: 2,
    says: /LAKE_S3_SECRET/,
  },
  {
    name: 'a wrong password',
    env: () => ({ LAKE_PASSWORD: 'hush-wrong' }),
    exitCode: 3,
    says: /PostgreSQL refuses .*LAKE_PASSWORD/s,
  },
  {
    name: 'a role without rights',
    settings: (lake) => ({ catalog: withUser(lake, `${lake.database}_guest`) }),
    break: (lake) =>
      lake.postgres(`CREATE ROLE ${lake.database}_guest LOGIN PASSWORD '${lake.password}'`),
    mend: (lake) => lake.postgres(`DROP ROLE ${lake.database}_guest`),
    exitCode: 3,
    says: /_guest lacks a right in PostgreSQL.*grant it on the schema shop/s,
  },
  {
    name: 'a database that is not there',
    settings: (lake) => ({ catalog: lake.settings['catalog']!.replace(/[^/]*$/, 'nowhere') }),
    exitCode: 3,
    says: /no such database.*lake\.catalog/s,
  },
  {
    name: 'a catalog of another version',
    break: (lake) =>
      lake.postgres(`UPDATE shop.ducklake_metadata SET value = '0.3' WHERE key = 'version'`),
    mend: (lake) =>
      lake.postgres(`UPDATE shop.ducklake_metadata SET value = '1.0' WHERE key = 'version'`),
    exitCode: 3,
    says: /the catalog of the lake has version 0\.3, and this eider works with 1\.0\n.*maintain --migrate/s,
  },
  {
    name: 'a catalog of a later version',
    break: (lake) =>
      lake.postgres(`UPDATE shop.ducklake_metadata SET value = '1.10' WHERE key = 'version'`),
    mend: (lake) =>
      lake.postgres(`UPDATE shop.ducklake_metadata SET value = '1.0' WHERE key = 'version'`),
    exitCode: 3,
    says: /has version 1\.10, and this eider works with 1\.0\nhint: install the version of eider/,
  },
  {
    name: 'a host of PostgreSQL that is not there',
    settings: (lake) => ({
      catalog: lake.settings['catalog']!.replace(/@[^:]*:/, '@db.invalid:'),
    }),
    exitCode: 3,
    says: /PostgreSQL does not answer, [^:]*:\/\/[^:]*:\d+\/\w+, schema shop: could not translate host name/,
  },
  {
    name: 'a store that has one host for all buckets',
    settings: () => ({ schema: 'fresh', s3_url_style: 'vhost' }),
    exitCode: 3,
    says: /the store does not answer: .*lake\.s3_endpoint, and set lake\.s3_url_style: path/s,
  },
  {
    name: 'another prefix than that of the first run',
    settings: (lake) => ({ data: `${lake.data}elsewhere/` }),
    exitCode: 3,
    says: /and lake\.data is s3:\/\/.*elsewhere\//,
  },
  {
    name: 'the schema of another project',
    project: 'other',
    settings: () => ({ schema: 'shop' }),
    exitCode: 3,
    says: /the tables of the project shop, and this one is other.*lake\.schema/s,
  },
  {
    name: 'a bucket that is not there',
    settings: () => ({ schema: 'fresh', data: 's3://no-such-bucket/prod/' }),
    exitCode: 3,
    says: /there is no such bucket: s3:\/\/no-such-bucket\/prod\/.*lake\.data/s,
  },
  {
    name: 'a key that the store does not know',
    env: () => ({ LAKE_S3_KEY_ID: 'stranger', LAKE_S3_SECRET: 'hush-wrong' }),
    exitCode: 3,
    says: /the store refuses the key: .*LAKE_S3_KEY_ID/s,
  },
  {
    name: 'a key without a right',
    break: ({ store }) => (store.refuseWith = 403),
    mend: ({ store }) => (store.refuseWith = null),
    exitCode: 3,
    says: /the store refuses the key: .*the rights of the key/s,
  },
  {
    name: 'a store that answers with errors',
    break: ({ store }) => (store.refuseWith = 503),
    mend: ({ store }) => (store.refuseWith = null),
    exitCode: 3,
    says: /the store does not answer: .*lake\.s3_endpoint/s,
  },
  {
    name: 'a store that is away',
    settings: () => ({ s3_endpoint: 'http://127.0.0.1:1' }),
    exitCode: 3,
    says: /the store does not answer: .*lake\.s3_endpoint/s,
  },
  {
    name: 'PostgreSQL that is away',
    settings: (lake) => ({
      catalog: lake.settings['catalog']!.replace(/:\d+\//, ':1/'),
    }),
    exitCode: 3,
    says: /PostgreSQL does not answer.*lake\.catalog/s,
  },
  {
    name: 'a clock that is a day off',
    env: () => ({ NODE_OPTIONS: `--import=${DAY_AHEAD}` }),
    exitCode: 3,
    says: /the clock of this machine is 1440 minutes ahead of that of PostgreSQL.*NTP/s,
  },
]

lakeTest('each mistake and each failure of a server has its line and its exit code', async () => {
  await using lake = await withLake()
  await using first = await lakeProject(lake, models)
  await first.ok(['run'])
  const before = await contentOf(lake)
  for (const row of rows) {
    const { name, exitCode, says } = row
    await using space = await projectOf(lake, row)
    await row.break?.(lake)
    try {
      const shown = await space.eider(['run'])
      assert.is(shown.exitCode, exitCode, `${name}: ${shown.stdout}${shown.stderr}`)
      assert.match(shown.stderr, says, name)
      assert.is(shown.stderr.match(/^error: |: error |\berror /gm)?.length, 1, shown.stderr)
      const machine = await space.eider(['run', '--json'])
      assert.is(machine.exitCode, exitCode, `${name}: ${machine.stdout}${machine.stderr}`)
      assert.match(machine.stdout, /^\{"event":"(?:error|diagnostic)"/m, name)
      assertNoSecret(lake, space, [shown, machine], name)
    } finally {
      await row.mend?.(lake)
    }
    assert.equal(await contentOf(lake), before, `${name}: something was written`)
  }
  await first.ok(['run'])
})

const readers = [
  ['plan'],
  ['ls'],
  ['query', 'SELECT 1'],
  ['history'],
  ['pull'],
  ['flush'],
  ['maintain'],
]

lakeTest('PostgreSQL that is away is told alike by every command that needs it', async () => {
  await using lake = await withLake()
  await using space = await projectOf(lake, {
    settings: () => ({ catalog: `postgres://${lake.user}@127.0.0.1:1/${lake.database}` }),
  })
  for (const args of readers) {
    const { stdout, stderr } = await space.ok(args, { exitCode: 3 })
    assert.match(stderr, /^error: PostgreSQL does not answer/m, args.join(' '))
    assert.not(`${stdout}${stderr}`.includes(lake.password))
  }
  const { stdout } = await space.ok(['doctor'], { exitCode: 1 })
  assert.match(stdout, /fail {2}warehouse .*PostgreSQL does not answer/)
})

lakeTest('what another project has in the lake is refused to all that read it', async () => {
  await using lake = await withLake()
  await using first = await lakeProject(lake, models)
  await first.ok(['run'])
  await using space = await projectOf(lake, {
    project: 'other',
    settings: () => ({ schema: 'shop' }),
  })
  for (const args of readers) {
    const { stderr } = await space.ok(args, { exitCode: 3 })
    assert.match(stderr, /^error: the lake holds the tables of the project shop/m, args.join(' '))
  }
  const { stdout } = await space.ok(['doctor'], { exitCode: 1 })
  assert.match(stdout, /fail {2}warehouse .*the tables of the project shop/)
})

lakeTest('a catalog of a later version is not migrated', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models)
  await space.ok(['run'])
  await lake.postgres(`UPDATE shop.ducklake_metadata SET value = '9.9' WHERE key = 'version'`)
  const { stderr } = await space.ok(['maintain', '--migrate'], { exitCode: 3 })
  assert.match(stderr, /^error: the catalog of the lake is of a later version/m)
})

lakeTest('doctor finds that the store refuses the key', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models)
  await space.ok(['run'])
  assert.match((await space.ok(['doctor'])).stdout, /ok {4}warehouse .* opens/)
  lake.store.refuseWith = 403
  const { stdout } = await space.ok(['doctor'], { exitCode: 1 })
  assert.match(stdout, /fail {2}warehouse {2}the store refuses the key: .*\n.*LAKE_S3_KEY_ID/)
})

/** A machine where something is wrong. */
function projectOf(
  lake: TestLake,
  { settings, env, project = 'shop' }: Partial<Row>,
): Promise<Workspace> {
  const given = { ...lake.settings, s3_retry_seconds: '0', ...settings?.(lake) }
  const files = { ...models, 'eider.yml': `name: ${project}\nlake:\n${settingLines(given)}` }
  return lakeProject(lake, files, { ...lake.env, ...env?.(lake) })
}

/** What is in the catalog, and which objects in the store. */
async function contentOf(lake: TestLake): Promise<unknown> {
  const [[states] = []] = await lake.postgres('SELECT max(snapshot_id) FROM shop.ducklake_snapshot')
  const schemas = await lake.postgres(
    "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema)' ORDER BY 1",
  )
  const store = join(lake.servers.directory, 'store')
  const objects = readdirSync(store, { recursive: true, encoding: 'utf8' })
  return { states, schemas, objects: objects.filter((path) => path.includes(lake.database)) }
}

function assertNoSecret(
  lake: TestLake,
  { dir }: Workspace,
  outcomes: readonly Outcome[],
  name: string,
): void {
  const written = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !['eider.yml', '.env'].includes(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
  const printed = outcomes.flatMap(({ stdout, stderr }) => [stdout, stderr])
  for (const secret of [lake.password, 'hush', lake.env['LAKE_S3_SECRET']!])
    for (const text of [...printed, ...written])
      assert.not(text.includes(secret), `${name}: a secret is in\n${text.slice(0, 2000)}`)
}

test.run()
