// SQL that parses and cannot be bound: columns, functions and types that are not there, in the author's terms.

import { didYouMean } from '../../core/suggest.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { isSymbol, isWord, nameOf, type Token, tokenize } from '../sql/tokens.ts'
import {
  isTypeName,
  isWindowFunction,
  otherType,
  otherWord,
  typeNames,
  otherFunction,
} from './dialects.ts'
import {
  conversionHint,
  jsonPathHint,
  shiftedHint,
  topHint,
  unitLastHint,
  unnestHint,
  variableHint,
} from './other-syntax.ts'
import {
  problemOf,
  quotedNames,
  refusedCall,
  type RefusedCall,
  type Explanation,
  type PlacedError,
} from './engine-words.ts'

export function explainBinding(error: PlacedError): Explanation {
  const { tokens, at } = error
  const typographic = typographicSign(tokens.slice(at, at + 1))
  if (typographic !== null) return typographic
  const call = refusedCall(error)
  if (call !== null) return refusedCallText({ ...call, tokens, at, text: error.text })
  return (
    missingColumn(error) ??
    missingFunction(error) ??
    missingType(error) ??
    missingExtension(error) ??
    outsideFile(error) ?? { problem: problemOf(error), hint: hintOf(error) }
  )
}

/** DuckDB takes them for letters of a name. */
export function typographicSign(tokens: readonly Token[]): Explanation | null {
  for (const { kind, text } of tokens) {
    const [dashes] = /[\u2010-\u2015\u2212]+/.exec(kind === 'word' ? text : '') ?? []
    if (dashes !== undefined) {
      const hint =
        dashes === text
          ? 'a minus is a hyphen: -; a comment, or an annotation, begins with two: --'
          : `type a hyphen: ${text.replace(dashes, '-')}`
      return { problem: `${dashes} is a typographic dash`, hint }
    }
    const [quote] = /[\u2018-\u201f\u00ab\u00bb\u00b4]/.exec(kind === 'word' ? text : '') ?? []
    if (quote === undefined) continue
    const bare = text.replaceAll(/[\u2018-\u201f\u00ab\u00bb\u00b4]/g, '')
    const isDouble = /[\u201c-\u201f]/.test(quote)
    const hint = `type straight quotes: ${isDouble ? `"${bare}"` : `'${bare}'`}`
    return { problem: `${quote} is a typographic quote`, hint }
  }
  return null
}

const NO_COLUMN =
  /^Referenced column "?(.+?)"? (?:not found in FROM clause|was not found because the FROM clause is missing)/s

function missingColumn({ message, candidates, tokens, at, text }: PlacedError): Explanation | null {
  const [, name] = NO_COLUMN.exec(message) ?? []
  if (name === undefined) return null
  const hasFrom = !message.includes('FROM clause is missing')
  const problem = `no column "${name}"${hasFrom ? '' : ' (there is no FROM)'}`
  const token = tokens[at]
  const near = didYouMean(name, candidates)
  if (isSymbol(tokens[at - 1], '@')) return { problem, hint: variableHint(name) }
  if (token?.kind === 'quoted') {
    const quoted = `text goes in single quotes: '${name.replaceAll("'", "''")}'`
    return { problem, hint: near === undefined ? quoted : `${near} Or, if it is text: '${name}'` }
  }
  const other = otherWord(name)
  if (other !== undefined) return { problem, hint: `in DuckDB: ${other}` }
  if (isUnit(name, tokens, at)) return { problem, hint: `write the unit as text: '${name}'` }
  const unit = UNITS.test(name) ? unitLastHint({ tokens, at, text }) : undefined
  if (unit !== undefined) return { problem, hint: unit }
  if (near !== undefined) return { problem, hint: near }
  const path = isSymbol(tokens[at - 1], ':')
    ? jsonPathHint({ tokens, at: at + 1, text })
    : undefined
  if (path !== undefined) return { problem, hint: path }
  if (isCompared(tokens, at)) return { problem, hint: `if it is text, quote it: '${name}'` }
  return {
    problem: problem,
    hint:
      candidates.length === 0 ? undefined : `available here: ${candidates.slice(0, 5).join(', ')}`,
  }
}

const isUnit = (name: string, tokens: readonly Token[], at: number) =>
  UNITS.test(name) &&
  isSymbol(tokens[at - 1], '(') &&
  /^date_?(?:part|trunc|diff|sub)$/i.test(tokens[at - 2]?.text ?? '')

/** It stands after an operator that texts mostly follow. */
function isCompared(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]
  if (['=', '<', '>'].some((sign) => isSymbol(before, sign))) return true
  if (isWord(before, 'like') || isWord(before, 'ilike')) return true
  const list = tokens.slice(0, at).findLastIndex((token) => isSymbol(token, '('))
  return list > 0 && isWord(tokens[list - 1], 'in')
}

const NO_FUNCTION =
  /^(?:Scalar|Aggregate|Table|Window|Macro|Table Macro) Function with name (.+?) does not exist/

function missingFunction(error: PlacedError): Explanation | null {
  const { message, candidates, tokens, at } = error
  const macro = /^Macro (\w+)\(\) does not support the supplied arguments/.exec(message)?.[1]
  if (macro !== undefined) {
    const problem = `${macro} does not take these arguments`
    return { problem, hint: otherCall(macro, error) }
  }
  const [, name] = NO_FUNCTION.exec(message) ?? []
  if (name === undefined) return null
  if (name.startsWith('`')) {
    const column = tokens.find((_, i) => isSymbol(tokens[i - 1], '`'))
    return {
      problem: 'backticks do not quote names',
      hint: `names go in double quotes: "${nameOf(column) ?? 'name'}"`,
    }
  }
  if (isWindowFunction(name)) {
    const hint = `write ${name}(${argumentsOf(tokens, at)}) OVER (ORDER BY …)`
    return { problem: `${name} is a window function`, hint }
  }
  if (!/^\w/.test(name)) {
    const problem = `no operator "${name.replace(/__postfix$/, '')}"`
    const meant = operators[name]
    return { problem, hint: meant === undefined ? undefined : `write ${meant}` }
  }
  const hint = otherCall(name, error) ?? didYouMean(name, candidates)
  return {
    problem: `no function "${name}"`,
    hint: hint ?? `define it in macros/*.sql: CREATE MACRO ${name}(x) AS …`,
  }
}

const operators: Readonly<Record<string, string>> = {
  '===': '=',
  '!==': '<>',
  '!': 'NOT',
  '&&': 'AND',
  '=~': 'regexp_matches(x, y)',
  '~*': "ILIKE '%part%', or regexp_matches(x, 'pattern', 'i')",
  '!~*': "NOT ILIKE '%part%', or NOT regexp_matches(x, 'pattern', 'i')",
}

/** What stands between the parentheses of a call, where it is one word. */
const argumentsOf = (tokens: readonly Token[], at: number) =>
  isSymbol(tokens[at + 1], '(') && isSymbol(tokens[at + 3], ')') ? tokens[at + 2]!.text : ''

export const TYPE_HINT = 'such as VARCHAR, INTEGER, DECIMAL(10,2), DATE, TIMESTAMPTZ'

export function missingType({ message }: DatabaseErrorDetails): Explanation | null {
  const [, name] = /^Type with name (.+?) does not exist/.exec(message) ?? []
  if (name === undefined) return null
  const other = otherType(name)
  const hint = other === undefined ? didYouMean(name, typeNames) : `in DuckDB: ${other}`
  return {
    problem: `no type "${name}"`,
    hint: hint ?? TYPE_HINT,
  }
}

/** Words that go on with a type: TIMESTAMP WITH TIME ZONE, DOUBLE PRECISION. */
const CONTINUES = /^(?:with|without|time|zone|precision|varying|local|unsigned|not|null)$/i

/**
 * For a column of an events model whose type DuckDB does not know: mostly two columns, or a name of two words. `name` and
 * `type` as written.
 */
export function columnHint(name: string, type: string): string | undefined {
  const tokens = tokenize(type)
  const [first, second] = tokens
  if (
    first !== undefined &&
    !isTypeName(first.text) &&
    second !== undefined &&
    isTypeName(second.text)
  )
    return `a name with a space goes in double quotes: "${name} ${first.text}" ${type.slice(second.start)}`
  let depth = 0
  for (const [i, token] of tokens.entries()) {
    if (isSymbol(token, '(')) depth++
    if (isSymbol(token, ')')) depth--
    const isNext = i > 0 && depth === 0 && nameOf(token) !== null && !CONTINUES.test(token.text)
    if (isNext && tokens[i + 1]?.kind === 'word')
      return `is a comma missing before "${token.text}"?`
  }
  return undefined
}

function missingExtension({ message }: DatabaseErrorDetails): Explanation | null {
  if (/requires the extension httpfs/.test(message))
    return {
      problem: 'a model reads files of this machine only, and this one is remote',
      hint: 'declare its URL under sources in eider.yml, and read it as source.table',
    }
  const [, name = '', extension] =
    /with name "(\w+)" is not in the catalog, but it exists in the (\w+) extension/.exec(message) ??
    []
  if (extension === undefined) return null
  const problem = `${name} is a function of the extension ${extension}, which the project does not name`
  const hint =
    name === 'read_xlsx'
      ? 'declare the file under sources in eider.yml, and read it as source.table'
      : `add extensions: [${extension}] to eider.yml, then: eider extension install`
  return { problem, hint }
}

/** A project that reads from the network reads only what it names. */
function outsideFile({ message }: DatabaseErrorDetails): Explanation | null {
  const [, path] = /^Cannot access (?:file|directory) "(.+?)" - /.exec(message) ?? []
  if (path === undefined) return null
  return {
    problem: `"${path}" is outside of the project, and no source of eider.yml names it`,
    hint: 'declare it under sources, and read it as source.table',
  }
}

/** What DuckDB itself suggests, and what its commonest other errors ask for. */
function hintOf({ message, name, candidates, tokens, at, text }: PlacedError): string | undefined {
  if (/^(?:Cannot group on an UNNEST|UNNEST not supported here)/.test(message))
    return unnestHint({ tokens, text })
  if (message.startsWith('WHERE clause cannot contain aggregates'))
    return 'filter by an aggregate with HAVING, after GROUP BY'
  if (message.startsWith('WHERE clause cannot contain window functions'))
    return 'filter by a window function with QUALIFY instead of WHERE'
  if (message.startsWith('aggregate function calls cannot be nested'))
    return 'aggregate in a subquery first'
  if (message.startsWith('No files found'))
    return 'paths are relative to the directory of eider.yml'
  if (message.startsWith('Cannot mix values of type'))
    return 'cast one of them to the type of the other'
  if (message.startsWith('Ambiguous reference') || message.includes('must appear in the GROUP BY'))
    return undefined // they say what to write
  const known =
    candidates.length > 0 ? candidates : quotedNames(message.split(/\nCandidate/)[1] ?? '')
  const word = name ?? quotedNames(message).at(message.startsWith('Table ') ? 1 : 0)
  if (known.length === 0) return undefined
  const schema = isSymbol(tokens[at + 1], '.') ? nameOf(tokens[at]) : null
  if (schema !== null && message.startsWith('Table with name'))
    return didYouMean(
      `${schema}.${word}`,
      known.map((table) => (table.includes('.') ? table : `${schema}.${table}`)),
    )
  return didYouMean(word ?? '', known) ?? `available here: ${known.slice(0, 5).join(', ')}`
}

/** How DuckDB writes a call of another dialect, with the column that it is about where there is only one. */
function otherCall(name: string, { tokens, at, text }: CallPlace): string | undefined {
  const special = /^(?:try_)?convert$/i.test(name)
    ? conversionHint({ tokens, at, text })
    : undefined
  if (special !== undefined) return special
  if (/^top$/i.test(name)) return topHint(tokens)
  const other = otherFunction(name)
  if (other === undefined) return undefined
  const columns = new Set(columnsIn(tokens, at + 1))
  const [column = 'x'] = columns.size === 1 ? columns : []
  return `in DuckDB: ${other.replaceAll(/\bx\b/g, () => column)}`
}

const UNITS = /^(?:year|quarter|month|week|day|hour|minute|second|millisecond)s?$/i

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
type CallPlace = Pick<PlacedError, 'tokens' | 'at' | 'text'>
type PlacedCall = RefusedCall & CallPlace

function refusedCallText(call: PlacedCall): Explanation {
  const isOperator = !/^\w/.test(call.name)
  const name = isOperator ? `"${call.name}"` : call.name
  const problem =
    call.types.length === 0
      ? `${name} needs arguments`
      : `${name} does not take ${call.types.join(isOperator ? ' and ' : ', ')}`
  return { problem, hint: isOperator ? operatorHint(call) : functionHint(call) }
}

const isText = (type: string | undefined) => type === 'VARCHAR'
const isTime = (type: string | undefined) => /^(?:DATE|TIME)/.test(type ?? '')

function operatorHint({ name, types, tokens, at }: PlacedCall): string | undefined {
  const [left, right] = types
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

function functionHint(call: PlacedCall): string | undefined {
  const { name, types, forms, tokens, at } = call
  const [, open, first, comma, unit, close] = tokens.slice(at, at + 6)
  const isSwapped = /^date_?(?:trunc|part)$/i.test(name) && types.length === 2 && isText(types[1])
  if (isSwapped && isSymbol(open, '(') && isSymbol(comma, ',') && isSymbol(close, ')'))
    return `the unit comes first: ${name}(${unit!.text}, ${first!.text})`
  if (isSwapped) return `the unit comes first: ${name}('month', …)`
  const other = shiftedHint(call) ?? otherCall(name, call)
  if (other !== undefined) return other
  if (forms.length === 0) return undefined
  const shown = forms.slice(0, 4).map((form) => `${name}(${form})`)
  return `it is ${shown.join(', ')}${forms.length > 4 ? ', …' : ''}`
}
