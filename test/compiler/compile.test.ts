import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compile } from '../../src/compiler/compile.ts'
import { seedQuery } from '../../src/compiler/seed.ts'
import type { Model } from '../../src/core/model.ts'
import { Resources } from '../../src/core/resources.ts'
import { Database } from '../../src/duckdb/database.ts'
import { loadProject } from '../../src/project/load.ts'
import { compileOne, compileTexts, mistakesOf, modelOf } from '../support/compile-texts.ts'

const columns = (model: Model) => model.columns.map(({ name, type }) => `${name} ${type}`)

async function temporaryProject(files: Readonly<Record<string, string>>) {
  const resources = new Resources()
  const dir = await mkdtemp(join(tmpdir(), 'eider-compile-'))
  resources.defer(() => rm(dir, { recursive: true }))
  for (const [path, text] of Object.entries({ 'eider.yml': 'name: test\n', ...files })) {
    await mkdir(join(dir, path, '..'), { recursive: true })
    await writeFile(join(dir, path), text)
  }
  return Object.assign(resources, { dir })
}

test('columns and types, in order of dependency', async () => {
  const project = await compileTexts({
    'mart.t':
      '-- @kind: merge\n-- @unique_key: ID\n-- @expose "id"\nselect id, sum(v)::BIGINT as v from stg.v group by id',
    'stg.v': '-- @kind: view\nselect id, price * 2 as v, doc from raw.e',
    'raw.e': '-- @kind: events\nid INTEGER NOT NULL, price DECIMAL(10,2), doc JSON',
  })
  assert.equal([...project.models.keys()], ['raw.e', 'stg.v', 'mart.t'])
  assert.equal(columns(modelOf(project, 'stg.v')), ['id INTEGER', 'v DECIMAL(18,2)', 'doc JSON'])
  const mart = modelOf(project, 'mart.t')
  assert.is(mart.kind, 'merge')
  assert.equal(mart.kind === 'merge' && mart.uniqueKey, ['id'])
  assert.equal(mart.expose?.key, ['id'])
  assert.equal(mart.dependsOn, ['stg.v'])
})

test('the body is the statement alone', async () => {
  for (const [text, body] of [
    ['-- @kind: table\nselect 1 as x; -- done', 'select 1 as x'],
    ['-- @kind: table\nselect 1 as x -- done', 'select 1 as x'],
    ['\ufeff-- @kind: table\r\n-- a note\r\n\r\nselect 1 as x\r\n;;\r\n', 'select 1 as x'],
    ["select '\n-- @kind: view\n' as s", "select '\n-- @kind: view\n' as s"],
    ['/* -- @kind: view */ values (1)', 'values (1)'],
    ['select 1 as x -- inside\n, 2 as y', 'select 1 as x -- inside\n, 2 as y'],
    ['from range(3) t(x)', 'from range(3) t(x)'],
  ] as const) {
    const model = await compileOne(text)
    assert.is(model.kind, 'table', text)
    assert.is(model.kind === 'table' && model.body.text, body)
  }
})

test('annotations with and without a colon, in any letter case, among comments', async () => {
  const text = `--@Kind MERGE
-- an ordinary comment, and a@b.example

--   @unique_key:  "Line No" , id
-- @expose id
-- @description:  Orders, "newest": state
select 1 as id, 2 as "Line No"`
  assert.equal(await mistakesOf({ 'a.b': text }), ['a.b:7:17 exposed-name'])
  const model = await compileOne(text.replace('-- @expose id\n', ''))
  assert.equal(model.kind === 'merge' && model.uniqueKey, ['Line No', 'id'])
  assert.is(model.description, 'Orders, "newest": state')
  assert.is(model.expose, null)
})

test('mistakes of all files at once, none of them twice', async () => {
  assert.equal(
    await mistakesOf({
      'raw.s': 'select 1 as id, 2 as v',
      'a.kind': '-- @kind: tabel\nselect 1 as x',
      'a.column': 'select vv from raw.s',
      'a.reader': 'select nothing from a.column join a.kind using (x)',
      'a.syntax': 'select from where',
      'b.model': 'select * from raw.ss',
      'c.cycle': 'select * from c.cycle',
      'd.key': '-- @expose idd\nselect id from raw.s',
      'e.events': '-- @kind: events\nid INTEGRE',
    }),
    [
      'a.column:1:8 sql-binding',
      'a.kind:1:11 unknown-kind',
      'a.syntax:1:13 sql-syntax',
      'b.model:1:15 unknown-model',
      'c.cycle:1:15 dependency-cycle',
      'd.key:1:12 unknown-key-column',
      'e.events:2:4 invalid-column-type',
    ],
  )
})

test('places are right after characters of several bytes and units', async () => {
  const wide = "-- größe 😀\nselect 'é😀' as a, /* 漢字 */ "
  for (const [rest, mistake] of [
    ['nope', 'sql-binding'],
    ['nofunc(1)', 'sql-binding'],
    ['x y z', 'sql-syntax'],
    ['(from s)', 'unknown-model'],
  ] as const) {
    const [found] = await mistakesOf({ 'a.b': wide + rest })
    const column = rest === 'x y z' ? 32 : rest === '(from s)' ? 34 : 28
    assert.is(found, `a.b:2:${column} ${mistake}`)
  }
})

test('names that are no identifiers', async () => {
  const odd = [
    'select',
    'a b',
    `quo"te`,
    `it's`,
    'größe',
    '日本',
    '--',
    '(',
    '; drop table x',
    '%',
    '$$',
  ]
  const texts = Object.fromEntries(odd.map((name) => [`${name} 1.${name}`, 'select 1 as x']))
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const union = odd.map((name) => `select x from ${quoted(`${name} 1`)}.${quoted(name)}`)
  const project = await compileTexts({ ...texts, 'all.all': union.join('\nunion all ') })
  assert.is(modelOf(project, 'all.all').dependsOn.length, odd.length)
  assert.equal([...project.models.keys()].at(-1), 'all.all')
})

test('files that are read: seeds, names, lists and patterns', async () => {
  await using project = await temporaryProject({
    'seeds/raw/pay ments[1].csv': 'id,amount\n1,2.50\n2,3.75\n',
    'seeds/raw/people.json': '[{"name":"Ada","tags":["a"]}]',
    'data/a.csv': 'x\n1\n',
    'data/b.csv': 'x\n2\n',
    'models/a/one.sql': `select * from 'data/a.csv'`,
    'models/a/many.sql': `select * from read_csv(['data/b.csv', 'data/*.csv'], header = true)`,
    'models/a/seeded.sql': 'select * from raw."pay ments[1]", raw.people',
    'models/a/dynamic.sql': `select * from read_csv(getvariable('f'))`,
  })
  const { files } = await loadProject(project.dir, { env: {}, flags: {} })
  const broken = files.models.filter(({ name }) => name === 'a.dynamic')
  const sound = files.models.filter(({ name }) => name !== 'a.dynamic')
  const compiled = await compile({ ...files, models: sound }, project)
  const filesOf = (name: string) => modelOf(compiled, name).files
  assert.equal(filesOf('a.one'), ['data/a.csv'])
  assert.equal(filesOf('a.many'), ['data/*.csv', 'data/b.csv'])
  assert.equal(filesOf('a.seeded'), [])
  const seed = modelOf(compiled, 'raw.pay ments[1]')
  assert.equal(seed.files, ['seeds/raw/pay ments[1].csv'])
  assert.equal(columns(seed), ['id BIGINT', 'amount DOUBLE'])
  assert.equal(columns(modelOf(compiled, 'raw.people')), ['name VARCHAR', 'tags VARCHAR[]'])
  assert.is(broken.length, 1)

  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  assert.ok(seed.kind === 'seed')
  const rows = await connection.rows(seedQuery(seed, project.dir))
  assert.equal(rows, [
    { id: '1', amount: 2.5 },
    { id: '2', amount: 3.75 },
  ])
})

test('a definition depends on the meaning of a file, not on other models', async () => {
  const definition = async (text: string, more = {}) =>
    modelOf(await compileTexts({ 'raw.s': 'select 1 as a, 2 as b', ...more, 'z.z': text }), 'z.z')
      .definition
  const one = await definition('select a, b from raw.s')
  assert.is(await definition('SELECT a,b\n\tFROM raw.s -- x\n;', { 'x.x': 'select 1 as y' }), one)
  const others = await Promise.all(
    [
      'select b, a from raw.s',
      'select a, b from raw.s where true',
      `select a, b from raw.s where 'x' = ' x'`,
      '-- @expose a\nselect a, b from raw.s',
      '-- @kind: merge\n-- @unique_key: a\nselect a, b from raw.s',
      '-- @kind: merge\n-- @unique_key: b\nselect a, b from raw.s',
    ].map((text) => definition(text)),
  )
  assert.is(new Set([one, ...others]).size, 7)
  const pivot = await definition('pivot raw.s on a using sum(b)')
  assert.is(await definition('pivot   raw.s on a -- x\nusing sum(b)'), pivot)
  assert.is.not(await definition('pivot raw.s on a using max(b)'), pivot)
})

test.run()
