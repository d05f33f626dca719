// Help and the version by all the words that people try.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { findTopic, topicHint } from '../../src/cli/find-topic.ts'
import { searchPages } from '../../src/cli/search-pages.ts'
import { plain } from '../../src/cli/paint.ts'
import { showPage } from '../../src/cli/show-page.ts'
import { annotations } from '../../src/compiler/annotations/annotations.ts'
import { allCodes } from '../../src/core/diagnostics.ts'
import { settings } from '../../src/project/settings.ts'
import { repository, workspace } from '../support/workspace.ts'

test('help by every spelling is the same page', async () => {
  await using space = await workspace({})
  const page = async (...args: readonly string[]) => (await space.ok(args)).stdout
  const root = await page('--help')
  assert.match(root, 'COMMANDS')
  for (const words of [[], ['-h'], ['help', '-h']])
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

test('the first page of help is what the framework of commands prints', async () => {
  await using space = await workspace({})
  const page = async (words: readonly string[], env = {}) => (await space.ok(words, { env })).stdout
  assert.is(await page(['--help']), await page(['--no-color', '--help']))
  const path = join(repository, 'dist/bundle/help.json')
  const { wide, width } = JSON.parse(readFileSync(path, 'utf8')) as { wide: string; width: number }
  const shown = await page(['--help'], { OCLIF_COLUMNS: String(width) })
  assert.is(wide.replace('VERSION_LINE', /^ {2}(eider\/.*)$/m.exec(shown)![1]!), shown)
  assert.ok(shown.split('\n').every((line) => line.length <= width))
})

test('help about a command that is not there', async () => {
  await using space = await workspace({})
  const { stderr } = await space.ok(['help', 'nonsense'], { exitCode: 2 })
  assert.is(
    stderr,
    'error: there is no command and no topic "nonsense"\nhint: eider help search nonsense\n',
  )
})

test('a page, a chapter, an annotation, a code and a setting are topics', async () => {
  await using space = await workspace({})
  const all = (await space.ok(['help'])).stdout
  assert.match(all, '\nCOMMANDS\n')
  assert.match(all, /^ {2}guides\/send-events +\S/m)
  const page = (await space.ok(['help', 'send-events'])).stdout
  assert.match(page, /^Send events\n/)
  assert.not.match(page, /^#|^```|\]\(/m)
  const row = (await space.ok(['help', '@unique_key'])).stdout
  assert.match(row, /^ {2}`@unique_key: .*\n[^]* {4}meaning: [^]* {4}eider help annotations\n/)
  await space.ok(['help', 'search', 'xyzzy'], { exitCode: 1 })

  const found = (words: string) => {
    const topic = findTopic(words)
    if (topic === null || topic.is !== 'rows') return topic?.page.topic
    return topic.rows.map(({ page: { topic: of } }) => of).join()
  }
  assert.is(found('guides/send-events.md'), 'guides/send-events')
  // A command comes before a page of its name, which has a longer one.
  assert.is(found('collect.md'), 'collect')
  assert.is(found('unknown-model'), 'errors')
  assert.is(found('odata.page_size'), 'configuration')
  assert.is(found('Exit codes'), 'commands')
  assert.is(found('nonsense'), undefined)
  assert.is(topicHint('@unique_kye', []), 'did you mean "@unique_key"?')
  assert.is(searchPages(['neovim'])[0]?.topic, 'editors')
})

test('everything that the program can say of a mistake is a topic', () => {
  for (const code of allCodes) assert.is(findTopic(code)?.is, 'rows', code)
  for (const name of Object.keys(annotations)) assert.is(findTopic(`@${name}`)?.is, 'rows', name)
  for (const name of Object.keys(settings)) assert.is(findTopic(name)?.is, 'rows', name)
})

test('a page for a terminal is wrapped, with tables of two columns side by side', () => {
  const text =
    '# A\n\nWords with `code` and [a link](b.md).\n\n| k | v |\n| - | - |\n| `a` | long words that go on |\n\n```sh\neider run\n```\n'
  assert.is(
    showPage(text, { paint: plain, columns: 24 }),
    'A\n\nWords with `code` and a\nlink.\n\n  `a`  long words that\n       go on\n\n    eider run\n',
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
