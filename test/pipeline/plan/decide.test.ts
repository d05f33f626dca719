import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type ModelState, fingerprint, plan } from '../../../src/pipeline/plan/decide.ts'
import type { CompiledProject } from '../../../src/core/model.ts'
import type { ModelName } from '../../../src/core/names.ts'
import { type Texts, compileTexts } from '../../support/compile-texts.ts'
import { modelName } from '../../support/model-name.ts'

const texts = {
  'raw.s': 'select 1 as id, 10 as v',
  'mid.v': '-- @kind: view\nselect id, v from raw.s',
  'mart.t': 'select id, v + 1 as v from mid.v',
  'mart.u': 'select 7 as x',
}
const noFiles: ReadonlyMap<string, string> = new Map()

/** States after everything was built; a version is made of all that went in. */
function built({ models }: CompiledProject, files = noFiles): ReadonlyMap<ModelName, ModelState> {
  const states = new Map<ModelName, ModelState>()
  const versions = new Map<ModelName, string>()
  for (const model of models.values()) {
    const print = fingerprint(model, versions, files)
    versions.set(model.name, `version of ${print}`)
    states.set(model.name, {
      fingerprint: print,
      version: versions.get(model.name)!,
      definition: model.definition,
      kind: model.kind,
      removed: false,
    })
  }
  return states
}

const planOf = (
  { models }: CompiledProject,
  states: ReadonlyMap<ModelName, ModelState>,
  fileHashes = noFiles,
) =>
  plan(models.values(), {
    states,
    fileHashes,
    fullRefresh: false,
    exists: () => true,
    withNewEvents: new Set(),
  })

async function reasons(
  after: Texts,
  states: ReadonlyMap<ModelName, ModelState>,
  files = noFiles,
): Promise<Readonly<Record<string, string>>> {
  const { steps } = planOf(await compileTexts(after), states, files)
  return Object.fromEntries(
    steps
      .filter(({ action }) => action === 'build')
      .map(({ model, because }) => [model.name, because]),
  )
}

test('a first run builds everything, in order', async () => {
  const { steps } = planOf(await compileTexts(texts), new Map())
  assert.equal(
    steps.map(({ model, action, because }) => [model.name, action, because]),
    [
      ['mart.u', 'build', 'never built'],
      ['raw.s', 'build', 'never built'],
      ['mid.v', 'build', 'never built'],
      ['mart.t', 'build', 'never built'],
    ],
  )
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
  const reader = { ...models.get(modelName('a.b'))!, files: ['data/x.csv'] }
  const project = {
    models: new Map([[reader.name, reader]]),
    macros: [],
    warnings: [],
    errors: [],
    failed: new Map(),
    macrosAreWhole: true,
    lineage: () => new Map(),
  }
  const before = new Map([['data/x.csv', 'hash one']])
  const states = built(project, before)
  const because = (files: ReadonlyMap<string, string>) =>
    planOf(project, states, files).steps[0]?.because
  assert.is(because(before), 'nothing changed')
  assert.is(because(new Map([['data/x.csv', 'hash two']])), 'file data/x.csv changed')
})

test('a relation that is gone, a full refresh, a model that came back and new events are reasons', async () => {
  const project = await compileTexts({
    'a.b': 'select 1 as x',
    'a.e': '-- @kind: events\nid bigint',
  })
  const states = built(project)
  const given = {
    states,
    fileHashes: noFiles,
    fullRefresh: false,
    exists: () => true,
    withNewEvents: new Set<ModelName>(),
  }
  const because = (change: Partial<typeof given>) =>
    plan(project.models.values(), { ...given, ...change }).steps.map((step) => step.because)
  const gone = new Map(Array.from(states, ([name, state]) => [name, { ...state, removed: true }]))
  assert.equal(because({}), ['nothing changed', 'no new events'])
  assert.equal(because({ exists: () => false }), ['missing in the warehouse', 'no new events'])
  assert.equal(because({ fullRefresh: true }), ['full refresh', 'no new events'])
  assert.equal(because({ states: gone }), ['never built', 'never built'])
  assert.equal(because({ withNewEvents: new Set([modelName('a.e')]) }), [
    'nothing changed',
    'new events',
  ])
})

test('a fingerprint fits into a file name and stays short when versions contain fingerprints', async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `m.n${i}`,
      i === 0 ? 'select 1 as x' : `select x from m.n${i - 1}`,
    ]),
  )
  for (const state of built(await compileTexts(chain)).values())
    assert.match(state.fingerprint, /^[\w.]{1,60}$/)
})

test.run()
