// The recipe of the annotation grammar is written by this test, when UPDATE_GOLDEN=1 asks for it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { grammar, type MatchResult } from 'ohm-js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { annotationGrammar } from '../../../src/compiler/annotations/annotation-values.ts'
import { annotationGrammarSource } from '../../../src/compiler/annotations/annotations.grammar.ts'
import { annotationRecipe } from '../../../src/compiler/annotations/annotation-recipe.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { examplesOf } from '../../support/grammar-examples.ts'
import { repository } from '../../support/workspace.ts'

const FILE = 'src/compiler/annotations/annotation-recipe.ts'

test('the recipe is that of the grammar', () => {
  const written = recipeOf(annotationGrammarSource)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(join(repository, FILE), fileOf(written))
  else assert.is(annotationRecipe, written, 'run this test with UPDATE_GOLDEN=1, then build')
})

test('a grammar whose tokens are read in one step takes what the grammar as written takes', () => {
  const written = grammar(annotationGrammarSource)
  const random = seededRandom(11)
  const below = (n: number) => Math.floor(random() * n)
  const pieces = ['"', "'", '(', ')', ' ', '\t', '-', '.', ':', ',', '@', '1', '_', '$', 'a', 'ü']
  pieces.push('ª', 'ǅ', '名', '😀', '\ud83d', '\n', '> ', 'unique(', 'lookback 1 day')
  const examples = [...examplesOf(annotationGrammarSource)]
  let taken = 0
  for (let i = 0; i < 6_000; i++) {
    const [rule, own] = examples[i % examples.length]!
    const { text } = own[below(own.length)]!
    const at = below(text.length + 1)
    const changed = text.slice(0, at) + pieces[below(pieces.length)]! + text.slice(at + below(3))
    const [ours, theirs] = [annotationGrammar, written].map((by) => by.match(changed, rule))
    const what = `${rule}: ${JSON.stringify(changed)}`
    assert.is(ours!.succeeded(), theirs!.succeeded(), what)
    if (ours!.succeeded()) taken++
    else assert.is(failureOf(ours!), failureOf(theirs!), what)
  }
  assert.ok(taken > 1_000 && taken < 5_000, `${taken} were taken`)
})

test.run()

/** Where a diagnostic points. */
const failureOf = (match: MatchResult) =>
  (match as unknown as FailedMatch).getRightmostFailurePosition()

interface FailedMatch {
  readonly getRightmostFailurePosition: () => number
}

interface RecipeMaker {
  readonly toRecipe: () => string
}

/** One rule a line. */
function recipeOf(source: string): string {
  const withoutExamples = source.replaceAll(/^\s*(?:\/\/.*)?\n/gm, '').replaceAll(/^\s+/gm, '')
  const made = grammar(withoutExamples) as unknown as RecipeMaker
  const [is, about, name, parent, start, rules] = JSON.parse(made.toRecipe()) as readonly unknown[]
  const lines = Object.entries(rules as object).map(
    ([rule, steps]) => `${JSON.stringify(rule)}:${JSON.stringify(steps)}`,
  )
  const head = [is, about, name, parent, start].map((part) => JSON.stringify(part)).join()
  return `[${head},{\n${lines.join(',\n')}\n}]`
}

const fileOf = (recipe: string) =>
  `// Written by test/compiler/annotations/annotation-recipe.test.ts from annotations.grammar.ts.\n\nexport const annotationRecipe = String.raw\`${recipe}\`\n`
