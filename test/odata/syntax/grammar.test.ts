import * as ohm from 'ohm-js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { urlGrammar, urlGrammarSource } from '../../../src/odata/syntax/url.grammar.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { examplesOf, faultsOfExamples } from '../../support/grammar-examples.ts'

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

test.run()
