// Rows have no order of their own: several threads read them, and groups are made of whatever comes first. So a measure
// that joins values or takes the first one says in which order, or it is another value now and then.

import type { Span } from '../../core/source-text.ts'
import { foldCase } from '../../core/names.ts'
import { depthsOf, isSymbol, isWord, nameOf } from '../sql/tokens.ts'
import { collecting, joining, ordered } from './aggregates.ts'
import type { AggregateCall, ReadMeasure } from './measure-sql.ts'

interface Unordered {
  readonly span: Span
  readonly name: string
  /** The call as it is to be written. */
  readonly wanted: string
}

/** What they give of a list is the same in whatever order its items are. */
const orderless: ReadonlySet<string> = new Set(
  `array_contains array_has array_length array_reverse_sort array_sort array_unique len length list_avg list_contains
  list_count list_has list_max list_median list_min list_product list_reverse_sort list_sort list_sum list_unique`.split(
    /\s+/,
  ),
)

/** Of a text, the number of its characters or bytes, which is the sum of those of its parts. Graphemes are no such sum. */
const lengths: ReadonlySet<string> = new Set(
  'bit_length char_length character_length len length strlen'.split(' '),
)

/** These give a list again, in some order. */
const handingOn: ReadonlySet<string> = new Set(['array_distinct', 'list_distinct'])

/** Whether what is made of the list or text at once has no order, as in `len(list_distinct(list(x)))`. */
function losesOrder(tokens: ReadMeasure['tokens'], { name, start, end }: AggregateCall): boolean {
  if (joining.has(name))
    return (
      isSymbol(tokens[start - 1], '(') &&
      lengths.has(foldCase(nameOf(tokens[start - 2]) ?? '')) &&
      isSymbol(tokens[end], ')')
    )
  if (!collecting.has(name)) return false
  for (let [open, after] = [start - 1, end]; isSymbol(tokens[open], '('); open -= 2, after++) {
    const outer = foldCase(nameOf(tokens[open - 1]) ?? '')
    if (orderless.has(outer)) return isSymbol(tokens[after], ')') || isSymbol(tokens[after], ',')
    if (!handingOn.has(outer) || !isSymbol(tokens[after], ')')) return false
  }
  return false
}

/** The first call whose value depends on the order of rows. */
export function unorderedCall({ source, tokens, calls }: ReadMeasure): Unordered | null {
  const saysOrder = ({ inside }: AggregateCall) => {
    const words = tokens.slice(inside.start, inside.end)
    const depths = depthsOf(words)
    return words.some((word, i) => depths[i] === 0 && isWord(word, 'order'))
  }
  const found = calls.find(
    (call) => ordered.has(call.name) && !saysOrder(call) && !losesOrder(tokens, call),
  )
  const [first, last] = [tokens[found?.inside.start ?? -1], tokens[(found?.inside.end ?? 0) - 1]]
  if (found === undefined || first === undefined || last === undefined) return null
  const { name, start, end } = found
  const values = source.text.slice(first.start, last.end)
  const span = { start: tokens[start]!.start, end: tokens[end - 1]!.end }
  return { span, name, wanted: `${name}(${values} ORDER BY …)` }
}
