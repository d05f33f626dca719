import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileAll } from '../../src/compiler/compile.ts'
import type { CompiledProject } from '../../src/core/model.ts'
import { loadProject } from '../../src/project/load.ts'
import { workspace } from '../support/workspace.ts'

async function compiled(files: Readonly<Record<string, string | Uint8Array>>) {
  await using space = await workspace({ 'eider.yml': 'name: s\n' })
  for (const [path, text] of Object.entries(files)) await space.write(path, text)
  const project = await loadProject(space.dir, { env: {}, flags: {} })
  return await compileAll(project.files, { dir: space.dir })
}

/** Each failed model with the codes of its mistakes, or the model that it leads back to. */
const failures = ({ failed }: CompiledProject) =>
  Object.fromEntries(
    Array.from(failed.values(), ({ name, mistakes, failedBy }) => [
      name,
      mistakes.length === 0 ? failedBy : mistakes.map(({ code }) => code).join(' '),
    ]),
  )

const ok = { 'models/a/ok.sql': 'SELECT 1 AS x\n' }
const readers = {
  'models/a/r1.sql': 'SELECT * FROM a.bad\n',
  'models/a/r2.sql': 'SELECT * FROM a.r1\n',
}
const skipped = { 'a.r1': 'a.bad', 'a.r2': 'a.bad' }

for (const [what, text, codes] of [
  ['a syntax error', 'SELECT FROM\n', 'sql-syntax'],
  ['an unknown column', 'SELECT y FROM a.ok\n', 'sql-binding'],
  ['an unknown model', 'SELECT * FROM a.okk\n', 'unknown-model'],
  ['a wrong annotation', '-- @kind: tabel\nSELECT 1 AS x\n', 'unknown-kind'],
  ['a wrong key', '-- @expose y\nSELECT 1 AS x\n', 'unknown-key-column'],
  [
    'two mistakes',
    '-- @expose y\n-- @check: z > 1\nSELECT 1 AS x\n',
    'unknown-key-column sql-binding',
  ],
  ['bytes that are no text', Buffer.from('53454c45435420e9', 'hex'), 'unreadable-file'],
  ['a variable that is not there', 'SELECT ${nothing} AS x\n', 'unknown-variable'],
] as const)
  test(`${what} fails the model, its readers are left out, and the rest compiles`, async () => {
    const project = await compiled({ ...ok, ...readers, 'models/a/bad.sql': text })
    const { 'a.bad': found, ...rest } = failures(project)
    assert.is(found?.split(' ').toSorted().join(' '), codes.split(' ').toSorted().join(' '))
    assert.equal(rest, skipped)
    assert.equal([...project.models.keys()], ['a.ok'])
  })

test('of models that depend on each other all fail, with their readers', async () => {
  const project = await compiled({
    ...ok,
    ...readers,
    'models/a/bad.sql': 'SELECT * FROM a.worse\n',
    'models/a/worse.sql': 'SELECT * FROM a.bad\n',
  })
  const cycle = { 'a.bad': 'dependency-cycle', 'a.worse': 'dependency-cycle' }
  assert.equal(failures(project), { ...cycle, ...skipped })
  assert.is(project.errors.length, 1)
  assert.equal([...project.models.keys()], ['a.ok'])
})

test('a name that two files have fails; so does a seed with a wrong row or a wrong .yml', async () => {
  const project = await compiled({
    ...ok,
    ...readers,
    'models/a/bad.sql': 'SELECT 1 AS x\n',
    'seeds/a/bad.csv': 'x\n1\n',
    'seeds/a/rows.csv': 'x,y\n1\n',
    'seeds/a/typed.csv': 'x\n1\n',
    'seeds/a/typed.yml': 'column: 1\n',
  })
  assert.equal(failures(project), {
    'a.bad': 'duplicate-model',
    ...skipped,
    'a.rows': 'seed-row',
    'a.typed': 'config-unknown-key',
  })
})

test('a macro with a mistake fails all queries, but neither events nor seeds', async () => {
  const project = await compiled({
    ...ok,
    'models/a/events.sql': '-- @kind: events\nid BIGINT\n',
    'seeds/a/seed.csv': 'x\n1\n',
    'macros/m.sql': 'CREATE MACRO twice(x) AS x +;\n',
  })
  assert.equal(failures(project), { 'a.ok': 'sql-syntax' })
  assert.not.ok(project.macrosAreWhole)
  assert.equal([...project.models.keys()].toSorted(), ['a.events', 'a.seed'])
})

test('a source without known columns fails those that read it, at its place', async () => {
  const project = await compiled({
    ...ok,
    'eider.yml': 'name: s\nsources: {crm: {tables: {people: {file: nowhere.csv}}}}\n',
    'models/a/bad.sql': 'SELECT * FROM crm.people\n',
    'models/a/r1.sql': 'SELECT * FROM a.bad\n',
  })
  assert.equal(failures(project), { 'a.bad': 'invalid-source', 'a.r1': 'a.bad' })
})

test('a file that names no model fails none', async () => {
  const project = await compiled({ ...ok, 'models/b.sql': 'SELECT 1 AS x\n' })
  assert.equal(failures(project), {})
  assert.equal(
    project.errors.map(({ code }) => code),
    ['invalid-model-path'],
  )
})

test.run()
