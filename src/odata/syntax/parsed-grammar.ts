// The grammar of url.grammar.ts as an object of ohm. To parse its text takes longer than all else that `eider serve` does
// before it listens, so the bundle has another module in the place of this one, which rolldown.grammar.js makes: what
// ohm has parsed, when the program was built.

import { type Grammar, grammar } from 'ohm-js'
import { urlGrammarSource } from './url.grammar.ts'

export const parsedGrammar = (): Grammar => grammar(urlGrammarSource)
