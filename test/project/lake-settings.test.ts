import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { DiagnosticsError } from '../../src/core/diagnostics.ts'
import { UsageError } from '../../src/core/failures.ts'
import { type LakeSettings, requireWhole } from '../../src/core/lake.ts'
import type { Environment } from '../../src/project/environment-values.ts'
import { loadProject } from '../../src/project/load.ts'
import type { Project } from '../../src/project/project.ts'

async function load(lake: string, env: Environment = {}, target = 'prod'): Promise<Project> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-lake-'))
  try {
    await writeFile(join(dir, 'eider.yml'), `name: shop\ntargets:\n  dev:\n  prod:\n${lake}`)
    return await loadProject(dir, { env, flags: {}, target })
  } finally {
    await rm(dir, { recursive: true })
  }
}

/** What the program says, with the text that is shown. */
async function refusal(lake: string, env: Environment = {}): Promise<string> {
  try {
    const { paths } = await load(lake, env)
    requireWhole(paths.lake!)
  } catch (error) {
    if (error instanceof UsageError) return `${error.message}\n${error.hint}`
    if (error instanceof DiagnosticsError)
      return error.diagnostics.map((one) => showDiagnostic(one)).join('\n')
    throw error
  }
  throw new Error('nothing was refused')
}

const lakeOf = async (...args: Parameters<typeof load>): Promise<LakeSettings | undefined> =>
  (await load(...args)).paths.lake

const yml = (...lines: readonly string[]) =>
  ['    lake:', ...lines.map((line) => `      ${line}`), ''].join('\n')
const url = 'catalog: postgres://eider@db.example:5433/lake?sslmode=verify-full'
const whole = yml(url, 'data: s3://shop-lake/prod')
const secrets = { LAKE_PASSWORD: 'hush-1', LAKE_S3_KEY_ID: 'id', LAKE_S3_SECRET: 'hush-2' }

test('a target with a group "lake" is one; the others are files', async () => {
  const lake = (await lakeOf(whole, secrets))!
  assert.equal(lake.catalog, {
    host: 'db.example',
    port: 5433,
    user: 'eider',
    database: 'lake',
    parameters: [['sslmode', 'verify-full']],
    password: 'hush-1',
  })
  assert.is(lake.schema, 'shop')
  assert.is(lake.store.data, 's3://shop-lake/prod/')
  assert.equal([lake.store.endpoint, lake.store.usesTls], [null, true])
  assert.is(lake.keepDays, 7)
  requireWhole(lake)
  assert.is(await lakeOf(whole, { ...secrets, LAKE_CATALOG: 'postgres://e@h/l' }, 'dev'), undefined)
})

test('a variable is taken before the file, and a URL may have its password there', async () => {
  const env = {
    LAKE_CATALOG: 'postgresql://e:p%40ss@[::1]/l',
    LAKE_S3_ENDPOINT: 'http://s3.test:9000',
  }
  const lake = (await lakeOf(whole, env))!
  assert.equal(
    [lake.catalog?.host, lake.catalog?.port, lake.catalog?.password],
    ['::1', 5432, 'p@ss'],
  )
  assert.equal([lake.store.endpoint, lake.store.usesTls], ['s3.test:9000', false])
})

test('services and the daemon need no variables of the lake', async () => {
  const lake = await lakeOf(yml('schema: other'))
  assert.equal([lake?.catalog, lake?.store.data, lake?.schema], [null, null, 'other'])
})

for (const [name, lake, env, said] of [
  [
    'a password in the URL',
    yml('catalog: postgres://e:hush-0@h/l'),
    {},
    /:6:16 error config-invalid-value: "lake.catalog" must be a URL without a password[\s\S]*LAKE_PASSWORD/,
  ],
  [
    'a password behind the ?',
    yml('catalog: postgres://e@h/l?password=hush-0'),
    {},
    /"lake.catalog" must be a URL without a password[\s\S]*LAKE_PASSWORD/,
  ],
  [
    'a password with a slash',
    yml('catalog: postgres://e:pa/hush-0@h/l'),
    {},
    /"lake.catalog" must be a URL without a password/,
  ],
  [
    'a password as libpq writes it',
    yml('catalog: host=h dbname=l password=hush-0'),
    {},
    /"lake.catalog" must be a URL without a password/,
  ],
  [
    'a password of the store in a variable',
    whole,
    { LAKE_S3_ENDPOINT: 'http://e:hush-0@h:9000' },
    /^the variable LAKE_S3_ENDPOINT must be a URL of a host/,
  ],
  [
    'another sslmode',
    yml('catalog: postgres://e@h/l?sslmode=on'),
    {},
    /"lake.catalog" must be a URL such as[\s\S]*hint: sslmode is one of disable, /,
  ],
  [
    'a password',
    yml(url, 'password: hush-0'),
    {},
    /"lake.password" must be set outside of eider.yml[\s\S]*LAKE_PASSWORD/,
  ],
  ['a secret', yml(url, 's3_secret: hush-0'), {}, /"lake.s3_secret" must be [\s\S]*LAKE_S3_SECRET/],
  [
    'another kind of catalog',
    yml('catalog: mysql://e@h/l'),
    {},
    /"lake.catalog" must be a URL such as postgres:/,
  ],
  [
    'a catalog without a database',
    yml('catalog: postgres://e@h/'),
    {},
    /"lake.catalog" must be a URL/,
  ],
  [
    'a parameter that could be a secret',
    yml('catalog: postgres://e@h/l?passfile=x'),
    {},
    /"lake.catalog" must be[\s\S]*hint: supported after the \? are sslmode, /,
  ],
  [
    'another kind of catalog in a variable',
    whole,
    { LAKE_CATALOG: 'mysql://e:hush-0@h/l' },
    /the variable LAKE_CATALOG must be a URL such as/,
  ],
  [
    'another kind of store',
    yml(url, 'data: gs://bucket/x'),
    {},
    /"lake.data" must be a URL such as s3:/,
  ],
  [
    'a database and a lake',
    `    database: x.duckdb\n${whole}`,
    {},
    /:5:15 error config-invalid-value: "targets.prod" must be a database file or a lake, not both/,
  ],
  ['no days', yml(url, 'keep_days: 0'), {}, /"lake.keep_days" must be an integer from 1/],
  [
    'another style',
    yml(url, 's3_url_style: both'),
    {},
    /"lake.s3_url_style" must be one of vhost, path/,
  ],
  [
    'no catalog',
    yml('data: s3://shop-lake/'),
    secrets,
    /^lake.catalog is not set[\s\S]*LAKE_CATALOG/,
  ],
  ['no data', yml(url), secrets, /^lake.data is not set/],
  ['no keys', whole, { LAKE_S3_KEY_ID: 'id' }, /^lake.s3_secret is not set[\s\S]*chain/],
] as const)
  test(`${name} is refused, and no secret is shown`, async () => {
    const text = await refusal(lake, env)
    assert.match(text, said)
    assert.not.match(text, /hush/)
  })

test.run()
