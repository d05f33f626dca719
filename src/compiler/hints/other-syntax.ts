// Clauses, operators and calls of other dialects that the parser of DuckDB refuses, or takes for something else, each with
// what to write, in the words of the author.

import { unnestNames } from '../sql/engine-functions.ts'
import { isSymbol, isWord, nameOf, startOfName, type Token } from '../sql/tokens.ts'
import { isTypeName, otherType } from './dialects.ts'

interface Place {
  readonly tokens: readonly Token[]
  /** Of the error. */
  readonly at: number
  readonly text: string
}

/** undefined where nothing near the error is of another dialect. */
export function otherSyntax(place: Place): string | undefined {
  const { tokens, at } = place
  const call = tokens.slice(0, at).findLastIndex(isConversion)
  const close = closingOf(tokens, call + 1)
  return (
    topHint(tokens) ??
    commentHint(place) ??
    parameterHint(place) ??
    clauseHint(place) ??
    operatorHint(place) ??
    jsonPathHint(place) ??
    (call >= 0 && (close < 0 || at <= close + 1)
      ? conversionHint({ ...place, at: call })
      : undefined)
  )
}

/** `TOP (5)`, of which `TOP` may be taken for a function. */
export function topHint(tokens: readonly Token[]): string | undefined {
  const at = tokens.findIndex(
    (token, i) =>
      isWord(token, 'top') &&
      (isWord(tokens[i - 1], 'select') || isWord(tokens[i - 1], 'distinct')) &&
      isSymbol(tokens[i + 1], '(') &&
      isSymbol(tokens[i + 3], ')'),
  )
  const count = tokens[at + 2]
  return at < 0 || count?.kind !== 'number' ? undefined : `write LIMIT ${count.text} at the end`
}

function commentHint({ tokens, at }: Place): string | undefined {
  const [here, before, next] = [tokens[at], tokens[at - 1], tokens[at + 1]]
  if (isSymbol(here, '#') || isSymbol(before, '#')) return 'a comment begins with --'
  const isPair = isSymbol(here, '/') && isSymbol(next, '/') && next!.start === here!.end
  return isPair ? 'a comment begins with --; // divides whole numbers' : undefined
}

export const variableHint = (name: string) =>
  `write \${${name}}, and declare it under vars in eider.yml`

function parameterHint({ tokens, at }: Place): string | undefined {
  const [here, before, next] = [tokens[at], tokens[at - 1], tokens[at + 1]]
  if (!isSymbol(here, ':') || next === undefined) return undefined
  const isAssigned = isSymbol(next, '=') && isSymbol(tokens[at - 2], '@')
  if (isAssigned) return `write the value itself; or ${variableHint(before!.text)}`
  const isParameter =
    next.kind === 'word' && next.start === here!.end && before?.end !== here!.start
  return isParameter ? variableHint(next.text) : undefined
}

function clauseHint({ tokens, at, text }: Place): string | undefined {
  const [here, next] = [tokens[at], tokens[at + 1]]
  if (isWord(here, 'with') && (isWord(next, 'rollup') || isWord(next, 'cube'))) {
    const by = tokens.slice(0, at).findLastIndex((token) => isWord(token, 'by'))
    const groups = by < 0 ? '…' : textOf(text, tokens.slice(by + 1, at))
    return `write GROUP BY ${next!.text.toUpperCase()} (${groups})`
  }
  const isOuter =
    isSymbol(here, ')') && isSymbol(tokens[at - 1], '+') && isSymbol(tokens[at - 2], '(')
  if (isOuter) return 'write LEFT JOIN … ON … instead of (+)'
  if (!isWord(here, 'separator') || next?.kind !== 'string') return undefined
  const open = tokens.slice(0, at).findLastIndex((_, i) => isWord(tokens[i - 1], 'group_concat'))
  const order = tokens.slice(0, at).findLastIndex((token) => isWord(token, 'order'))
  if (open < 0) return undefined
  const isOrdered = order > open
  const value = textOf(text, tokens.slice(open + 1, isOrdered ? order : at))
  const rest = isOrdered ? ` ${textOf(text, tokens.slice(order, at))}` : ''
  return `write string_agg(${value}, ${next.text}${rest})`
}

function operatorHint({ tokens, at, text }: Place): string | undefined {
  const [here, before] = [tokens[at], tokens[at - 1]]
  if (isWord(here, 'regexp') || isWord(here, 'rlike')) {
    const isNot = isWord(before, 'not')
    const value = nameBefore(text, tokens, isNot ? at - 1 : at) ?? 'x'
    const pattern = tokens[at + 1]?.kind === 'string' ? tokens[at + 1]!.text : "'pattern'"
    return `write ${isNot ? 'NOT ' : ''}regexp_matches(${value}, ${pattern})`
  }
  const sign = isWord(before, 'div') ? '//' : isWord(before, 'mod') ? '%' : null
  const left = sign === null ? null : nameBefore(text, tokens, at - 1)
  const isValue = here?.kind === 'number' || nameOf(here) !== null
  return left === null || !isValue ? undefined : `write ${left} ${sign} ${here!.text}`
}

/** `amount:price::string` of Snowflake, which DuckDB takes for a name and its value. `at`: there, or after it. */
export function jsonPathHint({ tokens, at, text }: Place): string | undefined {
  const isSign = (token: Token | undefined) => token !== undefined && isSymbol(token, ':')
  const sign = tokens.findLastIndex(
    (token, i) =>
      i < at &&
      isSign(token) &&
      !isSign(tokens[i - 1]) &&
      !isSign(tokens[i + 1]) &&
      tokens[i - 1]?.end === token.start &&
      tokens[i + 1]?.start === token.end,
  )
  const value = sign < 0 ? null : nameBefore(text, tokens, sign)
  const names: string[] = []
  let last = sign + 1
  for (let name = nameOf(tokens[last]); name !== null; name = nameOf(tokens[(last += 2)])) {
    names.push(name)
    if (!isSymbol(tokens[last + 1], '.')) break
  }
  if (value === null || names.length === 0) return undefined
  const rest = tokens.slice(last + 1, at)
  // A cast may follow, and nothing else.
  if (rest.length > 0 && !(isSign(rest[0]) && isSign(rest[1]))) return undefined
  const path = names.length === 1 ? names[0]! : `$.${names.join('.')}`
  return `a value of JSON is read by ->>: ${value}->>'${path}'`
}

/** `DATE_TRUNC(x, MONTH)` and `DATE_DIFF(a, b, DAY)` of BigQuery. `at`: the unit. */
export function unitLastHint({ tokens, at, text }: Place): string | undefined {
  if (!isSymbol(tokens[at - 1], ',') || !isSymbol(tokens[at + 1], ')')) return undefined
  const open = tokens.findLastIndex((_, i) => i < at && closingOf(tokens, i) === at + 1)
  const [, call] =
    /^(?:date|datetime|timestamp|time)_(trunc|diff)$/i.exec(tokens[open - 1]?.text ?? '') ?? []
  if (call === undefined) return undefined
  const [first, second] = argumentsOf(tokens, open).map((part) => textOf(text, part))
  const unit = tokens[at]!.text.toLowerCase()
  // DuckDB counts from the first to the second.
  const values = call.toLowerCase() === 'diff' ? `${second}, ${first}` : first
  return `the unit comes first, as text: date_${call.toLowerCase()}('${unit}', ${values})`
}

/** `DATE_SUB(x, INTERVAL 1 DAY)`. `at`: the function. */
export function shiftedHint({ tokens, at, text }: Place): string | undefined {
  const [, call] = /^(?:date|datetime|timestamp)_(add|sub)$/i.exec(tokens[at]?.text ?? '') ?? []
  const [value, interval, ...more] = argumentsOf(tokens, at + 1)
  if (call === undefined || value === undefined || !isWord(interval?.[0], 'interval'))
    return undefined
  const sign = call.toLowerCase() === 'add' ? '+' : '-'
  return more.length > 0
    ? undefined
    : `write ${textOf(text, value)} ${sign} ${textOf(text, interval!)}`
}

/** Groups cannot be made by what makes several rows of one, unless FROM does. */
export function unnestHint({ tokens, text }: Pick<Place, 'tokens' | 'text'>): string | undefined {
  const at = tokens.findIndex((token, i) => isUnnest(token) && isSymbol(tokens[i + 1], '('))
  const close = closingOf(tokens, at + 1)
  if (at < 0 || close < 0) return undefined
  const alias = isWord(tokens[close + 1], 'as') ? nameOf(tokens[close + 2]) : null
  const call = textOf(text, tokens.slice(at, close + 1))
  return `unnest it in FROM, and group by the column that this gives: FROM …, ${call} AS t(${alias ?? 'item'})`
}

export const isUnnest = (token: Token) => [...unnestNames].some((name) => isWord(token, name))

/** `listagg(x, ',') WITHIN GROUP (ORDER BY y)`, of which DuckDB names the function. `at`: the function. */
export function orderedAggregateHint({ tokens, at, text }: Place): string | undefined {
  if (!/^(?:listagg|string_agg|array_agg)$/i.test(tokens[at]?.text ?? '')) return undefined
  const close = closingOf(tokens, at + 1)
  const open = tokens.findIndex((token, i) => i > close && isSymbol(token, '('))
  const end = closingOf(tokens, open)
  if (close < 0 || open < 0 || end < 0) return undefined
  const name = isWord(tokens[at], 'array_agg') ? 'array_agg' : 'string_agg'
  const values = textOf(text, tokens.slice(at + 2, close))
  return `write ${name}(${values} ${textOf(text, tokens.slice(open + 1, end))})`
}

const isConversion = (token: Token, i: number, tokens: readonly Token[]) =>
  (isWord(token, 'convert') || isWord(token, 'try_convert')) && isSymbol(tokens[i + 1], '(')

const NAMED_TYPES: Readonly<Record<string, string>> = {
  signed: 'BIGINT',
  unsigned: 'UBIGINT',
  datetime: 'TIMESTAMP',
  nvarchar: 'VARCHAR',
  nchar: 'VARCHAR',
  char: 'VARCHAR',
}

/** Formats of SQL Server, by the number of a style. */
const STYLES: Readonly<Record<string, string>> = {
  '23': '%Y-%m-%d',
  '101': '%m/%d/%Y',
  '103': '%d/%m/%Y',
  '104': '%d.%m.%Y',
  '105': '%d-%m-%Y',
  '108': '%H:%M:%S',
  '110': '%m-%d-%Y',
  '111': '%Y/%m/%d',
  '112': '%Y%m%d',
  '120': '%Y-%m-%d %H:%M:%S',
  '126': '%Y-%m-%dT%H:%M:%S',
}

/** `CONVERT(type, x, style)` and `CONVERT(x, type)` as a cast. `at`: the function. */
export function conversionHint({ tokens, at, text }: Place): string | undefined {
  const parts = argumentsOf(tokens, at + 1)
  if (tokens.some((token) => isWord(token, 'using')) && parts.length === 1)
    return 'leave CONVERT … USING out: all text is UTF-8'
  const [first, second, style] = parts
  if (first === undefined || second === undefined) return undefined
  const isFirst = typeIn(first) !== null
  const [type, value] = isFirst ? [typeIn(first), second] : [typeIn(second), first]
  if (type === null) return undefined
  const written = textOf(text, value)
  const cast = `${isWord(tokens[at], 'try_convert') ? 'TRY_CAST' : 'CAST'}(${written} AS ${type})`
  if (style === undefined) return `in DuckDB: ${cast}`
  const full = STYLES[style[0]?.text ?? ''] ?? '%Y-%m-%d'
  // The length cuts the time off.
  const format = first[2]?.text === '10' ? full.split(/[ T]/)[0]! : full
  const formatted =
    type === 'VARCHAR' ? `strftime(${written}, '${format}')` : `strptime(${written}, '${format}')`
  return `in DuckDB: ${cast}, or ${formatted}`
}

/** What DuckDB calls a type with which an argument begins; null: it is a value. */
function typeIn([first, ...rest]: readonly Token[]): string | null {
  if (first?.kind !== 'word') return null
  const isAlone = rest.length === 0 || isSymbol(rest[0], '(')
  const named = NAMED_TYPES[first.text.toLowerCase()] ?? otherType(first.text)
  if (!isAlone) return null
  if (named !== undefined) return named
  if (!isTypeName(first.text)) return null
  const name = first.text.toUpperCase()
  const isDecimal = name === 'DECIMAL' || name === 'NUMERIC'
  return isDecimal ? name + rest.map(({ text }) => text).join('') : name
}

/** Of the call whose parenthesis opens at `open`. */
function argumentsOf(tokens: readonly Token[], open: number): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens.slice(open + 1)) {
    if (isSymbol(token, ')') && depth-- === 0) break
    if (isSymbol(token, '(')) depth++
    if (isSymbol(token, ',') && depth === 0) parts.push([])
    else parts.at(-1)!.push(token)
  }
  return parts
}

/** -1: it does not close, or none opens there. */
function closingOf(tokens: readonly Token[], open: number): number {
  if (!isSymbol(tokens[open], '(')) return -1
  let depth = 0
  return tokens.findIndex((token, i) => {
    if (i < open) return false
    if (isSymbol(token, '(')) depth++
    return isSymbol(token, ')') && --depth === 0
  })
}

/** A name with its dots that ends before a token. */
function nameBefore(text: string, tokens: readonly Token[], at: number): string | null {
  const first = startOfName(tokens, at)
  return first === null ? null : textOf(text, tokens.slice(first, at))
}

/** On one line. */
const textOf = (text: string, tokens: readonly Token[]): string =>
  text.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0).replaceAll(/\s+/g, ' ')
