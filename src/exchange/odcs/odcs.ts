import { isScalar } from 'yaml'
import type { ExchangeFormat } from '../format.ts'
import { memberOf } from '../nodes.ts'
import { readContract } from './read.ts'
import { writeContract } from './write.ts'

/** The Open Data Contract Standard. */
export const odcs: ExchangeFormat = {
  title: 'a data contract (ODCS)',
  write: writeContract,
  matches: (root) => {
    const kind = memberOf(root, 'kind')
    return isScalar(kind) && kind.value === 'DataContract'
  },
  read: readContract,
}
