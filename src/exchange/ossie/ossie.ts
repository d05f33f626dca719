import type { ExchangeFormat } from '../format.ts'
import { memberOf } from '../nodes.ts'
import { readSemanticModels } from './read.ts'
import { writeSemanticModel } from './write.ts'

/** Apache Ossie, formerly the Open Semantic Interchange. */
export const ossie: ExchangeFormat = {
  title: 'a semantic model (Ossie)',
  write: writeSemanticModel,
  matches: (root) => memberOf(root, 'semantic_model') !== null,
  read: readSemanticModels,
}
