import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { urlGrammar, urlGrammarSource } from '../../../src/odata/url.grammar.ts'
import { faultsOfExamples } from '../../grammar-examples.ts'

test('the examples above the rules hold', () => {
  assert.equal(faultsOfExamples(urlGrammarSource, urlGrammar), [])
})

test.run()
