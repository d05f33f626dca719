// Reads the documentation, the help texts and the messages, and ends with 1 when one of them uses a word of
// prose/words.txt or has a mistake of grammar.
//
//   node .ci/prose.js [--words] [FILE]...    --words leaves the grammar out and takes a tenth of a second

import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { grammarOf } from './prose/grammar.js'
import { proseOfHelp, proseOfPage, proseOfSource } from './prose/read.js'
import { wordsIn } from './prose/words.js'

const repository = join(import.meta.dirname, '..')
const below = (dir, pattern) =>
  readdirSync(join(repository, dir), { recursive: true })
    .map((file) => join(dir, file))
    .filter((file) => pattern.test(file))

const flags = process.argv.slice(2)
const named = flags.filter((flag) => !flag.startsWith('--'))
const files =
  named.length > 0
    ? named.map((file) => relative(repository, file))
    : [
        ...readdirSync(repository).filter((file) => file.endsWith('.md')),
        ...below('docs', /\.md$/),
        ...below('templates', /\.md$/),
        ...below('example-project', /^[^/]+\/[^/]+\.md$/),
        ...below('test/golden/help', /\.txtar$/),
        ...below('src', /(?<!\.d)\.tsx?$|README\.md$/),
      ]

/** The table of promises is a list of tests. */
const UNREAD = ['docs/acceptance.md']

const pages = files
  .filter((file) => !UNREAD.includes(file))
  .map((file) => {
    const text = readFileSync(join(repository, file), 'utf8')
    if (file.endsWith('.md')) return { file, text: proseOfPage(text), isPage: true }
    return { file, text: (file.endsWith('.txtar') ? proseOfHelp : proseOfSource)(text) }
  })
const findings = pages.flatMap(({ file, text }) => wordsIn(text).map((one) => ({ file, ...one })))
if (!flags.includes('--words'))
  findings.push(...(await grammarOf(pages.filter(({ isPage }) => isPage))))

for (const { file, line, rule, problem, advice } of findings)
  process.stdout.write(`${file}:${line} ${rule}: "${problem}" (${advice})\n`)
process.stdout.write(`prose: ${pages.length} files, ${findings.length} findings\n`)
if (findings.length > 0) process.exitCode = 1
