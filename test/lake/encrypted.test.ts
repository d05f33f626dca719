// A lake that is made with lake.encrypted: every kind of work is done in it, its objects hold no rows in the clear, and a bit
// that flips is noticed.

import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { flipBit } from '../support/flip-bit.ts'
import { lakeProject, onLake } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openRawEngine } from '../support/lake/raw-engine.ts'
import { objectsOf } from '../support/lake/stored-files.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FLIPS = 40

const models = {
  'rows.csv': 'n\n1\n',
  'models/core/log.sql':
    "-- @kind: append\n-- @incremental: n\nSELECT n::BIGINT AS n FROM read_csv('rows.csv')\n",
  'models/core/changed.sql':
    '-- @kind: merge\n-- @unique_key: n\nSELECT n, max(n) OVER () AS m FROM core.log\n',
  'models/core/names.sql':
    "SELECT i AS id, 'name of ' || i AS name, i AS h FROM range(20000) t(i)\n",
  'models/mart/names.sql': '-- @expose id\nFROM core.names\n',
}

const linesOf = (settings: Readonly<Record<string, string>>) =>
  Object.entries(settings).map(([name, value]) => `      ${name}: '${value}'\n`)

async function projectOn(lake: TestLake): Promise<Workspace> {
  const settings = `${linesOf(lake.settings).join('')}      encrypted: true\n`
  const config = `name: shop\ntargets:\n  dev: {}\n  back: {}\n  prod:\n    lake:\n${settings}`
  return onLake(await workspace({ 'eider.yml': config, ...models }), {
    ...lake.env,
    EIDER_TARGET: 'prod',
  })
}

lakeTest('a file moves into an encrypted lake, works there, and moves back', async () => {
  await using lake = await withLake()
  await using space = await projectOn(lake)
  await space.ok(['run', '--target', 'dev'])
  await space.ok(['move', '--from', 'dev', '--to', 'prod'])
  for (const last of [2, 3]) {
    await space.write(
      'rows.csv',
      `n\n${Array.from({ length: last }, (_, i) => i + 1).join('\n')}\n`,
    )
    await space.ok(['run'])
  }
  await space.ok(['pull'])
  await space.ok(['maintain'])
  await space.ok(['run', 'core.names', '--full-refresh'])
  const text = `SELECT (SELECT list(n ORDER BY n)::VARCHAR FROM core.log) AS log, (SELECT sum(m)::VARCHAR FROM core.changed) AS m,
    (SELECT sum(h)::VARCHAR FROM core.names) AS h`
  const { stdout } = await space.ok(['query', text, '--json'])
  assert.equal(JSON.parse(stdout), { log: '[1, 2, 3]', m: '9', h: '199990000' })
  await space.ok(['move', '--from', 'prod', '--to', 'back'])
  assert.is((await space.ok(['query', text, '--json', '--target', 'back'])).stdout, stdout)
  const [counts] = await lake.postgres(`
    SELECT count(*), count(encryption_key) FROM (
      SELECT encryption_key FROM shop.ducklake_data_file
      UNION ALL SELECT encryption_key FROM shop.ducklake_delete_file) f`)
  assert.is(counts![0], counts![1])
  assert.ok(Number(counts![0]) > 3)
  const [object] = await objectsOf(lake, 'core.names')
  assert.not.ok(readFileSync(object!).includes('name of '))
})

lakeTest('events are flushed into an encrypted lake, each once', async () => {
  await using lake = await withLake()
  await using space = await projectOn(lake)
  await space.write('models/raw/orders.sql', '-- @kind: events\nid bigint not null\n')
  await space.ok(['run'])
  for (const ids of [[1, 2], [3]]) {
    await using daemon = await space.start([
      'collect',
      'daemon',
      '--port',
      '0',
      '--admin-port',
      '0',
    ])
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const body = ids.map((id) => `{"id":${id}}\n`).join('')
    const url = `${daemon.url}/collect/raw/orders/batch`
    assert.is((await fetch(url, { method: 'POST', headers, body })).status, 202)
    await daemon.stop()
    await space.ok(['flush'])
  }
  const ids = 'SELECT list(id ORDER BY id)::VARCHAR AS ids FROM raw.orders'
  assert.match((await space.ok(['query', ids])).stdout, /\[1, 2, 3\]/)
  const [keys] = await lake.postgres(
    'SELECT count(*), count(encryption_key) FROM shop.ducklake_data_file',
  )
  assert.is(keys![0], keys![1])
})

lakeTest('a bit that flips is noticed wherever it is, and nothing is published', async () => {
  await using lake = await withLake()
  await using space = await projectOn(lake)
  await space.ok(['run'])
  const [object] = await objectsOf(lake, 'mart.names')
  const whole = readFileSync(object!)
  {
    await using engine = await openRawEngine(lake)
    const connection = await engine.connect()
    await connection.run('SET enable_external_file_cache = false')
    const read = () =>
      connection.rows('SELECT count(*)::INTEGER, sum(hash(t))::VARCHAR FROM mart.names t')
    const before = await read()
    let noticed = 0
    for (let i = 0; i < FLIPS; i++) {
      const damaged = Buffer.from(whole)
      const at = Math.floor(((i + 0.5) * whole.length) / FLIPS)
      damaged[at]! ^= 1 << (i % 8)
      writeFileSync(object!, damaged)
      const after = await read().catch(() => null)
      if (after === null) noticed++
      else assert.equal(after, before, `byte ${at}`)
    }
    assert.ok(noticed > FLIPS / 2, `${noticed} noticed`)
  }
  writeFileSync(object!, whole)
  await flipBit(object!, Math.floor(whole.length / 2))
  const { exitCode, stderr } = await space.eider(['pull'])
  assert.is(exitCode, 3, stderr)
  assert.match(stderr, /^error: .*an object of the lake is damaged/)
  const again = await space.eider(['pull', '--json'])
  assert.match(again.stdout, /"code":"lake-damaged"/)
  await space.ok(['run', 'mart.names', '--full-refresh'])
  assert.match((await space.ok(['pull'])).stdout, /pulled snapshot/)
})

lakeTest('a lake that was made plain is refused with the setting', async () => {
  await using lake = await withLake()
  await using plain = await lakeProject(lake, models)
  await plain.ok(['run'])
  await using space = await projectOn(lake)
  for (const args of [['run'], ['pull'], ['query', 'SELECT 1']]) {
    const { exitCode, stderr } = await space.eider(args)
    assert.is(exitCode, 3, stderr)
    assert.match(
      stderr,
      /^error: this lake was made without encryption: .*lake\.encrypted/s,
      stderr,
    )
  }
})

test.run()
