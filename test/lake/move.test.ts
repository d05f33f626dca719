// `eider move` from a file into a lake, on into another one, and back: exact, also of what a lake stores under other types, and killed anywhere.

import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { contentsOf, eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const lakeLines = (settings: TestLake['settings']) =>
  Object.entries(settings)
    .map(([name, value]) => `      ${name}: '${value}'\n`)
    .join('')

const config = ({ settings }: TestLake, more = '') =>
  `name: shop\ntargets:\n  dev: {}\n  back: {}\n  prod:\n    lake:\n${lakeLines(settings)}${more}`

/** A target in the same database and bucket. */
const otherLake = ({ settings }: TestLake) =>
  `  other:\n    lake:\n${lakeLines({
    ...settings,
    schema: 'other',
    data: settings['data']!.replace(/\/$/, '-other/'),
  })}`

/** Values that are easily changed: by a store that has not their type, or a comparison that takes them for others. */
const odd = `SELECT * FROM (VALUES
  (1, 'nan'::DOUBLE, '-0'::FLOAT, 9007199254740993::HUGEINT, INTERVAL '1 month -30 days 1 microsecond', [{'a': '-0'::DOUBLE, 'b': [NULL, 'x, y']}], 'b'::ENUM ('b', 'a'), MAP {'k': [1, NULL]}),
  (1, 'nan'::DOUBLE, '-0'::FLOAT, 9007199254740993::HUGEINT, INTERVAL '1 month -30 days 1 microsecond', [{'a': '-0'::DOUBLE, 'b': [NULL, 'x, y']}], 'b'::ENUM ('b', 'a'), MAP {'k': [1, NULL]}),
  (2, '-inf'::DOUBLE, 0::FLOAT, -9007199254740993::HUGEINT, INTERVAL '30 days', [], 'a'::ENUM ('b', 'a'), MAP {}),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) t(id, d, f, h, i, n, e, m)`

const files = {
  'seeds/core/countries.csv': 'code,name\nch,Switzerland\njp,Japan\n',
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null,\nsize hugeint\n',
  'models/core/versions.sql':
    '-- @kind: scd2\n-- @unique_key: code\nSELECT code, name FROM core.countries\n',
  'models/core/odd.sql': `${odd}\n`,
  'models/core/many.sql':
    "SELECT i AS id, i * 0.1::DOUBLE AS d, 'name ' || i AS name, i::HUGEINT AS h FROM range(50000) t(i)\n",
  'models/core/names.sql': '-- @kind: view\nSELECT name FROM core.countries\n',
  'models/mart/sales.sql':
    '-- @expose id\nSELECT id, size FROM raw.orders WHERE EXISTS (FROM core.names)\n',
}
const EARLY_KILLS = 3

const tables = ['raw.orders', 'core.countries', 'core.versions', 'core.odd', 'core.many']

async function collect(space: Workspace, target: string, ids: readonly number[]): Promise<void> {
  await using daemon = await space.start([
    'collect',
    'daemon',
    '--target',
    target,
    '--port',
    '0',
    '--admin-port',
    '0',
  ])
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: ids.map((id) => `{"id":${id},"size":"${id}00000000000000000001"}\n`).join(''),
  })
  assert.is(answer.status, 202)
}

async function filledProject(lake: TestLake): Promise<Workspace> {
  const { env } = lake
  const space = await workspace({ 'eider.yml': config(lake), ...files })
  await collect(space, 'dev', [1, 2, 3])
  await space.ok(['run', '--target', 'dev'], { env })
  await space.write('seeds/core/countries.csv', 'code,name\nch,Suisse\njp,Japan\n')
  await space.ok(['run', '--target', 'dev'], { env })
  return space
}

interface Line {
  readonly event: string
  readonly table?: string
  readonly content?: string
  readonly copied?: boolean
  readonly model?: string
  readonly status?: string
}

const linesOf = (stdout: string): readonly Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

const contentOf = (lines: readonly Line[]): ReadonlyMap<string, string> =>
  new Map(lines.flatMap(({ table, content }) => (table === undefined ? [] : [[table, content!]])))

const ofDev = async (space: Workspace): Promise<readonly string[]> =>
  (await contentsOf(space)).filter((line) => line.includes('/targets/dev/'))

lakeTest('a file becomes a lake, and a file again, and is what it was', async () => {
  await using lake = await withLake()
  const { env } = lake
  await using space = await filledProject(lake)
  const before = await ofDev(space)
  const there = linesOf(
    (await space.ok(['move', '--from', 'dev', '--to', 'prod', '--json'], { env })).stdout,
  )
  assert.equal(await ofDev(space), before)
  const contents = contentOf(there)
  assert.equal([...contents.keys()].toSorted(), [...tables, 'mart.sales'].toSorted())

  // Only what has no rows is made; events go on after those that came along.
  await collect(space, 'prod', [4])
  const run = linesOf((await space.ok(['run', '--target', 'prod', '--json'], { env })).stdout)
  const built = run.filter(({ status }) => status === 'built').map(({ model }) => model)
  assert.equal(new Set(built), new Set(['core.names', 'mart.sales', 'raw.orders']))
  await space.ok(['pull', '--target', 'prod'], { env })
  const { stdout } = await space.ok(['odata', 'preview', 'mart_sales', '--target', 'prod'], { env })
  assert.is((JSON.parse(stdout) as { value: unknown[] }).value.length, 4)

  const back = linesOf(
    (await space.ok(['move', '--from', 'prod', '--to', 'back', '--json'], { env })).stdout,
  )
  for (const [table, content] of contentOf(back))
    if (!['raw.orders', 'mart.sales'].includes(table))
      assert.is(content, contents.get(table), table)
  const all = async (target: string, table: string) =>
    (await space.ok(['query', `FROM ${table} ORDER BY ALL`, '--json', '--target', target], { env }))
      .stdout
  assert.is(await all('back', 'core.odd'), await all('dev', 'core.odd'))
  assert.is(await all('back', 'core.versions'), await all('dev', 'core.versions'))
  await space.write('eider.yml', config(lake, otherLake(lake)))
  const on = linesOf(
    (await space.ok(['move', '--from', 'prod', '--to', 'other', '--json'], { env })).stdout,
  )
  assert.equal(contentOf(on), contentOf(back))
  for (const target of ['back', 'other']) {
    const last = linesOf((await space.ok(['run', '--target', target, '--json'], { env })).stdout)
    assert.equal(
      last.filter(({ status }) => status === 'built').map(({ model }) => model),
      ['core.names'],
    )
  }
  // Where events go on is known there too.
  await collect(space, 'other', [5])
  await space.ok(['flush', '--target', 'other'], { env })
  const { stdout: counted } = await space.ok(
    ['query', 'SELECT count(*)::INT AS n FROM raw.orders', '--json', '--target', 'other'],
    { env },
  )
  assert.equal(JSON.parse(counted), { n: 5 })
})

lakeTest('killed again and again it goes on, and no table is copied twice', async () => {
  const random = seededRandom(Number(process.env['EIDER_CRASH_SEED'] ?? 1))
  await using lake = await withLake()
  const { env } = lake
  await using space = await filledProject(lake)
  const before = await ofDev(space)
  const copied: string[] = []
  let kills = 0
  for (;;) {
    // At first at any time, then some time after a table is there, so that it comes to an end.
    const afterTable = kills >= EARLY_KILLS
    const { stdout, isKilled } = await killedMove(space, env, random() * 2_500, afterTable)
    const lines = stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line)
    copied.push(...lines.flatMap((line) => (line.copied === true ? [line.table!] : [])))
    if (!isKilled) break
    kills++
    // Between two attempts nobody takes what is there for a whole target.
    if (kills === EARLY_KILLS + 2) {
      const { stderr } = await space.eider(['run', '--target', 'prod'], { env })
      assert.match(stderr, /tables are being moved into this target/)
    }
  }
  assert.ok(kills > 0)
  assert.equal(new Set(copied).size, copied.length, copied.join())
  assert.equal(await ofDev(space), before)
  const again = await space.ok(['move', '--from', 'dev', '--to', 'prod'], { env, exitCode: 3 })
  assert.match(again.stderr, /prod already has tables/)
  const same = linesOf(
    (await space.ok(['move', '--from', 'dev', '--to', 'back', '--json'], { env })).stdout,
  )
  await space.write('eider.yml', config(lake, '  last: {}\n'))
  const back = linesOf(
    (await space.ok(['move', '--from', 'prod', '--to', 'last', '--json'], { env })).stdout,
  )
  assert.equal(contentOf(back), contentOf(same))
})

async function killedMove(
  space: Workspace,
  env: TestLake['env'],
  afterMs: number,
  afterTable: boolean,
): Promise<{ readonly stdout: string; readonly isKilled: boolean }> {
  const {
    command,
    args,
    env: all,
  } = eiderProcess(['move', '--from', 'dev', '--to', 'prod', '--json'], env)
  const child = spawn(command, args, { cwd: space.dir, env: all })
  let stdout = ''
  const seen = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.includes('"copied":true')) resolve()
    })
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const ended = new Promise<boolean>((resolve) => {
    child.on('close', (code, signal) => {
      // The one before may have been killed when all was done, but for its end.
      const wasDone = code === 3 && stderr.includes('prod already has tables')
      if (signal === null && !wasDone) assert.is(code, 0, stderr)
      resolve(signal !== null)
    })
  })
  if (afterTable) await Promise.race([ended, seen])
  await Promise.race([ended, sleep(afterMs)])
  child.kill('SIGKILL')
  return { isKilled: await ended, stdout }
}

lakeTest('what a lake cannot hold is refused, and so is a target that is at work', async () => {
  await using lake = await withLake()
  const { env } = lake
  await using space = await workspace({
    'eider.yml': config(lake),
    'models/core/unions.sql': 'SELECT union_value(n := 1) AS u, 1 AS id\n',
    'models/core/fine.sql': 'SELECT 1 AS id\n',
  })
  await space.ok(['run', '--target', 'dev'], { env })
  const move = ['move', '--from', 'dev', '--to', 'prod', '--wait', '0']
  const refused = async (says: RegExp) =>
    assert.match((await space.ok(move, { env, exitCode: 3 })).stderr, says)
  await refused(/core\.unions: .*"u", which is UNION.*CAST\("u" AS JSON\)/)
  assert.equal(await lake.postgres(`SELECT 1 FROM pg_namespace WHERE nspname = 'shop'`), [])

  await space.write(
    'models/core/unions.sql',
    'SELECT 170141183460469231731687303715884105727::HUGEINT AS id\n',
  )
  await space.ok(['run', '--target', 'dev'], { env })
  await refused(/core\.unions: column "id", which is HUGEINT, has a value that prod cannot store/)
  assert.not.match(
    (
      await space.ok(['query', 'SELECT schema_name FROM duckdb_schemas()', '--target', 'prod'], {
        env,
      })
    ).stdout,
    /\bcore\b/,
  )

  await space.write('models/core/unions.sql', 'SELECT 1 AS id\n')
  await space.ok(['run', '--target', 'dev'], { env })
  const { takeProcessLock } = await import('../../src/files/process-lock.ts')
  {
    await using _held = await takeProcessLock(space.path('.eider', 'targets', 'dev', 'run.lock'))
    await refused(/dev is not at rest: another run is in progress/)
  }
  await space.ok(move, { env })
})

test.run()
