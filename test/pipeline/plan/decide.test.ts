import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CompiledProject, Model } from '../../../src/core/model.ts'
import type { ModelName } from '../../../src/core/names.ts'
import { catalogKey, type RelationType } from '../../../src/duckdb/catalog.ts'
import {
  decide,
  decideAll,
  type DecisionContext,
  type PlanProgress,
} from '../../../src/pipeline/plan/decide.ts'
import type { ModelRecord } from '../../../src/store/state.ts'
import { type Texts, compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const texts = {
  'raw.s': 'select 1 as id, 10 as v',
  'mid.v': '-- @kind: view\nselect id, v from raw.s',
  'mart.t': 'select id, v + 1 as v from mid.v',
  'mart.u': 'select 7 as x',
}
const noFiles: ReadonlyMap<string, string> = new Map()

interface Given {
  readonly records?: ReadonlyMap<ModelName, ModelRecord>
  readonly fileHashes?: ReadonlyMap<string, string>
  readonly fullRefresh?: boolean
  /** Whether the warehouse has the relations. */
  readonly exists?: boolean
  readonly waiting?: ReadonlySet<ModelName>
  readonly startedAt?: Date
}

function contextOf(project: CompiledProject, given: Given): DecisionContext {
  const { records = new Map(), fileHashes = noFiles, fullRefresh = false, exists = true } = given
  const relations = Array.from(
    project.models.values(),
    ({ name, kind }): [string, RelationType] => {
      const [schema = '', table = ''] = name.split('.')
      return [catalogKey(schema, table), kind === 'view' ? 'view' : 'table']
    },
  )
  return {
    project,
    selected: new Set(project.models.keys()),
    state: { models: records, positions: new Map(), acks: [] },
    catalog: { database: 'warehouse', relations: new Map(exists ? relations : []) },
    lost: new Set(),
    withGaps: new Set(),
    fileHashes,
    fullRefresh,
    forwardOnly: false,
    sample: null,
    oldRows: new Map(),
    startedAt: given.startedAt ?? new Date('2026-11-02T10:00:00Z'),
  }
}

/** Records after everything was built; a version is made of all that went in. */
function built(project: CompiledProject, files = noFiles): ReadonlyMap<ModelName, ModelRecord> {
  const records = new Map<ModelName, ModelRecord>()
  const versionOf = (name: ModelName) => records.get(name)?.version
  const none = { pending: new Set<ModelName>(), waiting: new Set<ModelName>() }
  const progress: PlanProgress = { versionOf, positions: new Map(), ...none }
  for (const model of project.models.values()) {
    const context = contextOf(project, { fileHashes: files })
    const { fingerprint } = decide(context, model, 'whole', progress)
    const version = model.kind === 'events' ? fingerprint : `version of ${fingerprint}`
    const { definition, kind } = model
    records.set(model.name, { fingerprint, version, definition, kind, removed: false })
  }
  return records
}

/** Why each model is built, in order; null: it is not. */
function allReasons(project: CompiledProject, given: Given): readonly [string, string | null][] {
  const { waiting = new Set() } = given
  const decisions = decideAll(contextOf(project, given), {
    positions: new Map(),
    waiting,
    range: null,
    by: null,
  })
  return decisions.map(({ model, because }) => [model.name, because])
}

async function reasons(
  after: Texts,
  records: ReadonlyMap<ModelName, ModelRecord>,
  fileHashes = noFiles,
): Promise<Readonly<Record<string, string | null>>> {
  const all = allReasons(await compileTexts(after), { records, fileHashes })
  return Object.fromEntries(all.filter(([, because]) => because !== null))
}

test('a first run builds everything, in order', async () => {
  assert.equal(allReasons(await compileTexts(texts), {}), [
    ['mart.u', 'first build'],
    ['raw.s', 'first build'],
    ['mid.v', 'first build'],
    ['mart.t', 'first build'],
  ])
})

test('a second run builds nothing', async () => {
  assert.equal(await reasons(texts, built(await compileTexts(texts))), {})
})

test('a change upstream reaches down, also through a view', async () => {
  const states = built(await compileTexts(texts))
  assert.equal(await reasons({ ...texts, 'raw.s': 'select 1 as id, 50 as v' }, states), {
    'raw.s': 'definition changed',
    'mid.v': 'upstream raw.s changed',
    'mart.t': 'upstream mid.v changed',
  })
})

test('rows that came in from outside reach down without a change of any file', async () => {
  const states = new Map(built(await compileTexts(texts)))
  const raw = modelName('raw.s')
  states.set(raw, { ...states.get(raw)!, version: 'after a flush' })
  assert.is((await reasons(texts, states))['mid.v'], 'upstream raw.s changed')
})

test('white space, comments and a description do not build, a kind and a key do', async () => {
  const states = built(await compileTexts(texts))
  const same = `-- @kind: table\n-- @description: seven\n-- a note\nSELECT   7 /* x */ AS x -- end\n;`
  assert.equal(await reasons({ ...texts, 'mart.u': same }, states), {})
  assert.equal(await reasons({ ...texts, 'mart.u': '-- @expose x\nselect 7 as x' }, states), {
    'mart.u': 'definition changed',
  })
  assert.equal(await reasons({ ...texts, 'mart.u': '-- @kind: view\nselect 7 as x' }, states), {
    'mart.u': 'kind changed from table to view',
  })
})

test('numbers beyond 53 bits are told apart', async () => {
  const states = built(await compileTexts({ 'a.b': 'select 9007199254740993 as x' }))
  assert.equal(await reasons({ 'a.b': 'select 9007199254740992 as x' }, states), {
    'a.b': 'definition changed',
  })
})

test('a macro changes what calls it', async () => {
  const macro = (factor: number) => ({
    'macros/m.sql': `create macro times(a) as a * ${factor};`,
    'a.b': 'select times(2) as x',
  })
  const states = built(await compileTexts(macro(3)))
  assert.equal(await reasons(macro(3), states), {})
  assert.equal(await reasons(macro(4), states), { 'a.b': 'definition changed' })
})

test('a volatile model is never fresh, nor what reads it', async () => {
  const clock = { 'a.clock': 'select now() as t', 'b.reader': 'select t from a.clock' }
  assert.equal(await reasons(clock, built(await compileTexts(clock))), {
    'a.clock': 'volatile',
    'b.reader': 'upstream a.clock changed',
  })
})

test('contents of files count', async () => {
  const { models } = await compileTexts({ 'a.b': 'select 1 as x' })
  const reader: Model = { ...models.get(modelName('a.b'))!, files: ['data/x.csv'] }
  const project: CompiledProject = {
    models: new Map([[reader.name, reader]]),
    macros: [],
    warnings: [],
    errors: [],
    failed: new Map(),
    macrosAreWhole: true,
    trails: () => new Map(),
    lineage: () => new Map(),
  }
  const before = new Map([['data/x.csv', 'hash one']])
  const records = built(project, before)
  const because = (fileHashes: ReadonlyMap<string, string>) =>
    allReasons(project, { records, fileHashes })[0]?.[1]
  assert.is(because(before), null)
  assert.is(because(new Map([['data/x.csv', 'hash two']])), 'file data/x.csv changed')
})

test('a relation that is gone, a full refresh, a model that came back and new events are reasons', async () => {
  const project = await compileTexts({
    'a.b': 'select 1 as x',
    'a.e': '-- @kind: events\nid bigint',
  })
  const states = built(project)
  const because = (change: Given) =>
    allReasons(project, { records: states, ...change }).map(([, reason]) => reason)
  const gone = new Map(Array.from(states, ([name, state]) => [name, { ...state, removed: true }]))
  assert.equal(because({}), [null, null])
  assert.equal(because({ exists: false }), ['missing in the warehouse', null])
  assert.equal(because({ fullRefresh: true }), ['full refresh', null])
  assert.equal(because({ records: gone }), ['first build', 'first build'])
  assert.equal(because({ waiting: new Set([modelName('a.e')]) }), [null, 'new events'])
})

test('a fingerprint fits into a file name and stays short when versions contain fingerprints', async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `m.n${i}`,
      i === 0 ? 'select 1 as x' : `select x from m.n${i - 1}`,
    ]),
  )
  for (const state of built(await compileTexts(chain)).values())
    assert.match(state.fingerprint, /^[\w.-]{1,80}$/)
})

test.run()
