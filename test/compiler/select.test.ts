import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { select } from '../../src/compiler/select.ts'
import type { CompiledProject } from '../../src/core/model.ts'
import { UsageError } from '../../src/core/failures.ts'
import { compileTexts } from '../support/compile-texts.ts'

const project = await compileTexts({
  'raw.a': '-- @tags: nightly, "slow one"\nselect 1 as x',
  'mid.b': 'select x from raw.a',
  'mid.v': '-- @kind: view\n-- @tags: nightly\nselect x from raw.a',
  'mart.c': 'select x from mid.b',
  'mart.z': 'select 0 as x',
})

const names = (include: string | readonly string[], exclude: readonly string[] = []) =>
  [
    ...select(
      project.models,
      { include: typeof include === 'string' ? [include] : include, exclude },
      ({ name }) => name === 'mid.b',
    ),
  ].toSorted()

const examples: Readonly<Record<string, readonly string[]>> = {
  'mid.b': ['mid.b'],
  'MID.B': ['mid.b'],
  'mid.*': ['mid.b', 'mid.v'],
  '*.z': ['mart.z'],
  '*': ['mart.c', 'mart.z', 'mid.b', 'mid.v', 'raw.a'],
  '+mart.c': ['mart.c', 'mid.b', 'raw.a'],
  'mid.b+': ['mart.c', 'mid.b'],
  '+mid.b+': ['mart.c', 'mid.b', 'raw.a'],
  'tag:nightly': ['mid.v', 'raw.a'],
  'tag:slow one': ['raw.a'],
  '+tag:nightly,mid.*': ['mid.v'],
  'tag:nightly,kind:view': ['mid.v'],
  'kind:table,mart.*': ['mart.c', 'mart.z'],
  'state:modified': ['mid.b'],
  'state:modified+': ['mart.c', 'mid.b'],
}

test('each selector takes its models', () => {
  for (const [selector, expected] of Object.entries(examples))
    assert.equal(names(selector), expected, selector)
})

test('selectors add up, exclusions take away, no selector is all', () => {
  assert.equal(names(['mart.z', 'mid.v']), ['mart.z', 'mid.v'])
  assert.equal(names([], ['mid.*', 'raw.a']), ['mart.c', 'mart.z'])
  assert.equal(names('+mart.c', ['+mid.b']), ['mart.c'])
  assert.equal(names('mart.z', ['mart.z']), [])
})

test('the selected models come in the order of the project', () => {
  const all = select(project.models, { include: ['mart.c', '+mart.c'], exclude: [] }, () => false)
  assert.equal([...all], ['raw.a', 'mid.b', 'mart.c'])
})

test('a selector that matches nothing is refused with the nearest word', () => {
  const hints: Readonly<Record<string, RegExp>> = {
    'mid.bb': /mid\.b"/,
    'martt.*': /mart\.\*/,
    'tag:nightli': /tag:nightly/,
    'kind:tabel': /kind:table/,
    'state:modfied': /state:modified/,
    'mid.b,qqqqqq': /eider ls/,
    '+': /eider ls/,
  }
  for (const [selector, hint] of Object.entries(hints))
    for (const [include, exclude] of [
      [[selector], []],
      [[], [selector]],
    ])
      try {
        names(include!, exclude)
        assert.unreachable(selector)
      } catch (error) {
        assert.instance(error, UsageError)
        assert.match((error as UsageError).hint!, hint)
      }
})

test('a name that looks like a selector is a name', async () => {
  const odd: CompiledProject = await compileTexts({
    'a.b+': 'select 1 as x',
    'a.c,d': 'select 1 as x',
    'a.b': 'select 2 as x',
    'x.reader': 'select x from a.b',
  })
  const only = (text: string) => [
    ...select(odd.models, { include: [text], exclude: [] }, () => false),
  ]
  assert.equal(only('a.b+'), ['a.b+'])
  assert.equal(only('a.c,d'), ['a.c,d'])
})

test.run()
