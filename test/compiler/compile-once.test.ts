import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compile } from '../../src/compiler/compile.ts'
import { compileOnce } from '../../src/compiler/compile-once.ts'
import type { CompiledProject } from '../../src/core/model.ts'
import type { ModelName } from '../../src/core/names.ts'
import { hashOf } from '../../src/core/hash.ts'
import { loadProject } from '../../src/project/load.ts'
import { modelName } from '../support/model-name.ts'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const project = {
  'eider.yml': 'name: p\nvars: {one: 1, label: same}\n',
  'macros/m.sql': 'create macro twice(x) as x * 2;\n',
  'seeds/ref/s.csv': 'id,name\n1,a\n2,b\n',
  'seeds/ref/s.yml': 'columns:\n  id: BIGINT\n',
  'data/one.csv': 'a,b\n1,2\n',
  'data/two.csv': 'a,b\n3,4\n',
  'seeds/ref/s[1].csv': 'id\n1\n',
  'seeds/ref/s1.csv': 'id\n1\n',
  'more/deep/d.csv': 'a\n1\n',
  'models/raw/d.sql': "select * from read_csv('more')\n",
  'models/raw/e.sql': '-- @kind: events\nid BIGINT NOT NULL, note VARCHAR\n',
  'models/raw/f.sql': "select * from 'data/one.csv'\n",
  'models/raw/g.sql': "select * from read_csv('data/*.csv')\n",
  'models/mart/m.sql': `-- @kind: merge
-- @unique_key: id
-- @description: marker
-- @check: not_null(id)
-- @check: accepted(total, 1, 2, 123456789012345678901234567890)
-- @check: row_count(>= 0)
-- @warn: references(id, ref.s.id)
-- @check: id > 0 AND '' <> \${label}
-- @expose id
select id, twice(id) as double, sum(id) as total from ref.s group by all
`,
  'models/mart/h.sql':
    '-- @kind: scd2\n-- @unique_key: id\nselect id from mart.m union select a from raw.f where a > ${one}\n',
}

const pathsOf = (space: Workspace) => ({ dir: space.dir, state: space.path('.eider') })
const filesOf = async (space: Workspace) =>
  (await loadProject(space.dir, { env: {}, flags: {} })).files
const once = async (space: Workspace, save = true) =>
  compileOnce(await filesOf(space), { ...pathsOf(space), save })

/** Puts another description into all that is saved: who reads it there has not compiled. */
async function mark(space: Workspace): Promise<void> {
  const path = space.path('.eider/compiled.json')
  const [first = '', second = '', ...more] = (await readFile(path, 'utf8')).trimEnd().split('\n')
  const saved = JSON.parse(second) as { readonly models: readonly object[] }
  const models = saved.models.map((model) => ({ ...model, description: 'restored' }))
  const text = [JSON.stringify({ ...saved, models }), ...more].join('\n')
  const heading = { ...(JSON.parse(first) as object), checksum: hashOf(32, [text]) }
  await writeFile(path, `${JSON.stringify(heading)}\n${text}\n`)
}

/** With what is computed when it is asked for, and without what only a project that is saved has. */
const whole = ({ models, macros, lineage, warnings, external }: CompiledProject) => ({
  models,
  macros,
  warnings,
  external,
  lineage: lineage(),
})

/** Names of the models that are not taken from what was marked. */
async function compiledIn(space: Workspace): Promise<readonly string[]> {
  const { models } = await once(space, false)
  const all = [...models.values()].filter(({ description }) => description !== 'restored')
  return all.map(({ name }) => name).toSorted()
}

test('what is restored is what was compiled', async () => {
  await using space = await workspace(project)
  const compiled = await compile(await filesOf(space), { dir: space.dir })
  assert.ok(compiled.warnings.length > 0)
  await once(space)
  const path = space.path('.eider/compiled.json')
  const { mtimeMs } = await stat(path)
  const restored = await once(space)
  assert.type(restored.identity, 'string')
  assert.equal(whole(restored), whole(compiled))
  assert.is((await stat(path)).mtimeMs, mtimeMs)
  await mark(space)
  assert.equal(await compiledIn(space), [])
})

test('the example project is restored as it was compiled', async () => {
  await using space = await workspace()
  const dir = `${repository}example-project`
  const { files } = await loadProject(dir, { env: {}, flags: {} })
  const options = { dir, state: space.path('state'), save: true }
  const compiled = await compileOnce(files, options)
  assert.ok(compiled.models.size > 3)
  const restored = await compileOnce(files, options)
  assert.equal(whole(restored), whole(compiled))
  assert.is(restored.identity, compiled.identity)
})

const ALL = 'mart.h mart.m raw.d raw.e raw.f raw.g ref.s ref.s1 ref.s[1]'.split(' ')

interface Change {
  readonly change: (space: Workspace) => Promise<void>
  readonly compiles: readonly string[]
}

const changes: Readonly<Record<string, Change>> = {
  'a model': {
    change: (space) => space.write('models/raw/g.sql', "select a from 'data/one.csv'\n"),
    compiles: ['raw.g'],
  },
  'a model that is read, with the same columns': {
    change: (space) =>
      space.write('models/raw/f.sql', "select * from 'data/one.csv' where a > 1\n"),
    compiles: ['raw.f'],
  },
  'a model that is read, with other columns': {
    change: (space) => space.write('models/raw/f.sql', "select a from 'data/one.csv'\n"),
    compiles: ['mart.h', 'raw.f'],
  },
  'a new model': {
    change: (space) => space.write('models/raw/n.sql', 'select 1 as x\n'),
    compiles: ['raw.n'],
  },
  'a macro': {
    change: (space) => space.write('macros/m.sql', 'create macro twice(x) as x * 2.0;\n'),
    compiles: ALL,
  },
  'a seed': {
    change: (space) => space.write('seeds/ref/s.csv', 'id,name\n1,a\n2,7\n'),
    compiles: ['ref.s'],
  },
  'types of a seed': {
    change: (space) => space.write('seeds/ref/s.yml', 'columns:\n  id: INTEGER\n'),
    compiles: ['mart.h', 'mart.m', 'ref.s'],
  },
  'a file that is read': {
    change: (space) => sameTimes(space, 'data/one.csv', 'a,b\n1,x\n'),
    compiles: ['mart.h', 'raw.f', 'raw.g'],
  },
  'a file of a pattern': {
    change: (space) => sameTimes(space, 'data/two.csv', 'a,b\n3,x\n'),
    compiles: ['raw.g'],
  },
  'a file of a directory': {
    change: (space) => sameTimes(space, 'more/deep/d.csv', 'a\nx\n'),
    compiles: ['raw.d'],
  },
  'a seed whose name could be a pattern': {
    change: (space) => sameTimes(space, 'seeds/ref/s[1].csv', 'id\nx\n'),
    compiles: ['ref.s[1]'],
  },
  'a variable': {
    change: (space) => space.write('eider.yml', 'name: p\nvars: {one: 2, label: same}\n'),
    compiles: ['mart.h', 'mart.m'],
  },
  'the type of a variable': {
    change: (space) => space.write('eider.yml', "name: p\nvars: {one: '1', label: same}\n"),
    compiles: ['mart.h', 'mart.m'],
  },
  'one more file of a pattern': {
    change: (space) => space.write('data/zero.csv', 'a,b\n0,0\n'),
    compiles: ['raw.g'],
  },
}

/** Another content of the same size, with the times of the one before. */
async function sameTimes(space: Workspace, path: string, text: string): Promise<void> {
  const { atime, mtime, size } = await stat(space.path(path))
  assert.is(size, text.length)
  await space.write(path, text)
  await utimes(space.path(path), atime, mtime)
}

for (const [what, { change, compiles }] of Object.entries(changes))
  test(`compiled anew: ${what}`, async () => {
    await using space = await workspace(project)
    await once(space)
    await change(space)
    const compiled = await compile(await filesOf(space), { dir: space.dir })
    assert.equal(whole(await once(space, false)), whole(compiled))
    await mark(space)
    assert.equal(await compiledIn(space), compiles)
  })

test('compiled anew: what says the name of a new model, which was a text before', async () => {
  await using space = await workspace(project)
  await space.write('macros/m.sql', 'create macro rows_of(t, note) as table from query_table(t);\n')
  await space.write('models/mart/m.sql', "from rows_of('ref.s', 'mart.n')\n")
  await space.write('models/mart/h.sql', 'from ref.s\n')
  await once(space)
  await space.write('models/mart/n.sql', 'select 1 as id\n')
  const { models } = await once(space)
  assert.equal(models.get('mart.m' as ModelName)?.dependsOn, ['ref.s', 'mart.n'])
})

test('saved again when only the rows of a data file are others', async () => {
  await using space = await workspace(project)
  await once(space)
  await space.write('data/one.csv', 'a,b\n5,6\n')
  await once(space)
  await mark(space)
  assert.equal(await compiledIn(space), [])
})

test('compiled anew: another directory', async () => {
  await using space = await workspace(project)
  await once(space)
  await mark(space)
  await using other = await workspace(project)
  const { models } = await compileOnce(await filesOf(other), {
    dir: other.dir,
    state: space.path('.eider'),
    save: false,
  })
  assert.not.ok([...models.values()].some(({ description }) => description === 'restored'))
})

test('a saved file that is cut short or altered is passed over', async () => {
  await using space = await workspace(project)
  const compiled = await once(space)
  await mark(space)
  const path = space.path('.eider/compiled.json')
  const saved = await readFile(path, 'utf8')
  const broken = [
    '',
    '\n',
    saved.slice(0, 50),
    saved.slice(0, -9),
    saved.replace('BIGINT', 'DOUBLE'),
  ]
  for (const [i, text] of [...broken, saved.replace('{', '[')].entries()) {
    await writeFile(path, text)
    assert.equal(whole(await once(space, false)), whole(compiled), `file ${i}`)
  }
})

test('processes that save at once leave a compile that is one of theirs', async () => {
  await using space = await workspace(project)
  const values = ['2', '3', '4', '5']
  await Promise.all(values.map((one) => space.ok(['ls', '--quiet', '--vars', `one=${one}`])))
  assert.equal(await readdir(space.path('.eider')), ['compiled.json'])
  const compiled = await compile(await filesOf(space), { dir: space.dir })
  assert.equal(whole(await once(space)), whole(compiled))
  await mark(space)
  assert.equal(await compiledIn(space), [])
})

test('not saved by what only looks', async () => {
  await using space = await workspace(project)
  await once(space, false)
  assert.not.ok(await stat(space.path('.eider/compiled.json')).then(Boolean, () => false))
})

test('a model whose columns may change by themselves is compiled each time', async () => {
  await using space = await workspace(project)
  await space.write('models/raw/n.sql', 'from duckdb_settings()\n')
  assert.is((await once(space)).identity, undefined)
  await mark(space)
  assert.equal(await compiledIn(space), ['raw.n'])
})

test('a model whose rows alone change by themselves is kept', async () => {
  await using space = await workspace(project)
  await space.write('models/raw/n.sql', 'select now() as at, current_date as day\n')
  assert.ok((await once(space)).identity)
  await mark(space)
  assert.equal(await compiledIn(space), [])
})

test('what a view says of its columns is heard by models that are kept', async () => {
  await using space = await workspace({
    'eider.yml': 'name: p\n',
    'models/core/v.sql': "-- @kind: view\nselect 1 as id, timestamptz '2026-01-01' as at\n",
    'models/core/h.sql': '-- @kind: scd2\n-- @unique_key: id\nfrom core.v\n',
  })
  const told = async () => {
    const { warnings } = await once(space)
    return warnings.map(({ code, source }) => `${code} ${source.path}`)
  }
  assert.equal(await told(), [])
  await writeFile(space.path('models/core/v.sql'), '-- @kind: view\nselect 1 as id, now() as at\n')
  const expected = ['changing-column models/core/h.sql']
  assert.equal(await told(), expected)
  await writeFile(space.path('models/core/w.sql'), 'select 1 as id\n')
  assert.equal(await told(), expected)
})

test('a model that waits for a file compiles once the file is there', async () => {
  await using space = await workspace(project)
  await space.write('models/raw/n.sql', "select a from read_csv('later/n.csv')\n")
  assert.equal([...(await once(space)).failed.keys()], ['raw.n'])
  await space.write('later/n.csv', 'a\n1\n')
  const { failed, models } = await once(space)
  assert.equal([...failed.keys()], [])
  assert.ok([...models.keys()].some((name) => name === 'raw.n'))
})

test('not saved: a project with a model that may wait for what lies outside', async () => {
  for (const text of ["select a from read_csv('later/n.csv')", 'select a from "later/n.csv"']) {
    await using space = await workspace(project)
    await space.write('models/raw/n.sql', `${text}\n`)
    assert.is((await once(space)).failed.size, 1)
    const isSaved = await stat(space.path('.eider/compiled.json')).then(Boolean, () => false)
    assert.not.ok(isSaved, text)
  }
})

test('models that do not compile for what stands in the project are restored', async () => {
  await using space = await workspace(project)
  await space.write('models/raw/n.sql', 'select nothing\n')
  await space.write('models/raw/reader.sql', 'from raw.n\n')
  const [made, restored] = [await once(space), await once(space)]
  assert.ok(made.identity !== undefined)
  assert.is(restored.identity, made.identity)
  assert.equal(restored.failed, made.failed)
  assert.equal([...made.failed.keys()], ['raw.n', 'raw.reader'])
  assert.equal(restored.errors, made.errors)
  const [mistake] = restored.failed.get(modelName('raw.n'))!.mistakes
  assert.is(mistake, restored.errors[0])
})

test('mistakes of no model are restored', async () => {
  await using space = await workspace(project)
  await space.write('models/raw/n.new.sql', 'select 1 as x\n')
  const [made, restored] = [await once(space), await once(space)]
  assert.is(made.identity, restored.identity)
  assert.ok(made.identity !== undefined)
  assert.is(made.errors.length, 1)
  assert.equal(restored.errors, made.errors)
  assert.equal([...restored.models.keys()], [...made.models.keys()])
})

test.run()
