// Calls and operators whose arguments are of types that they do not take.

import { isSymbol, nameOf, type Token } from '../sql/tokens.ts'
import { otherFunction } from './dialects.ts'
import type { RefusedCall } from './engine-words.ts'

/** How DuckDB writes a call of another dialect, with the column that it is about where there is only one. */
export function otherCall(name: string, tokens: readonly Token[], at: number): string | undefined {
  const other = otherFunction(name)
  if (other === undefined) return undefined
  const columns = new Set(columnsIn(tokens, at + 1))
  const [column = 'x'] = columns.size === 1 ? columns : []
  return `in DuckDB: ${other.replaceAll(/\bx\b/g, () => column)}`
}

export const UNITS = /^(?:year|quarter|month|week|day|hour|minute|second|millisecond)s?$/i

/** Names between the parentheses that open at `open`, but for functions and units of time. */
function columnsIn(tokens: readonly Token[], open: number): readonly string[] {
  if (!isSymbol(tokens[open], '(')) return []
  const found: string[] = []
  for (let i = open + 1, depth = 1; depth > 0 && i < tokens.length; i++) {
    const token = tokens[i]!
    if (isSymbol(token, '(')) depth++
    else if (isSymbol(token, ')')) depth--
    else if (nameOf(token) !== null && !isSymbol(tokens[i + 1], '(') && !UNITS.test(token.text)) {
      found.push(dotted(tokens, i, 1))
      while (isSymbol(tokens[i + 1], '.')) i += 2
    }
  }
  return found
}

/** `at`: the name of the function, or the operator. */
export function refusedCallText(
  call: RefusedCall,
  tokens: readonly Token[],
  at: number,
): { readonly problem: string; readonly hint: string | undefined } {
  const isOperator = !/^\w/.test(call.name)
  const name = isOperator ? `"${call.name}"` : call.name
  const problem =
    call.types.length === 0
      ? `${name} needs arguments`
      : `${name} does not take ${call.types.join(isOperator ? ' and ' : ', ')}`
  return {
    problem,
    hint: isOperator ? operatorHint(call, tokens, at) : functionHint(call, tokens, at),
  }
}

const isText = (type: string | undefined) => type === 'VARCHAR'
const isTime = (type: string | undefined) => /^(?:DATE|TIME)/.test(type ?? '')

function operatorHint(
  { name, types: [left, right] }: RefusedCall,
  tokens: readonly Token[],
  at: number,
): string | undefined {
  const before = tokens[at - 1]
  const after = tokens[at + name.length] // each character of an operator is a token
  if (name === '+' && isText(left) && isText(right)) return 'join text with ||'
  if (isTime(left) && after?.kind === 'string') return `write INTERVAL ${after.text}`
  if (isTime(left) && after?.kind === 'number') return `write INTERVAL ${after.text} DAY`
  if (isText(right) && after !== undefined && nameOf(after) !== null)
    return castHint(dotted(tokens, at + name.length, 1), left)
  if (isText(left) && before !== undefined && nameOf(before) !== null)
    return castHint(dotted(tokens, at - 1, -1), right)
  return 'cast one side to the type of the other'
}

const castHint = (text: string, type: string | undefined) =>
  `cast one side, such as ${text}::${type ?? 'INTEGER'}`

/** `a.b` from one of its ends on. */
function dotted(tokens: readonly Token[], at: number, step: 1 | -1): string {
  const parts = [tokens[at]!.text]
  for (let i = at + step; isSymbol(tokens[i], '.') && tokens[i + step] !== undefined; i += 2 * step)
    parts.push(tokens[i + step]!.text)
  return (step === 1 ? parts : parts.toReversed()).join('.')
}

function functionHint(
  { name, types, forms }: RefusedCall,
  tokens: readonly Token[],
  at: number,
): string | undefined {
  const [, open, first, comma, unit, close] = tokens.slice(at, at + 6)
  const isSwapped = /^date_?(?:trunc|part)$/i.test(name) && types.length === 2 && isText(types[1])
  if (isSwapped && isSymbol(open, '(') && isSymbol(comma, ',') && isSymbol(close, ')'))
    return `the unit comes first: ${name}(${unit!.text}, ${first!.text})`
  if (isSwapped) return `the unit comes first: ${name}('month', …)`
  const other = otherCall(name, tokens, at)
  if (other !== undefined) return other
  if (forms.length === 0) return undefined
  const shown = forms.slice(0, 4).map((form) => `${name}(${form})`)
  return `it is ${shown.join(', ')}${forms.length > 4 ? ', …' : ''}`
}
