import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  annotationGrammar,
  annotationGrammarSource,
} from '../../src/compiler/annotations.grammar.ts'
import { parseHeader } from '../../src/compiler/annotations.ts'
import { statementsOf } from '../../src/compiler/statements.ts'
import { faultsOfExamples, rulesOf } from '../grammar-examples.ts'

test('the examples in the grammar hold', () => {
  assert.equal(faultsOfExamples(annotationGrammarSource, annotationGrammar), [])
  assert.ok(rulesOf(annotationGrammarSource).length > 10)
})

test.run()
