// What is proposed for the last word of a command line.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type CommandShape, complete } from '../../../src/cli/completion/complete.ts'
import { splitWords } from '../../../src/cli/completion/scripts.ts'
import {
  argumentValues,
  flagValues,
  type ValueKind,
} from '../../../src/cli/completion/value-kinds.ts'
import { commands } from '../../../src/commands/table.ts'

const project = { name: 'project', type: 'option' } as const

const shapes: readonly CommandShape[] = [
  {
    id: 'run',
    strict: false,
    summary: 'Build',
    args: {},
    flags: {
      project,
      select: { name: 'select', char: 's', type: 'option', multiple: true },
      retry: { name: 'retry', type: 'boolean' },
      old: { name: 'old', type: 'boolean', hidden: true },
    },
  },
  { id: 'show', args: { model: {} }, flags: { project } },
  {
    id: 'query',
    args: { sql: {} },
    flags: { format: { name: 'format', type: 'option', options: ['json', 'csv'] } },
  },
  { id: 'init', args: { directory: {} }, flags: {} },
  { id: 'extension:install', strict: false, args: {}, flags: {} },
  { id: 'odata:explain', args: { resource: {}, query: {} }, flags: {} },
  { id: 'odata:serve', args: {}, flags: {} },
]

const values: Partial<Record<ValueKind, readonly string[]>> = {
  selector: ['core.orders', 'mart.sales', 'tag:nightly'],
  model: ['core.orders', 'mart.sales'],
  entitySet: ['core_orders'],
  extension: ['excel', 'spatial'],
}

const proposed = async (line: string) => {
  const { candidates, paths } = await complete({
    commands: shapes,
    topics: new Map([['odata', 'Serve']]),
    words: splitWords(line),
    valuesOf: async (kind) => (values[kind] ?? []).map((value) => ({ value })),
  })
  return paths ?? candidates.map(({ value }) => value).join(' ')
}

const cases: readonly (readonly [line: string, proposed: string])[] = [
  ['', 'run show query init extension odata'],
  ['o', 'odata'],
  ['odata ', 'explain serve'],
  ['odata s', 'serve'],
  ['nothing ', ''],
  ['run ', 'core.orders mart.sales tag:nightly'],
  ['run core.orders ma', 'mart.sales'],
  ['run CORE', 'core.orders'],
  ['run +ma', '+mart.sales'],
  ['run tag:nightly,co', 'tag:nightly,core.orders'],
  ['run --', '--project --select --retry --help'],
  ['run --retry --', '--project --select --help'],
  ['run --select mart.sales --s', '--select'],
  ['run --select ma', 'mart.sales'],
  ['run -s ma', 'mart.sales'],
  ['run --select=ma', '--select=mart.sales'],
  ['run --retry=', ''],
  ['run --project ', 'directory'],
  ['run --project=x ma', 'mart.sales'],
  ['run -- ma', 'mart.sales'],
  ['run -- --', ''],
  ['show ', 'core.orders mart.sales'],
  ['show --project dir co', 'core.orders'],
  ['show core.orders ', ''],
  ['query --format ', 'json csv'],
  ['query --format=c', '--format=csv'],
  ['query ', ''],
  ['init ', 'directory'],
  ['odata explain ', 'core_orders'],
  ['odata explain core_orders ', ''],
  ['extension install s', 'spatial'],
]

for (const [line, expected] of cases)
  test(`completion: eider ${line}|`, async () => assert.is(await proposed(line), expected))

test('words are split as a shell splits them', () => {
  assert.equal(splitWords('run  a\tb'), ['run', 'a', 'b'])
  assert.equal(splitWords('run '), ['run', ''])
  assert.equal(splitWords(`show "my model`), ['show', 'my model'])
  assert.equal(splitWords(`show 'a\\b' c\\ d ""`), ['show', 'a\\b', 'c d', ''])
})

test('of every flag and argument it is known what its values are', () => {
  const known = (name: string, options: unknown, table: object) =>
    options !== undefined || name in table
  for (const [id, { flags, baseFlags, args }] of Object.entries(commands)) {
    for (const [name, flag] of Object.entries({ ...baseFlags, ...flags }))
      if (flag.type === 'option')
        assert.ok(known(name, flag.options, flagValues), `${id} --${name}: add it to flagValues`)
    for (const [name, { options }] of Object.entries(args ?? {}))
      assert.ok(known(name, options, argumentValues), `${id} ${name}: add it to argumentValues`)
  }
})

test.run()
