// What is wrong with a command line: one line that names it, the next step, exit code 2; the same as JSON.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { commands } from '../../src/commands/table.ts'
import { repository, workspace } from '../support/workspace.ts'

const QUOTES = 'put an argument with spaces in quotes; '

const cases: readonly (readonly [command: string, problem: string, hint: string])[] = [
  [
    'query',
    'eider query needs one SELECT, as an argument or from --file',
    "such as eider query 'FROM core.orders'",
  ],
  ['show', 'eider show needs MODEL (name of a model)', 'see "eider show --help"'],
  [
    'odata preview',
    'eider odata preview needs RESOURCE (entity set or model; a key or a path may follow it)',
    'see "eider odata preview --help"',
  ],
  [
    'query SELECT 1 2',
    'eider query takes no more arguments "1", "2"',
    `${QUOTES}see "eider query --help"`,
  ],
  ['doctor all', 'eider doctor takes no argument "all"', 'see "eider doctor --help"'],
  ['serve extra', 'eider serve takes no argument "extra"', 'see "eider serve --help"'],
  ['run --threads', '--threads needs a value', 'see "eider run --help"'],
  ['run --vars', '--vars needs a value', 'see "eider run --help"'],
  ['run --threads x', '--threads must be an integer, not "x"', 'see "eider run --help"'],
  ['run --threads 0', '--threads must be at least 1, not 0', 'see "eider run --help"'],
  ['run --wait 99999', '--wait must be at most 86400, not 99999', 'see "eider run --help"'],
  ['run --wait 1 --wait 2', '--wait is given more than once', 'see "eider run --help"'],
  ['run --start 1', '--start requires --end', 'see "eider run --help"'],
  ['serve --vars a=1', '--vars requires --watch', 'see "eider serve --help"'],
  ['run --watch --retry', '--watch cannot be combined with --retry', 'see "eider run --help"'],
  ['ls --quiet=1', '--quiet does not take a value, such as "1"', 'write --quiet, or leave it out'],
  ['ls --foo', 'eider ls has no flag --foo', 'see "eider ls --help"'],
  [
    'query --format xml x',
    '--format must be one of table, json, ndjson, csv, markdown, parquet, xlsx, not "xml"',
    'see "eider query --help"',
  ],
  [
    'query --format',
    '--format needs a value: table, json, ndjson, csv, markdown, parquet, xlsx',
    'see "eider query --help"',
  ],
  [
    'serve --port 70000',
    '--port must be an integer from 0 to 65535, not "70000"',
    'it sets odata.port, see docs/configuration.md',
  ],
  [
    '--quiet run',
    '"--quiet" is not a command',
    'flags come after the command; "eider --help" lists the commands',
  ],
]

test('a command line that cannot be carried out is told in a line, with the next step', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\n' })
  for (const [command, problem, hint] of cases) {
    const { stdout, stderr } = await space.ok(command.split(' '), { exitCode: 2 })
    assert.is(stderr, `error: ${problem}\nhint: ${hint}\n`, command)
    assert.is(stdout, '', command)
  }
})

test('with --json it is one event', async () => {
  await using space = await workspace({ 'eider.yml': 'name: shop\n' })
  const chosen = ['show', 'doctor all', 'run --start 1', 'serve --port 70000']
  for (const [command, message, hint] of cases.filter(([name]) => chosen.includes(name))) {
    const { stdout } = await space.ok([...command.split(' '), '--json'], { exitCode: 2 })
    assert.equal(JSON.parse(stdout), { event: 'error', code: 'usage', message, hint }, command)
  }
})

test('a script that reads a list from stdin keeps it: no command but query takes an argument from there', async () => {
  for (const [id, { args }] of Object.entries(commands))
    for (const [name, { ignoreStdin }] of Object.entries(args ?? {}))
      assert.is(ignoreStdin === true, id !== 'query', `${id} ${name}`)
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/a/b.sql': '-- @expose id\nSELECT 1 AS id\n',
  })
  await space.ok(['run'])
  const loop = `while read -r set; do node "$0" odata preview "$set"; done`
  const bin = join(repository, 'bin', 'run.js')
  const { stdout } = spawnSync('bash', ['-c', loop, bin], {
    cwd: space.dir,
    input: 'a_b\na_b?$top=1\n',
    encoding: 'utf8',
  })
  assert.is(stdout.match(/"value":\[\{"id":1\}\]/g)?.length, 2)
})

test.run()
