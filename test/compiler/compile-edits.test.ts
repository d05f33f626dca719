// A project is edited at random, and what is compiled after each edit, most of it kept from before, is compared with a
// compile from nothing: the project, all that is said of it, and the file that is saved.

import { readFile, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { compileAll } from '../../src/compiler/compile.ts'
import { compileOnce } from '../../src/compiler/compile-once.ts'
import type { CompiledProject } from '../../src/core/model.ts'
import { loadProject } from '../../src/project/load.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const EDITS = Number(process.env['EIDER_EDITS'] ?? 24)
const SEED = Number(process.env['EIDER_EDITS_SEED'] ?? 1)

type Pick = <T>(items: readonly T[]) => T

const TABLES = [
  'raw.a',
  'raw.b',
  'core.c',
  'core.d',
  'core.e',
  'mart.f',
  'mart.g',
  'mart.h',
  'new.n',
]
const TYPES = [
  'INTEGER',
  'BIGINT',
  'DOUBLE',
  'DECIMAL(18, 3)',
  'VARCHAR',
  'TIMESTAMPTZ',
  'INTEGER[]',
  'STRUCT("a b" INTEGER, c VARCHAR)',
  "ENUM('x', 'it''s')",
  'JSON',
  'MAP(VARCHAR, INTEGER)',
  'UNION(n INTEGER, s VARCHAR)',
]

/** A query over what `from` names, of a shape that the compiler looks at in its own way. */
function queryOf(pick: Pick, from: string, other: string): string {
  return pick([
    `select * from ${from}`,
    `select * from ${from}`,
    `select * exclude (v) from ${from}`,
    `select id, v from ${from} where id > ${pick([1, 2, 3])}`,
    `select id, cast(null as ${pick(TYPES)}) as v from ${from}`,
    `select id, cast(null as ${pick(TYPES)}) as v from ${from}`,
    `select a.id, b.v, b.id as other from ${from} a join ${other} b using (id)`,
    `select a.id, b.id, a.v from ${from} a, ${other} b`,
    `with x as (from ${from}), ${from.split('.')[1]} as (select 1 as id, 2 as v) select x.id, x.v from x`,
    `select id, count(*) as v from ${from} group by id`,
    `select id, twice(id) as v from ${from}`,
    `select id, \${one} as v from ${from}`,
    `select id, 'is \${one}' as v from ${from}`,
    `select id, v from query_table('${from}')`,
    `from rows_of('${from}')`,
    `select a as id, b as v from 'data/one.csv'`,
    `select a as id, b as v from read_csv('data/*.csv')`,
    `select id, now() as v from ${from}`,
    `select id, name as v from ref.s`,
    `select id, (select max(v) from ${other}) as v from ${from}`,
    `from (from ${from}) pivot (count(*) for id in (1, 2))`,
    `pivot ${from} on id`,
    `select id, v from ${from} union all by name select id, null as more from ${other}`,
    `selec id from ${from}`,
    `select nothing as id, v from ${from}`,
    `select id, v from ${from}; select 1`,
    `select schema_name as id, 1 as v from information_schema.schemata`,
  ])
}

function headerOf(pick: Pick, other: string): string {
  return pick([
    '',
    '',
    '',
    '-- @kind: view\n',
    '-- @description: some words\n-- @tags: one, two\n',
    '-- @expose id\n',
    '-- @expose\n',
    '-- @kind: merge\n-- @unique_key: id\n',
    '-- @kind: scd2\n-- @unique_key: id\n',
    '-- @kind: append\n-- @incremental: id\n',
    '-- @check: not_null(id)\n-- @warn: v is not null\n',
    `-- @check: references(id, ${other}.id)\n`,
    '-- @check: accepted(id, 1, 2) up to 1%\n',
    '-- @check: id > ${one}\n',
    `-- @depends_on: ${other}\n`,
    '-- @kind: tabel\n',
    '-- @descripton: misspelt\n',
    '-- @expose id, v\n-- @contract: id INTEGER\n',
  ])
}

function modelOf(pick: Pick): string {
  const [from, other] = [pick(TABLES), pick(TABLES)]
  const isRoot = pick([true, false, false])
  const query = isRoot
    ? `select 1 as id, cast(null as ${pick(TYPES)}) as v`
    : queryOf(pick, from, other)
  const events = `-- @kind: events\nid BIGINT NOT NULL, v ${pick(TYPES)}\n`
  return pick([true, true, true, true, true, true, false])
    ? `${headerOf(pick, other)}${query}\n`
    : events
}

const fileOf = (name: string) => `models/${name.replace('.', '/')}.sql`
const isModel = (path: string) => path.startsWith('models/')

/** Files by path. */
type Files = Map<string, string>

const START: Readonly<Record<string, string>> = {
  'eider.yml': 'name: p\nvars: {one: 1, two: b}\n',
  'macros/m.sql':
    'create macro twice(x) as x * 2;\ncreate macro rows_of(t) as table from query_table(t);\n',
  'data/one.csv': 'a,b\n1,2\n',
  'data/two.csv': 'a,b\n3,4\n',
  'seeds/ref/s.csv': 'id,name\n1,a\n',
  'models/raw/a.sql': 'select 1 as id, 2 as v\n',
  'models/raw/b.sql': '-- @kind: events\nid BIGINT NOT NULL, v VARCHAR\n',
  'models/core/c.sql': 'select id, v from raw.a\n',
  'models/core/d.sql': 'select * from raw.b\n',
  'models/core/e.sql': '-- @expose id\nselect a.id, b.v from core.c a join core.d b using (id)\n',
  'models/mart/f.sql': 'select id, name as v from ref.s\n',
  'models/mart/g.sql': "select a as id, b as v from 'data/one.csv'\n",
  'models/mart/h.sql':
    '-- @check: references(id, core.e.id)\nselect id, twice(id) as v from core.e\n',
}

function edit(files: Files, pick: Pick): string {
  const models = [...files.keys()].filter(isModel).toSorted()
  const path = models.length === 0 ? fileOf('raw.a') : pick(models)
  const set = (name: string, text: string) => {
    files.set(name, text)
    return `${name}:\n${text}`
  }
  const start = (name: string) => set(name, START[name] ?? modelOf(pick))
  switch (pick('eeeeeeemmmmmmtdrRabBvVMscycDkx2'.split(''))) {
    case 'e':
      return set(path, modelOf(pick))
    case 'm':
      return start(path) // mended
    case 't':
      return set(path, `-- a comment\n${files.get(path) ?? ''}`)
    case 'd':
      files.delete(path)
      return `delete ${path}`
    case 'r':
    case 'R': {
      const text = files.get(path) ?? ''
      files.delete(path)
      const to = pick([fileOf(pick(TABLES)), path.replace(/\w\.sql$/, (end) => end.toUpperCase())])
      return `delete ${path}\n${set(to.replace('.SQL', '.sql'), text)}`
    }
    case 'a':
      return set(fileOf(pick(TABLES)), modelOf(pick))
    case 'b':
      return set(path, 'select from where\n')
    case 'B':
      return set(path, files.get(path)?.replace(/\bid\b/, 'nix') ?? '')
    case 'v':
      return set('eider.yml', `name: p\nvars: {one: ${pick(['1', '2', "'1'"])}, two: b}\n`)
    case 'V':
      return set('eider.yml', `name: p\nvars: {one: \${env:ONE}, two: ${pick(['b', 'c'])}}\n`)
    case 'M':
      return pick([
        () => start('macros/m.sql'),
        () => set('macros/m.sql', `${START['macros/m.sql']!}create macro thrice(x) as x * 3;\n`),
        () => set('macros/m.sql', START['macros/m.sql']!.replace('x * 2', 'x * 2.0')),
        () => set('macros/m.sql', START['macros/m.sql']!.replace('x * 2', "'' || x || ${two}")),
        () => set('macros/m.sql', 'create macro twice(x) as nothing(x);\n'),
      ])()
    case 's':
      return set(
        'seeds/ref/s.csv',
        pick(['id,name\n1,a\n', 'id,name\n1,7\n', 'id,name\n', 'id,id\n']),
      )
    case 'y':
      return set('seeds/ref/s.yml', `columns:\n  id: ${pick(['BIGINT', 'VARCHAR', 'NOTYPE'])}\n`)
    case 'c':
      return set(
        'checks/one.sql',
        `${pick(['', '-- @warn\n'])}select * from ${pick(TABLES)} join ${pick(TABLES)} using (id)\n`,
      )
    case 'k':
      files.delete('checks/one.sql')
      files.delete('seeds/ref/s.yml')
      return 'delete a check and types'
    case 'D':
      return set('data/one.csv', pick(['a,b\n1,2\n', 'a,b\n1,x\n', 'a,c\n1,2\n']))
    case 'x':
      return start(pick(['eider.yml', 'macros/m.sql', 'data/one.csv', 'seeds/ref/s.csv']))
    default: {
      // Two mistakes at once, in files of which one may read the other.
      const two = [pick(models), pick(models)].map((each) =>
        set(each, queryOf(pick, 'no.such', 'raw.a')),
      )
      return two.join('\n')
    }
  }
}

/** Until nothing is wrong, or but for what the files here begin with. */
function mend(files: Files, broken: readonly string[]): string {
  for (const path of broken) files.set(path, 'select 1 as id, 2 as v\n')
  for (const path of ['eider.yml', 'macros/m.sql', 'data/one.csv', 'seeds/ref/s.csv'])
    files.set(path, START[path]!)
  for (const path of ['checks/one.sql', 'seeds/ref/s.yml']) files.delete(path)
  return `mended: ${broken.join(', ')}`
}

/** Writes what differs. */
async function save(space: Workspace, before: Files, after: Files): Promise<void> {
  for (const path of before.keys())
    if (!after.has(path)) await rm(space.path(path), { force: true })
  for (const [path, text] of after) if (before.get(path) !== text) await space.write(path, text)
}

const whole = ({
  models,
  failed,
  macros,
  macrosAreWhole,
  lineage,
  errors,
  warnings,
}: CompiledProject) => ({
  models: [...models],
  failed: [...failed],
  macros,
  macrosAreWhole,
  lineage: [...lineage()],
  errors,
  warnings,
})

/** What two texts have where they begin to differ. */
function firstDifference(a: string, b: string): readonly string[] | null {
  const [one, other] = [a, b].map((text) => text.slice(text.indexOf('\n'))) as [string, string]
  if (one === other) return null
  const at = Array.from(one).findIndex((sign, i) => sign !== other[i])
  return [one, other].map((text) => text.slice(Math.max(0, at - 100), at + 100))
}

test('what is kept of the last compile gives what a compile from nothing gives', async () => {
  await using space = await workspace()
  const random = seededRandom(SEED)
  const pick: Pick = (items) => items[Math.floor(random() * items.length)]!
  let files: Files = new Map(Object.entries(START))
  await save(space, new Map(), files)
  let whenKept = 0
  let isBroken = false
  let broken: readonly string[] = []
  const history: string[] = []
  for (let i = 0; i < EDITS; i++) {
    const before = files
    files = new Map(files)
    if (isBroken && pick([true, true, false])) history.push(mend(files, broken))
    else history.push(...Array.from({ length: pick([1, 1, 1, 2, 3]) }, () => edit(files, pick)))
    await save(space, before, files)
    const env = { ONE: pick(['1', '2', 'text']) }
    const project = await loadProject(space.dir, { env, flags: {} }).catch(() => null)
    isBroken = project === null
    if (project === null) continue
    const saved = space.path('.eider/compiled.json')
    const textBefore = await readFile(saved, 'utf8').catch(() => '')
    const state = space.path('.eider')
    const compiled = await compileOnce(project.files, { dir: space.dir, state, save: true })
    const fresh = await compileAll(project.files, { dir: space.dir })
    const story = `seed ${SEED}, edit ${i}\n${history.slice(-6).join('\n')}`
    assert.equal(whole(compiled), whole(fresh), story)
    broken = [...fresh.failed.values()].map(({ source }) => source.path)
    isBroken = broken.length > 0
    if (isBroken) continue
    const text = await readFile(saved, 'utf8')
    const other = space.path('other')
    await rm(other, { recursive: true, force: true })
    const alone = await compileOnce(project.files, { dir: space.dir, state: other, save: true })
    assert.is(
      firstDifference(text, await readFile(space.path('other/compiled.json'), 'utf8')),
      null,
      story,
    )
    assert.is(compiled.identity, alone.identity, story)
    if (textBefore !== '' && text !== textBefore) whenKept++
  }
  // Otherwise the test looks at nothing.
  assert.ok(whenKept > EDITS / 20, `${whenKept} of ${EDITS} states were compiled with models kept`)
})

test.run()
