// What is said of a text that the URL grammar does not take: where it ends to make sense, and what to write there.

import type * as ohm from 'ohm-js'
import { foreignValue } from './foreign-values.ts'
import { foreignLiteral, foreignOperator, foreignSymbol } from './foreign-words.ts'
import { precedenceOf } from './precedence.ts'
import { aggregateMethods } from './aggregate.ts'
import { malformed } from '../protocol/errors.ts'

const operators = Object.keys(precedenceOf)

/** `rule` is the one that the whole text should have matched. */
export function syntaxError(match: ohm.MatchResult, rule: string, text: string, target: string) {
  // The types of ohm-js leave these two out.
  const failed = match as typeof match & {
    getRightmostFailurePosition(): number
    getRightmostFailures(): readonly { toString(): string; isFluffy(): boolean }[]
  }
  const furthest = failed.getRightmostFailurePosition()
  const position = furthest + /^\s*/.exec(text.slice(furthest))![0].length
  const expected = failed
    .getRightmostFailures()
    .filter((failure) => !failure.isFluffy())
    .map((failure) => String(failure).replace(' (case-insensitive)', ''))
  if (rule === 'key') {
    const problem = keyMistake(text) ?? valueMistake(text, position) ?? `expected ${KEY_EXAMPLES}`
    return malformed(`${target}: ${problem}`, target)
  }
  const where = position >= text.length ? 'at the end' : `at character ${position + 1}`
  const known = rule === 'search' ? unclosedPhrase(text) : knownMistake(rule, text, position)
  const problem = known ?? unexpected(rule, text, position, new Set(expected))
  return malformed(`${target} ${where}: ${problem}`, target)
}

const unclosedPhrase = (text: string): string | null =>
  text.replaceAll(/\\./gs, '').split('"').length % 2 === 0
    ? 'a phrase needs two double quotes: write the closing one, as in "red wine", or leave out both'
    : null

/** The message for a mistake that many make; null for any other. */
function knownMistake(rule: string, text: string, position: number): string | null {
  if (rule === 'apply') {
    const found = applyMistake(text, position)
    if (found !== null) return found
  }
  if (rule === 'select' && /^\s*count\s*\(\s*$/i.test(text.slice(0, position)))
    return '$select takes names of properties; write $count=true for the number of rows, or $apply=aggregate($count as n)'
  const separated = rule === 'expand' ? optionAfterComma(text, position) : null
  if (separated !== null) return separated
  const lambda = lambdaMistake(text, position)
  if (lambda !== null) return lambda
  const isAtEnd = text.slice(position).trim() === ''
  if (isAtEnd) return missingEnd(rule, text)
  if (rule !== 'expand' && /^;\s*\$?\w+\s*=/.test(text.slice(position)))
    return 'options are separated by "&", not ";"'
  return valueMistake(text, position) ?? foreignSymbol(text, position)
}

/** `orders($select=id,$top=1)` */
function optionAfterComma(text: string, position: number): string | null {
  const rest = text.slice(position)
  const isAfter = /,\s*$/.test(text.slice(Math.max(0, position - LOOK_BACK), position))
  const isOption = /^\$\w+\s*=/.test(isAfter ? rest : rest.replace(/^,\s*/, ''))
  return isOption && (isAfter || rest.startsWith(','))
    ? 'options in parentheses are separated by ";", not ","'
    : null
}

/** `orders/any(status eq 'paid')` */
function lambdaMistake(text: string, position: number): string | null {
  const before = text.slice(Math.max(0, position - LOOK_BACK), position)
  const [, word, path = ''] = /\/(any|all)\(\s*([\w/]*)\s*$/i.exec(before) ?? []
  const rest = text.slice(position)
  if (word === undefined || path === '' || rest.startsWith(':')) return null
  const say = (example: string) => `${word} gives each item a name first: ${word}(${example})`
  if (rest.startsWith('(')) return say(`o:${path}(o/…)`)
  const isPath = path.includes('/') || rest.startsWith('/')
  const item = isPath ? path.split('/')[0]! : 'o'
  // A quote in a text is written twice, which reads as two texts.
  const [end = ' …'] = /^(?:[^()']|'[^']*')*(?=\))/.exec(rest) ?? []
  const space = /\s$/.test(before) && end !== ' …' ? ' ' : ''
  const condition = shortened(`${isPath ? '' : `${item}/`}${path}${space}${end}`)
  return say(`${item}:${condition}`)
}

const KEY_EXAMPLES = "a number such as (5), text such as ('a'), or names such as (a=1,b='x')"

function keyMistake(text: string): string | null {
  const word = text.trim()
  return /^[a-z_][\w-]*$/i.test(word) ? `text is written in single quotes: ('${word}')` : null
}

/** Characters before a mistake that say what was meant: a pattern that ends there tries each of them as its beginning. */
const LOOK_BACK = 1_000

/** A value in another spelling. */
function valueMistake(text: string, position: number): string | null {
  const rest = text.slice(position)
  if (rest.startsWith('"')) {
    const inner = /^"([^"]*)"/.exec(rest)?.[1] ?? rest.slice(1)
    return `text is written in single quotes: '${shortened(inner).replaceAll("'", "''")}'`
  }
  const value = foreignValue(text, position)
  if (value !== null) return value
  const before = text.slice(Math.max(0, position - LOOK_BACK), position)
  const negated = /([\w/]+)\s+not\s+in\s*$/i.exec(before)?.[1]
  if (negated !== undefined) return `"not" comes before a condition: not (${negated} in (1,2))`
  if (before.endsWith("'") && /^\w/.test(rest))
    return "a quote within text is written twice: 'O''Neil'"
  if (/[\w)'] {2,}$/.test(before) && /^[\w(']/.test(rest))
    return 'expected an operator; a plus sign in a URL is a space, and addition is written "add"'
  const prefix = /([a-z]+)\s*$/i.exec(before)?.[1]
  const quoted = /^'((?:[^']|'')*)'/.exec(rest)?.[1]
  if (prefix !== undefined && quoted !== undefined) {
    const today = foreignLiteral(prefix, shortened(quoted))
    if (today !== null) return `${prefix}'…' is not a literal of OData 4; write ${today}`
  }
  const start = position - /[\w.+-]*$/.exec(before)![0].length
  const [, number, suffix] =
    /^([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)([lmdf])\b/i.exec(text.slice(start)) ?? []
  return number === undefined
    ? null
    : `"${number}${suffix}" is a literal of OData 2 and 3; write ${number}`
}

const shortened = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

const METHOD_CALL = new RegExp(
  String.raw`aggregate\((?:.*,)?\s*(${aggregateMethods.join('|')})\(\s*([^()]*)\)[^,)]*$`,
  'i',
)

/** `aggregate(amount with sum)` */
const UNNAMED = /(?<=[(,]\s*)([\w/]+\s+with\s+[\w.]+)\s*[),]/i

const CALL_IN_GROUPBY = /groupby\(\((?:[^()]*,)?\s*(?!rollup\b)((\w+)\([^()]*\))/i

function applyMistake(text: string, position: number): string | null {
  const before = text.slice(0, position)
  if (/groupby\(\s*$/i.test(before)) {
    const names = /^[^(),]+(?:,[^(),]+)*(?=\)|,\s*\w+\()/.exec(text.slice(position))?.[0] ?? 'name'
    const more = text
      .slice(position + names.length)
      .trim()
      .startsWith(',')
      ? ',…'
      : ''
    return `groupby takes a list in parentheses: groupby((${names.trim()})${more})`
  }
  const [, names] = /groupby\(\(([^()]*)\)\s*\)\s*$/i.exec(before) ?? []
  if (names !== undefined && /^,\s*aggregate\(/i.test(text.slice(position)))
    return `aggregate stands inside of groupby: groupby((${names.trim()}),aggregate(…))`
  if (
    /\)\s*$/.test(before) &&
    /^,\s*(?:groupby|filter|aggregate|compute|orderby|top|skip)\(/i.test(text.slice(position))
  )
    return 'transformations are separated by "/", not ","'
  if (/aggregate\([^()]*\bcount\(\s*$/i.test(before)) return aggregateHint('count', '')
  const grouped = CALL_IN_GROUPBY.exec(text)
  if (grouped !== null && grouped.index <= position && position < grouped.index + grouped[0].length)
    return `groupby takes names; compute it first: compute(${grouped[1]!} as ${grouped[2]!})/groupby((${grouped[2]!}))`
  const unnamed = UNNAMED.exec(text)
  if (unnamed !== null && unnamed.index + unnamed[0].length - 1 === position)
    return `a name is missing: ${unnamed[1]!} as total`
  const [, method, value] = METHOD_CALL.exec(before) ?? []
  return method === undefined ? null : aggregateHint(method, value ?? '')
}

/** `sum(amount)` of SQL. */
export function aggregateHint(method: string, value: string): string {
  const name = method.toLowerCase()
  if (name === 'count') return 'write aggregate($count as n)'
  const own = { avg: 'average' }[name] ?? name
  return `write aggregate(${value.trim() || 'amount'} with ${own} as total)`
}

const OPENING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' }

function missingEnd(rule: string, text: string): string | null {
  const [end = text, word = ''] = /([A-Za-z]+)\s*$/.exec(text.slice(-LOOK_BACK)) ?? []
  const before = text.slice(0, text.length - end.length)
  const name = word.toLowerCase()
  if (/[\s)]$|^$/.test(before) && (operators.includes(name) || name === 'not')) {
    const isCondition = ['and', 'or', 'not'].includes(name)
    return `expected a ${isCondition ? 'condition' : 'value'} after "${word}"`
  }
  if (/\S\s+$/.test(before) && word !== '' && !/[,(]\s+$/.test(before) && rule !== 'select') {
    if (rule === 'orderby') {
      const direction = /^(?:a|up)/i.test(word) ? 'asc' : 'desc'
      return `"${word}" is not a direction; write "${direction}"`
    }
    if (rule === 'wholeExpression') return foreignOperator(word, text, before.length, operators)
  }
  if (rule === 'compute' && !/\sas\s/i.test(text) && unclosed(text) === null)
    return `expected "as" and a name: ${shortened(text.trim())} as total`
  const open = unclosed(text)
  return open === null ? null : `expected "${open}"`
}

/** The sign that closes what was opened last; null when all is closed. */
function unclosed(text: string): string | null {
  const stack: string[] = []
  for (const [sign] of text.matchAll(/'(?:[^']|'')*'|[()[\]{}]/g)) {
    if (sign.startsWith("'")) continue
    const closing = OPENING[sign]
    if (closing === undefined) stack.pop()
    else stack.push(closing)
  }
  return stack.at(-1) ?? null
}

/** What begins a value, each of which the grammar knows by itself. */
const VALUE = 'a number'
const LISTS: readonly string[] = ['select', 'expand', 'orderby', 'compute']
const QUOTES: readonly string[] = [`"'"`, String.raw`"\""`]
const CLOSING_QUOTE = 'a closing quote; within text "&" is written %26, "+" %2B and "#" %23'
const ofValue = (name: string) => !/^"[),:]"$|^end of input$|^an operator$/.test(name)

function unexpected(rule: string, text: string, position: number, expected: ReadonlySet<string>) {
  const [found] = /^(?:[\w$@.]+|'[^']{0,20}'?|.)/su.exec(text.slice(position)) ?? []
  const said = found === undefined || found.trim() === '' ? '' : `unexpected "${found}"; `
  if (expected.size === 1 && expected.has('end of input'))
    return `unexpected "${found}"; expected ${LISTS.includes(rule) ? '","' : 'an operator'} or the end`
  const names = expected.has(VALUE)
    ? ['a value', ...[...expected].filter((name) => !ofValue(name))]
    : [...expected]
  const shown = names
    .map((name) => (QUOTES.includes(name) ? CLOSING_QUOTE : name))
    .filter((name) => name !== 'end of input' || names.length === 1)
  return `${said}expected ${shown.slice(0, 6).join(' or ')}`
}
