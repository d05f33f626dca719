// Calls that give columns a value that nothing in the row decides, wherever in the query they stand, and in the views and
// tables that it reads.

import type { Model } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Span } from '../../core/source-text.ts'
import { columnNames, type SyntaxNode } from '../../duckdb/syntax.ts'
import { spanAtByte } from '../hints/engine-diagnostic.ts'
import { expressionsOf, passedOn } from '../lineage/given.ts'
import { contextOf, type LineageSources } from '../lineage/query.ts'
import type { ResolvedQuery } from '../resolve.ts'
import { isVolatile, isVolatileWord, variesOf } from '../sql/engine-functions.ts'
import { type MacroFacts, nodeLocation } from '../sql/references.ts'

interface Giver {
  /** A function, or a word that stands for a call. */
  readonly call: string
  /** `now()`, but `current_date`. */
  readonly isWord: boolean
  /** The model that it stands in; null: in this one. */
  readonly from: string | null
  readonly span: Span
}

export interface Givers {
  /** What makes the column another value in each run; null: it may be the same. */
  readonly changing: (index: number) => Giver | null
  /** What makes it another value for the same row. */
  readonly unstable: (index: number) => Giver | null
}

/** As the message says it. */
export const callIn = ({ call, isWord, from }: Giver): string =>
  `${call}${isWord ? '' : '()'}${from === null ? '' : ` of ${from}`}`

const NONE: Givers = { changing: () => null, unstable: () => null }

export type GiverContext = Omit<LineageSources, 'trees' | 'known' | 'models'> & {
  readonly macros: ReadonlyMap<string, MacroFacts>
}

/** `before`: the models that it may read. A call of another model is shown where the column of this one stands. */
export function giversOf(
  { tree, canonical, references, parsed: { body } }: ResolvedQuery,
  columns: readonly Column[],
  before: ReadonlyMap<ModelName, Model>,
  { macros, ...context }: GiverContext,
  placeOfColumn: (index: number) => Span | null,
): Givers {
  const readsOne = references.models.some(({ name }) => before.get(name)?.givers !== undefined)
  if (tree === null || !(references.volatile || canonical.includes('row_number') || readsOne))
    return NONE
  const all = expressionsOf(tree, columns, contextOf({ ...context, models: before }))
  const find = (callOf: (item: SyntaxNode) => Called | null) => (index: number) => {
    for (const item of all[index] ?? []) {
      const found = callOf(item)
      const from = typeof item['model'] === 'string' ? item['model'] : null
      if (found === null) continue
      const span = from === null ? null : placeOfColumn(index)
      return { ...found, from, span: span ?? spanAtByte(body, nodeLocation(item)) }
    }
    return null
  }
  return {
    changing: find((item) => changingCall(item, macros)),
    unstable: find((item) => unstableCall(item, macros)),
  }
}

/** For those who read the model: its columns that are another value in each build. */
export function giversFor(
  columns: readonly Column[],
  { changing, unstable }: Givers,
): Pick<Model, 'givers'> {
  const found = columns.flatMap(({ name }, i) => {
    const giver = changing(i) ?? unstable(i)
    return giver === null ? [] : [[name, giver.from ?? '', giver.call] as const]
  })
  return found.length === 0 ? {} : { givers: found }
}

type Called = Pick<Giver, 'call' | 'isWord'>
type MacroBodies = ReadonlyMap<string, Pick<MacroFacts, 'gives'>>

const called = (call: string): Called => ({ call, isWord: false })

/** What a macro calls that the item calls. */
function inMacro(
  name: string,
  macros: MacroBodies,
  callOf: (item: SyntaxNode, macros: MacroBodies) => Called | null,
): Called | null {
  const body = macros.get(name)?.gives
  const found = body === undefined ? [] : passedOn(body).map((item) => callOf(item, macros))
  return found.some((one) => one !== null) ? called(name) : null
}

function changingCall(item: SyntaxNode, macros: MacroBodies): Called | null {
  const [word, ...more] = columnNames(item) ?? []
  if (word !== undefined)
    return more.length === 0 && isVolatileWord(foldCase(word)) ? { call: word, isWord: true } : null
  if (item['class'] !== 'FUNCTION') return null
  const name = foldCase(String(item['function_name']))
  const values = (item['children'] ?? []) as readonly SyntaxNode[]
  const isOne = isVolatile(name, values.length) && variesOf(name) !== null
  return isOne ? { call: name, isWord: isVolatileWord(name) } : inMacro(name, macros, changingCall)
}

/** Calls whose value nothing in the row decides. */
const UNSTABLE: ReadonlySet<string> = new Set(
  'uuid uuidv4 uuidv7 gen_random_uuid random'.split(' '),
)

function unstableCall(item: SyntaxNode, macros: MacroBodies): Called | null {
  const name = foldCase(String(item['function_name']))
  if (item['class'] === 'FUNCTION')
    return UNSTABLE.has(name) ? called(name) : inMacro(name, macros, unstableCall)
  if (item['class'] !== 'WINDOW' || name !== 'row_number') return null
  const decides = ['partitions', 'orders', 'arg_orders'].flatMap(
    (member) => (item[member] ?? []) as readonly unknown[],
  )
  return decides.length === 0 ? called(name) : null
}
