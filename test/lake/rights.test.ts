// The roles and the policy of docs/scale-out.md, as they stand there: each kind of machine can do its work, and no more.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { rightsTest } from '../support/lake/lake-test.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { openRightsStore, secretOf } from '../support/lake/versitygw.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { repository, type Workspace } from '../support/workspace.ts'

const page = readFileSync(join(repository, 'docs', 'scale-out.md'), 'utf8')

/** The block of code after a comment. */
function blockOf(name: string): string {
  const found = new RegExp(`<!-- rights:${name} -->\\s+\`\`\`\\w+\\n([^]*?)\`\`\``).exec(page)
  assert.ok(found, name)
  return found[1]!
}

const keys = ['shop-collector', 'shop-runner', 'shop-service', 'shop-maintain']

const models = {
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  'models/mart/total.sql': '-- @expose n\nSELECT count(*) AS n FROM raw.orders\n',
}

type Machine = (role: string, key: string) => Promise<Workspace>

rightsTest('each machine does its work with its own role and key', async () => {
  await using lake = await withLake()
  const roles = blockOf('postgres').replace('DATABASE lake', `DATABASE ${lake.database}`)
  await lake.postgres(roles)
  await using store = await openRightsStore('shop-lake', keys, blockOf('store'))
  const machine: Machine = (role, key) => machineOf(lake, store.endpoint, role, key)

  await using runner = await machine('shop_runner', 'shop-runner')
  await runner.ok(['run'])
  await lake.postgres(blockOf('collector'))
  await using collector = await machine('shop_collector', 'shop-collector')
  for (const ids of [[1, 2], [3]]) {
    await collect(collector, ids)
    await collector.ok(['flush'])
  }
  await runner.ok(['run'])
  assert.match((await runner.ok(['query', 'FROM mart.total'])).stdout, /^3$/m)
  await using maintainer = await machine('shop_runner', 'shop-maintain')
  await maintainer.ok(['maintain'])
  // What maintenance has written out of PostgreSQL is changed in another way.
  await collect(collector, [4])
  await collector.ok(['flush'])
  await runner.ok(['run'])
  await maintainer.ok(['maintain'])

  await using service = await machine('shop_service', 'shop-service')
  assert.match((await service.ok(['query', 'FROM mart.total'])).stdout, /^4$/m)
  await service.ok(['pull'])
  const written = await service.ok(['run'], { exitCode: 3 })
  assert.match(written.stderr, /shop_service lacks a right in PostgreSQL/)
  for (const args of [['maintain'], ['run', '--full-refresh']]) {
    const { stdout, stderr } = await collector.eider(args)
    assert.match(stdout + stderr, /shop_collector lacks a right in PostgreSQL/, args.join(' '))
  }
  for (const table of ['data_file', 'table', 'schema', 'metadata', 'snapshot']) {
    const change = `SET ROLE shop_collector; UPDATE shop.ducklake_${table} ${setOf(table)}`
    assert.match(await refusalOf(lake, change), /permission denied/)
  }
  // The key of runs reads and writes, but neither lists nor deletes.
  await using other = await machine('shop_runner', 'shop-runner')
  const refused = await other.ok(['maintain'], { exitCode: 3 })
  assert.match(refused.stderr, /the store refuses the key/)
})

const setOf = (table: string) =>
  table === 'metadata'
    ? "SET value = '0'"
    : table === 'snapshot'
      ? 'SET schema_version = 0'
      : 'SET end_snapshot = 1'

const refusalOf = (lake: TestLake, text: string): Promise<string> =>
  lake.postgres(text).then(() => 'nothing was refused', String)

function machineOf(
  lake: TestLake,
  endpoint: string,
  role: string,
  key: string,
): Promise<Workspace> {
  const catalog = lake.settings['catalog']!.replace(`//${lake.user}@`, `//${role}@`)
  const password = new RegExp(`ROLE ${role} LOGIN PASSWORD '([^']*)'`).exec(page)?.[1]
  const settings = {
    catalog,
    data: 's3://shop-lake/prod/',
    s3_endpoint: endpoint,
    s3_url_style: 'path',
    // What a key may not do is refused for good.
    s3_retry_seconds: '0',
  }
  const env = {
    ...lake.env,
    LAKE_PASSWORD: password!,
    LAKE_S3_KEY_ID: key,
    LAKE_S3_SECRET: secretOf(key),
  }
  return lakeProject({ ...lake, settings }, models, env)
}

async function collect(space: Workspace, ids: readonly number[]): Promise<void> {
  const options = ['--port', '0', '--admin-port', '0']
  await using daemon = await space.start(['collect', 'daemon', ...options])
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ids.map((id) => `{"id":${id}}\n`).join(''),
  })
  assert.is(answer.status, 202)
}

test.run()
