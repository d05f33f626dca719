// Rows have no order of their own: several threads read them, and groups are made of whatever comes first. So a measure
// that joins values or takes the first one says in which order, or it is another value now and then.

import type { Span } from '../../core/source-text.ts'
import { depthsOf, isWord } from '../sql/tokens.ts'
import { ordered } from './aggregates.ts'
import type { AggregateCall, ReadMeasure } from './measure-sql.ts'

interface Unordered {
  readonly span: Span
  readonly name: string
  /** The call as it is to be written. */
  readonly wanted: string
}

/** The first call whose value depends on the order of rows. */
export function unorderedCall({ source, tokens, calls }: ReadMeasure): Unordered | null {
  const saysOrder = ({ inside }: AggregateCall) => {
    const words = tokens.slice(inside.start, inside.end)
    const depths = depthsOf(words)
    return words.some((word, i) => depths[i] === 0 && isWord(word, 'order'))
  }
  const found = calls.find((call) => ordered.has(call.name) && !saysOrder(call))
  const [first, last] = [tokens[found?.inside.start ?? -1], tokens[(found?.inside.end ?? 0) - 1]]
  if (found === undefined || first === undefined || last === undefined) return null
  const { name, start, end } = found
  const values = source.text.slice(first.start, last.end)
  const span = { start: tokens[start]!.start, end: tokens[end - 1]!.end }
  return { span, name, wanted: `${name}(${values} ORDER BY …)` }
}
