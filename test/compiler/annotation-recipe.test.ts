// The recipe of the annotation grammar is written by this test, when UPDATE_GOLDEN=1 asks for it.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { grammar } from 'ohm-js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { annotationGrammarSource } from '../../src/compiler/annotations.grammar.ts'
import { annotationRecipe } from '../../src/compiler/annotations.recipe.ts'
import { repository } from '../workspace.ts'

const FILE = 'src/compiler/annotations.recipe.ts'

test('the recipe is that of the grammar', () => {
  const written = recipeOf(annotationGrammarSource)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(join(repository, FILE), fileOf(written))
  else assert.is(annotationRecipe, written, 'run this test with UPDATE_GOLDEN=1, then build')
})

test.run()

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
  `// Written by test/compiler/annotation-recipe.test.ts from annotations.grammar.ts.\n\nexport const annotationRecipe = String.raw\`${recipe}\`\n`
