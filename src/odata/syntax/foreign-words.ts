// What people write who come from SQL, JavaScript, or versions 2 and 3 of OData, and how OData 4 says it.

import { didYouMean } from '../../core/suggest.ts'

const symbols: Readonly<Record<string, string>> = {
  '===': 'eq',
  '!==': 'ne',
  '==': 'eq',
  '=': 'eq',
  '!=': 'ne',
  '<>': 'ne',
  '>=': 'ge',
  '=>': 'ge',
  '<=': 'le',
  '=<': 'le',
  '>': 'gt',
  '<': 'lt',
  '&&': 'and',
  '&': 'and',
  '||': 'or',
  '|': 'or',
  '!': 'not',
  '*': 'mul',
  '/': 'div',
  '%': 'mod',
}

/** What to write for the operator that begins at `position`; null when none does. */
export function foreignSymbol(text: string, position: number): string | null {
  const symbol = [3, 2, 1]
    .map((length) => text.slice(position, position + length))
    .find((found) => Object.hasOwn(symbols, found))
  return symbol === undefined ? null : notOperator(symbol, `write "${symbols[symbol]!}"`)
}

const notOperator = (word: string, hint: string, where = '') =>
  `"${word}" is not an operator of OData${where}; ${hint}`

const operatorWords: Readonly<Record<string, string>> = {
  is: 'eq',
  equals: 'eq',
  neq: 'ne',
  gte: 'ge',
  lte: 'le',
  plus: 'add',
  minus: 'sub',
  times: 'mul',
  modulo: 'mod',
}

/** Words between a value and a text for which OData has functions. */
const functionOfWord: Readonly<Record<string, readonly string[]>> = {
  like: ['contains', 'startswith'],
  ilike: ['contains', 'startswith'],
  contains: ['contains'],
  startswith: ['startswith'],
  endswith: ['endswith'],
  matches: ['matchesPattern'],
  rlike: ['matchesPattern'],
  regexp: ['matchesPattern'],
}

/** Says what to write for a word that is not an operator. It begins at `position` of `text`. */
export function foreignOperator(
  word: string,
  text: string,
  position: number,
  known: readonly string[],
): string {
  const name = word.toLowerCase()
  const value =
    /([\w./$]+)\s*$/.exec(text.slice(Math.max(0, position - 1_000), position))?.[1] ?? 'name'
  const rest = text.slice(position + word.length)
  const say = (hint: string) => notOperator(word, hint, ` (at character ${position + 1})`)
  if (name === 'is') {
    const operator = /^\s+not\b/i.test(rest) ? 'ne' : 'eq'
    const operand = /^\s+(?:not\s+)?(null|true|false)\b/i.exec(rest)?.[1]?.toLowerCase()
    return say(operand === undefined ? 'write "eq"' : `write ${value} ${operator} ${operand}`)
  }
  if (Object.hasOwn(functionOfWord, name)) {
    const quoted = /^\s+('(?:[^']|'')*')/.exec(rest)?.[1]?.replaceAll('%', '') ?? "'text'"
    return say(
      `write ${functionOfWord[name]!.map((call) => `${call}(${value},${quoted})`).join(' or ')}`,
    )
  }
  if (name === 'between') {
    const operand = String.raw`('(?:[^']|'')*'|[\w.:+-]+)`
    const range = new RegExp(String.raw`^\s+${operand}\s+and\s+${operand}`, 'i').exec(rest)
    const [low, high] = range === null ? ['1', '5'] : [range[1]!, range[2]!]
    return say(`write ${value} ge ${low} and ${value} le ${high}`)
  }
  if (name === 'not') return say(`it comes before a condition: not (${value} in (1,2))`)
  const meant = Object.hasOwn(operatorWords, name) ? operatorWords[name] : undefined
  const hint = meant === undefined ? didYouMean(name, known) : `write "${meant}"`
  return say(hint ?? `there are ${known.join(', ')}`)
}

/** By the name of a function, how to write it with these arguments. */
const functions: Readonly<Record<string, (a: string, b: string) => string>> = {
  // The two arguments of OData 2 stand the other way round.
  substringof: (part, text) => `contains(${text},${part})`,
  getdate: () => 'now()',
  sysdate: () => 'now()',
  current_timestamp: () => 'now()',
  today: () => 'date(now())',
  current_date: () => 'date(now())',
  curdate: () => 'date(now())',
  len: (text) => `length(${text})`,
  lower: (text) => `tolower(${text})`,
  lcase: (text) => `tolower(${text})`,
  upper: (text) => `toupper(${text})`,
  ucase: (text) => `toupper(${text})`,
  substr: (text) => `substring(${text},0,10)`,
  left: (text, length) => `substring(${text},0,${length})`,
  ceil: (value) => `ceiling(${value})`,
  charindex: (part, text) => `indexof(${text},${part})`,
  strpos: (text, part) => `indexof(${text},${part})`,
  like: (text, part) => `contains(${text},${part})`,
  ifnull: (a, b) => `case(${a} ne null:${a},true:${b})`,
  coalesce: (a, b) => `case(${a} ne null:${a},true:${b})`,
  isnull: (value) => `${value} eq null`,
}

/** What to write instead; null for a function that nobody is known to expect. */
export function foreignFunction(name: string, operands: readonly string[]): string | null {
  const folded = name.toLowerCase()
  if (!Object.hasOwn(functions, folded)) return null
  const [a = 'a', b = 'b'] = operands
  const version = folded === 'substringof' ? 'was OData 2 and 3' : 'is not a function of OData'
  return `${name} ${version}; write ${functions[folded]!(a, b)}`
}

const options: Readonly<Record<string, string>> = {
  inlinecount: '$count=true',
  limit: '$top',
  take: '$top',
  pagesize: '$top',
  offset: '$skip',
  where: '$filter',
  sort: '$orderby',
  order: '$orderby',
  sortby: '$orderby',
  fields: '$select',
  columns: '$select',
  include: '$expand',
  groupby: '$apply=groupby((…))',
}

/** For an option that is not a system option, without the `$`. */
export function foreignOption(name: string, known: readonly string[]): string | null {
  const folded = name.toLowerCase()
  if (folded === 'inlinecount') return 'that was OData 2 and 3; write $count=true'
  if (Object.hasOwn(options, folded)) return `write ${options[folded]!}`
  return didYouMean(`$${folded}`, known) ?? null
}

/** A literal with the prefix of version 2 or 3, or of SQL, as it is written today; null for any other. */
export function foreignLiteral(prefix: string, value: string): string | null {
  switch (prefix.toLowerCase()) {
    case 'datetime':
    case 'timestamp':
    case 'datetimeoffset': {
      const [, date = '2026-01-01', time = '00:00:00', offset = 'Z'] =
        /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[-+]\d\d:\d\d)?$/i.exec(
          value,
        ) ?? []
      return `${date}T${time}${offset}`
    }
    case 'date':
      return value
    case 'time': {
      const [, hours = '0', minutes = '0', seconds = '0'] =
        /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?$/.exec(value) ?? []
      return value.startsWith('PT')
        ? [hours, minutes, seconds].map((part) => part.padStart(2, '0')).join(':')
        : value
    }
    case 'guid':
    case 'uuid':
      return value
    case 'x':
      return `binary'${Buffer.from(value, 'hex').toString('base64url')}'`
    default:
      return null
  }
}
