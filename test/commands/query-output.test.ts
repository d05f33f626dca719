// `eider query --output`: the file is whole, or as it was.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, lstat, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sheetOf } from '../support/sheet.ts'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/core/orders.sql': `-- @expose id\nSELECT range::INTEGER AS id, 'o' || range AS name FROM range(3)\n`,
}

const BIG = `SELECT range AS n, 'text ' || range AS t FROM range(300000) ORDER BY n DESC`
const FAILS = `SELECT CASE WHEN range = 290000 THEN error('boom') ELSE 'x' END AS v FROM range(300000)`

async function built(): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run'])
  return space
}

const read = (space: Workspace, name: string) => readFile(space.path(name), 'utf8')
const leftovers = async ({ dir }: Workspace) =>
  (await readdir(dir)).filter((name) => name.endsWith('.tmp'))

test('a file has what the same format prints, and its name says the format', async () => {
  await using space = await built()
  const queries = ['core.orders', 'FROM core.orders WHERE id > 9', 'DESCRIBE core.orders']
  const formats = { csv: 'csv', json: 'json', ndjson: 'ndjson', JSONL: 'ndjson', md: 'markdown' }
  for (const sql of queries)
    for (const [ending, format] of Object.entries(formats)) {
      const { stdout } = await space.ok(['query', sql, '--format', format])
      await space.ok(['query', sql, '--output', `rows.${ending}`])
      assert.is(await read(space, `rows.${ending}`), stdout, `${sql} ${ending}`)
    }
  const wrote = await space.ok(['query', 'core.orders', '-o', 'rows.txt', '--format', 'csv'])
  assert.is(wrote.stdout, 'wrote rows.txt: 3 rows\n')
  assert.is(await read(space, 'rows.txt'), 'id,name\r\n0,o0\r\n1,o1\r\n2,o2\r\n')
  await space.ok(['query', 'core.orders', '-o', 'rows.csv', '--limit', '1'])
  assert.is(await read(space, 'rows.csv'), 'id,name\r\n0,o0\r\n')
  const { stdout } = await space.ok(['query', 'core.orders', '-o', 'rows.csv', '--json'])
  const path = space.path('rows.csv')
  assert.equal(JSON.parse(stdout), { event: 'rows-written', path, format: 'csv', rows: 3 })
  await space.ok([
    'query',
    '--at',
    new Date().toISOString().slice(0, 10),
    'core.orders',
    '-o',
    'past.csv',
  ])
  assert.is(await read(space, 'past.csv'), 'id,name\r\n0,o0\r\n1,o1\r\n2,o2\r\n')
  await space.write('sub/keep.txt', '')
  await space.ok(['query', 'core.orders', '-o', 'here.csv'], { cwd: space.path('sub') })
  assert.is(await read(space, 'sub/here.csv'), 'id,name\r\n0,o0\r\n1,o1\r\n2,o2\r\n')
})

test('a large result is written in its order', async () => {
  await using space = await built()
  const { stdout } = await space.ok(['query', BIG, '-o', 'big.csv'])
  assert.is(stdout, 'wrote big.csv: 300,000 rows\n')
  const lines = (await read(space, 'big.csv')).split('\r\n')
  assert.is(lines.length, 300_002)
  assert.ok(lines.slice(1, -1).every((line, i) => line === `${299_999 - i},text ${299_999 - i}`))
})

test('a workbook of Excel has types, and text where a value would be another one', async () => {
  await using space = await built()
  const sql = `SELECT 1.50 AS d, DATE '2026-01-02' AS day, 170141183460469231731687303715884105727 AS h,
    '=1+1' AS f, [1, 2] AS l, TIMESTAMPTZ '2026-01-02 14:00:00+02' AS t, TIMESTAMP_NS '2026-01-02 12:00:00' AS ns,
    NULL::TIMESTAMP_S AS none, TIMESTAMPTZ 'infinity' AS z, true AS b, 'x' AS "a & b", 7 AS "row of the sheet"`
  const { stdout } = await space.ok(['query', sql, '-o', 'rows.xlsx'])
  assert.is(stdout, 'wrote rows.xlsx: 1 row\n')
  const { cells } = sheetOf(await readFile(space.path('rows.xlsx')))
  assert.equal(cells.map(({ place, type = 'n', text }) => `${place} ${type} ${text}`).slice(12), [
    'A2 n 1.50',
    'B2 n 46024',
    'C2 inlineStr 170141183460469231731687303715884105727',
    'D2 inlineStr =1+1',
    'E2 inlineStr [1,2]',
    'F2 n 46024.5',
    'G2 n 46024.5',
    'I2 inlineStr infinity',
    'J2 b 1',
    'K2 inlineStr x',
    'L2 n 7',
  ])
  assert.is(cells[10]!.text, 'a & b')
  await space.ok(['query', 'core.orders', '-o', 'rows.out', '--format', 'xlsx'])
  const rows = sheetOf(await readFile(space.path('rows.out'))).cells
  assert.is(rows.at(-1)!.place, 'B4')
  const tooMany = ['query', 'FROM range(1048576)', '-o', 'rows.xlsx']
  const many = await space.ok(tooMany, { exitCode: 2 })
  assert.match(many.stderr, /room for 1048575 rows, and these are 1048576\nhint: choose fewer rows/)
  const printed = await space.ok(['query', 'core.orders', '--format', 'xlsx'], { exitCode: 2 })
  assert.match(printed.stderr, /xlsx is written to a file\nhint: name it: --output rows\.xlsx/)
})

test('Parquet keeps types, and digits that it has no type for are text', async () => {
  await using space = await built()
  const sql = `SELECT 1.50 AS d, DATE '2026-01-02' AS day, 170141183460469231731687303715884105727 AS h,
    [1::HUGEINT] AS l, {'UUID': 1, 'b, UUID': 2::HUGEINT} AS s, INTERVAL '1.5 seconds' AS i`
  await space.ok(['query', sql, '-o', 'rows.parquet'])
  const types = `SELECT typeof(d) AS d, typeof(day) AS day, h, typeof(l) AS l, typeof(s) AS s, i FROM 'rows.parquet'`
  const { stdout } = await space.ok(['query', types, '--json'])
  assert.equal(JSON.parse(stdout), {
    d: 'DECIMAL(3,2)',
    day: 'DATE',
    h: '170141183460469231731687303715884105727',
    l: 'VARCHAR[]',
    s: 'STRUCT(UUID INTEGER, "b, UUID" VARCHAR)',
    i: '00:00:01.5',
  })
})

test('a query that fails leaves the file as it was, and no other one', async () => {
  await using space = await built()
  for (const ending of ['csv', 'json', 'ndjson', 'md', 'parquet']) {
    await space.write(`old.${ending}`, 'old')
    for (const [sql, problem] of [
      [FAILS, /error query-failed: boom/],
      ['FROM core.ordrs', /did you mean "core\.orders"\?/],
    ] as const)
      for (const name of [`old.${ending}`, `new.${ending}`]) {
        const { stderr } = await space.ok(['query', sql, '-o', name], { exitCode: 1 })
        assert.match(stderr, problem)
      }
    assert.is(await read(space, `old.${ending}`), 'old')
  }
  assert.equal(
    (await readdir(space.dir)).filter((name) => /^new|\.tmp$/.test(name)),
    [],
  )
  await space.ok(['query', 'DROP TABLE core.orders', '-o', 'old.csv'], { exitCode: 2 })
  assert.is(await read(space, 'old.csv'), 'old')
})

test('so does one that is interrupted', async () => {
  await using space = await built()
  const ends = 'SELECT sum(hash(a.range, b.range)) FROM range(1000000) a, range(1000000) b'
  const streams = 'SELECT a.range, b.range FROM range(1000000) a, range(1000000) b'
  for (const [sql, name] of [
    [ends, 'rows.csv'],
    [ends, 'rows.parquet'],
    [streams, 'rows.json'],
  ] as const) {
    await space.write(name, 'old')
    const { command, args, env } = eiderProcess(['query', sql, '-o', name])
    const child = spawn(command, args, { cwd: space.dir, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()))
    while ((await leftovers(space)).length === 0) await setTimeout(20)
    await setTimeout(300)
    child.kill('SIGINT')
    const [exitCode] = (await once(child, 'close')) as [number | null]
    assert.is(exitCode, 130, sql)
    assert.is(stderr, `stopped; nothing is written to ${name}\n`)
    assert.is(await read(space, name), 'old')
    assert.equal(await leftovers(space), [])
  }
})

test('a link and permissions stay; what cannot be a file is refused before the query', async () => {
  await using space = await built()
  await writeFile(space.path('real.csv'), 'old')
  await chmod(space.path('real.csv'), 0o600)
  await symlink('real.csv', space.path('link.csv'))
  await space.ok(['query', 'core.orders', '-o', 'link.csv'])
  assert.ok((await lstat(space.path('link.csv'))).isSymbolicLink())
  assert.is((await stat(space.path('real.csv'))).mode & 0o777, 0o600)
  assert.match(await read(space, 'real.csv'), /^id,name/)
  const refused = {
    'rows.ods':
      /the end of "rows\.ods" does not say which format the file has\nhint: these do: \.csv, /,
    rows: /the end of "rows" does not say/,
    'nowhere/rows.csv': /--output cannot be written: the directory \S+\/nowhere does not exist/,
  }
  for (const [name, problem] of Object.entries(refused))
    assert.match((await space.ok(['query', FAILS, '-o', name], { exitCode: 2 })).stderr, problem)
  const asCsv = async (name: string) =>
    (await space.ok(['query', FAILS, '-o', name, '--format', 'csv'], { exitCode: 2 })).stderr
  assert.match(await asCsv('models'), /--output cannot be written: \S+\/models is a directory/)
  assert.match(await asCsv('/dev/null'), /\/dev\/null is a pipe, a socket or a device/)
  const table = ['query', FAILS, '-o', 'rows.csv', '--format', 'table']
  assert.match((await space.ok(table, { exitCode: 2 })).stderr, /a table is printed, not written/)
  const { stderr } = await space.ok(['query', FAILS, '--format', 'parquet'], { exitCode: 2 })
  assert.match(stderr, /parquet is written to a file\nhint: name it: --output/)
})

test.run()
