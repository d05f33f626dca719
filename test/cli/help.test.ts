// Help and the version by all the words that people try.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

test('help by every spelling is the same page', async () => {
  await using space = await workspace({})
  const page = async (...args: readonly string[]) => (await space.ok(args)).stdout
  const root = await page('--help')
  assert.match(root, 'COMMANDS')
  for (const words of [[], ['-h'], ['help'], ['help', '-h']])
    assert.is(await page(...words), root, words.join(' '))
  const run = await page('run', '--help')
  assert.match(run, 'eider run [SELECTOR...]')
  for (const words of [
    ['run', '-h'],
    ['help', 'run'],
  ])
    assert.is(await page(...words), run, words.join(' '))
  assert.is(await page('help', 'collect', 'daemon'), await page('collect', 'daemon', '--help'))
})

test('help about a command that is not there', async () => {
  await using space = await workspace({})
  const { stderr } = await space.ok(['help', 'nonsense'], { exitCode: 2 })
  assert.is(
    stderr,
    'error: there is no command "nonsense"\nhint: "eider --help" lists the commands\n',
  )
})

test('the version by every spelling is the same line, which names Node and DuckDB', async () => {
  await using space = await workspace({})
  const { stdout: line } = await space.ok(['--version'])
  assert.match(line, /^eider\/\d+\.\d+\.\d+ \S+ node-v\d+\.\d+\.\d+ duckdb-v\d+\.\d+\.\d+\n$/)
  for (const word of ['-v', '-V', 'version']) assert.is((await space.ok([word])).stdout, line, word)
  // What the engine says of itself, while the short spellings read package.json.
  assert.is((await space.ok(['version', '--quiet'])).stdout, line)
})

test('--verbose lists the packages inside', async () => {
  await using space = await workspace({})
  const { stdout: line } = await space.ok(['--version'])
  const { stdout } = await space.ok(['--version', '--verbose'])
  assert.ok(stdout.startsWith(line))
  assert.match(stdout, /^ {2}yaml +\d+\.\d+\.\d+ {2}ISC$/m)
  assert.match(stdout, /^ {2}@oclif\/core +\d+\.\d+\.\d+ {2}MIT$/m)
  const event = JSON.parse((await space.ok(['-v', '--verbose', '--json'])).stdout) as {
    readonly event: string
    readonly node: string
    readonly packages: readonly { readonly name: string }[]
  }
  assert.is(event.event, 'version')
  assert.is(event.node, process.versions.node)
  assert.ok(event.packages.some(({ name }) => name === '@duckdb/node-api'))
})

test.run()
