// The grammar by which requests are read: the one of url.grammar.ts, with its tokens in one step.

import { parsedGrammar } from './parsed-grammar.ts'
import { readInOneStep } from './token-rules.ts'

export const urlGrammar = parsedGrammar()

/** Rules whose text alone matters to the actions. */
readInOneStep(urlGrammar, [
  'callStart',
  'close',
  'comma',
  'date',
  'dateTime',
  'guid',
  'keyword',
  'name',
  'names',
  'number',
  'open',
  'operator',
  'plainItem',
  'prefix',
  'rws',
  'stringText',
  'timeOfDay',
  'word',
  'ws',
])
