import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as ohm from 'ohm-js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { urlGrammar } from '../../../src/odata/syntax/grammar.ts'
import { parsedGrammar } from '../../../src/odata/syntax/parsed-grammar.ts'
import { urlGrammarSource } from '../../../src/odata/syntax/url.grammar.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { examplesOf, faultsOfExamples } from '../../support/grammar-examples.ts'
import { repository } from '../../support/workspace.ts'

test('the examples above the rules hold', () => {
  assert.equal(faultsOfExamples(urlGrammarSource, urlGrammar), [])
})

test('examples that do not hold are found, and rules without any', () => {
  const faulty = String.raw`G {
    //+ "x"
    //- "1"
    a = digit

    //+ "1"
    b (a letter)
      = letter -- only

    // no example
    c = letter
  }`
  const faults = faultsOfExamples(faulty, ohm.grammar(faulty))
  assert.equal(
    faults.map((fault) => fault.split(': Line')[0]),
    ['a: refuses "x"', 'a: accepts "1"', 'b: refuses "1"', 'c: no example that is accepted'],
  )
  const unreadable = 'G {\n//+ no text\na = digit\n}'
  assert.throws(() => faultsOfExamples(unreadable, ohm.grammar(unreadable)))
})

/** Texts that are examples of a rule with a piece of another one in them, most of them with a mistake. */
function* changedExamples(count: number): Generator<readonly [rule: string, text: string]> {
  const random = seededRandom(5)
  const below = (n: number) => Math.floor(random() * n)
  const examples = [...examplesOf(urlGrammarSource)]
  for (let i = 0; i < count; i++) {
    const [rule, [...own]] = examples[i % examples.length]!
    const { text } = own[below(own.length)]!
    const others = examples[below(examples.length)]![1]
    const at = below(text.length + 1)
    const piece =
      below(4) === 0 ? others[below(others.length)]!.text : pieces[below(pieces.length)]!
    yield [rule, text.slice(0, at) + piece + text.slice(at + below(3))]
  }
}

const pieces = [...'\'() \t-.:,/1eTZü\ud83d$"'.split(''), 'as']

test('a grammar whose tokens are read in one step takes what the grammar as written takes', () => {
  const written = ohm.grammar(urlGrammarSource)
  assert.equal(faultsOfExamples(urlGrammarSource, written), [])
  let taken = 0
  for (const [rule, text] of changedExamples(4_000)) {
    const expected = written.match(text, rule).succeeded()
    const said = `${rule}: ${JSON.stringify(text)}`
    assert.is(urlGrammar.match(text, rule).succeeded(), expected, said)
    if (expected) taken++
  }
  assert.ok(taken > 200, `${taken} texts were taken`)
})

/** What the types of ohm-js leave out. */
const { makeRecipe } = ohm as unknown as { makeRecipe: (recipe: string) => ohm.Grammar }
const recipeOf = (grammar: ohm.Grammar) => (grammar as unknown as { toRecipe(): string }).toRecipe()

test('the recipe that a build makes of the grammar takes the same, and refuses with the same words', () => {
  const written = parsedGrammar()
  const made = makeRecipe(recipeOf(written))
  assert.equal(faultsOfExamples(urlGrammarSource, made), [])
  const answer = (grammar: ohm.Grammar, rule: string, text: string) => {
    const match = grammar.match(text, rule)
    return match.failed() ? match.message : 'taken'
  }
  for (const [rule, text] of changedExamples(1_000))
    assert.is(answer(made, rule, text), answer(written, rule, text), `${rule}: ${text}`)
})

test('the built program has the recipe instead of the grammar as text', () => {
  const dir = join(repository, 'dist', 'bundle')
  const scripts = readdirSync(dir).filter((name) => name.endsWith('.cjs'))
  const texts = scripts.map((name) => readFileSync(join(dir, name), 'utf8'))
  const recipe = JSON.stringify(recipeOf(parsedGrammar()))
  assert.is(texts.filter((text) => text.includes(recipe)).length, 1)
  const rule = '\n  wholeExpression = expression\n'
  assert.ok(urlGrammarSource.includes(rule))
  assert.not.ok(texts.some((text) => text.includes(rule)))
})

test.run()
