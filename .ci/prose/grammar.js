// Grammar, by Harper, which reads English offline: articles, agreement, confused words, sentences that are too long. What
// was read without a finding is remembered in node_modules/.cache, so that a second reading takes no time.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/prose.json')

/** Taste, or what technical prose does otherwise; spelling has no dictionary of OData, DuckDB and SQL. */
const OFF = [
  'SpellCheck',
  'UseTitleCase',
  'OxfordComma',
  'SentenceCapitalization',
  'OkToOkay',
  'UseEllipsisCharacter',
  'OrthographicConsistency',
  'ExpandMemoryShorthands',
  'ExpandStandardInputAndOutput',
  'ExpandControl',
  'SplitWords',
  'CompoundNouns',
  'MassNouns',
  'ToTwoToo',
  'DisjointPrefixes',
  'PhrasalVerbAsCompoundNoun',
  'PronounInflectionBe',
  'WrongNegative',
  'MergeWords',
  'Overall',
  'CommaFixes',
  'ModalBeAdjective',
  'ExpandTimeShorthands',
  'ItsContraction',
  'MissingPreposition',
  'MissingTo',
  'DiscourseMarkers',
]

/** Whether it is `a` or `an` before SQL and scd2 is a matter of how they are said. */
const isSpelled = (rule, rest) => rule === 'AnA' && !/^ +[a-z]+\b(?!2)/.test(rest)

export async function grammarOf(pages) {
  const version = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../node_modules/harper.js/package.json'), 'utf8'),
  ).version
  const keyOf = (text) =>
    createHash('sha256').update(`${version} ${OFF.join()} ${text}`).digest('hex')
  const known = new Set(cached())
  const unread = pages.filter(({ text }) => !known.has(keyOf(text)))
  const findings = unread.length === 0 ? [] : await read(unread)
  const wrong = new Set(findings.map(({ file }) => file))
  const clean = unread.filter(({ file }) => !wrong.has(file)).map(({ text }) => keyOf(text))
  if (clean.length > 0) keep([...known, ...clean])
  return findings
}

async function read(pages) {
  const { Dialect, LocalLinter } = await import('harper.js')
  const { slimBinary } = await import('harper.js/slimBinary')
  const linter = new LocalLinter({ binary: slimBinary, dialect: Dialect.American })
  await linter.setup()
  const config = await linter.getLintConfig()
  await linter.setLintConfig({ ...config, ...Object.fromEntries(OFF.map((name) => [name, false])) })
  const findings = []
  for (const { file, text } of pages) {
    const characters = [...text]
    const byRule = await linter.organizedLints(text, { language: 'markdown' })
    for (const [rule, lints] of Object.entries(byRule))
      for (const lint of lints) {
        const { start, end } = lint.span()
        if (isSpelled(rule, characters.slice(end, end + 30).join(''))) continue
        findings.push({
          file,
          line: characters.slice(0, start).join('').split('\n').length,
          rule,
          problem: lint.get_problem_text().replaceAll(/\s+/g, ' '),
          advice: lint.message(),
        })
      }
  }
  return findings
}

function cached() {
  try {
    return JSON.parse(readFileSync(CACHE, 'utf8'))
  } catch {
    return []
  }
}

function keep(keys) {
  mkdirSync(dirname(CACHE), { recursive: true })
  writeFileSync(CACHE, JSON.stringify(keys.slice(-500)))
}
