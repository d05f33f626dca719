// The words of the documentation, the help texts and the messages are those of .ci/prose/words.txt; grammar is checked by
// `npm run prose`. And tables are for facts: a cell that takes a paragraph belongs below the table.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository, workspace } from '../support/workspace.ts'

const CELL_CHARACTERS = 120

const words = (...files: string[]) =>
  spawnSync(process.execPath, ['.ci/prose.js', '--words', ...files], {
    cwd: repository,
    encoding: 'utf8',
  })

test('no page, help text or message uses a word that the house does not use', () => {
  const { status, stdout } = words()
  assert.is(status, 0, stdout)
})

test('such a word is found in a page and in a string of the source, and not in code or in comments', async () => {
  const page = ['# Page', '', 'One `anew`, one anew.', '', '```', 'anew', '```', ''].join('\n')
  const source = [
    "const hint = 'the table is built anew'",
    '// anew',
    "const id = 'anew'",
    '',
  ].join('\n')
  await using space = await workspace({ 'page.md': page, 'source.ts': source })
  const { status, stdout } = words(space.path('page.md'), space.path('source.ts'))
  assert.is(status, 1)
  const found = [...stdout.matchAll(/(\w+\.\w+:\d+) words: "(\w+)"/g)].map(([, at, word]) => [
    at,
    word,
  ])
  assert.equal(found, [
    ['page.md:3', 'anew'],
    ['source.ts:1', 'anew'],
  ])
})

test('no cell of a table has more than 120 characters', () => {
  const below = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
  // A table of promises with their tests, and one of rooms with what they may import, are looked up by machines too.
  const pages = [
    ...below.filter((file) => file.endsWith('.md') && file !== 'acceptance.md'),
    ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'].map((file) => `../${file}`),
  ]
  const long = pages.flatMap((page) =>
    readFileSync(join(repository, 'docs', page), 'utf8')
      .split('\n')
      .flatMap((line, i) =>
        (line.startsWith('|') ? line.split(/(?<!\\)\|/) : [])
          .filter((cell) => !/^ *-+ *$/.test(cell) && cell.trim().length > CELL_CHARACTERS)
          .map((cell) => `${page}:${i + 1} ${cell.trim().slice(0, 60)}`),
      ),
  )
  assert.equal(long, [])
})

test.run()
