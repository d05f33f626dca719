// What a query has in scope at a place, by its tokens alone: while somebody types there is no syntax tree.

import {
  outputNames,
  isSymbol,
  isWord,
  nameOf,
  type Token,
  tokenize,
} from '../compiler/sql/tokens.ts'

interface ScopedTable {
  /** By which columns name it. */
  readonly alias: string
  /** `schema.table`; null for a common table expression or a subquery. */
  readonly model: string | null
  /** The columns of a common table expression, as far as its SELECT list names them. */
  readonly columns: readonly string[]
}

const NO_ALIAS =
  /^(?:on|using|where|group|order|having|qualify|limit|offset|union|except|intersect|join|left|right|full|inner|cross|natural|semi|anti|asof|positional|lateral|window|sample|tablesample|pivot|unpivot|select|from|with|as)$/i

/** Tables of all FROM and JOIN in a text: one that is out of scope proposes too much, and nothing wrong. */
export function tablesIn(text: string): readonly ScopedTable[] {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const ctes = ctesIn(text, tokens)
  const found: ScopedTable[] = []
  for (const [i, token] of tokens.entries()) {
    const isFirst = isWord(token, 'from') || isWord(token, 'join')
    const isNext = isSymbol(token, ',') && found.length > 0 && isSymbol(tokens[i + 2], '.')
    if (!isFirst && !isNext) continue
    const name = nameOf(tokens[i + 1])
    if (name === null) continue
    const isWhole = isSymbol(tokens[i + 2], '.')
    const table = isWhole ? nameOf(tokens[i + 3]) : null
    if (isWhole && table === null) continue
    const after = i + (isWhole ? 4 : 2)
    const at = isWord(tokens[after], 'as') ? after + 1 : after
    const given = nameOf(tokens[at])
    const alias = given === null || NO_ALIAS.test(given) ? (table ?? name) : given
    const columns = table === null ? (ctes.get(name.toLowerCase()) ?? []) : []
    found.push({ alias, model: table === null ? null : `${name}.${table}`, columns })
  }
  return found
}

/** `name AS (SELECT …)`, with the names of its SELECT list. */
function ctesIn(text: string, tokens: readonly Token[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const [i, token] of tokens.entries()) {
    const name = nameOf(token)
    const open = tokens[i + 2]
    if (name === null || !isWord(tokens[i + 1], 'as') || !isSymbol(open, '(')) continue
    let depth = 0
    const close = tokens.findIndex((other, at) => {
      if (at < i + 2) return false
      depth += isSymbol(other, '(') ? 1 : isSymbol(other, ')') ? -1 : 0
      return depth === 0
    })
    const end = tokens[close]?.start ?? text.length
    found.set(name.toLowerCase(), outputNames(text.slice(open!.end, end)))
  }
  return found
}

type Expected =
  | { readonly is: 'table'; readonly schema: string | null }
  | { readonly is: 'column'; readonly of: string | null }
  | { readonly is: 'variable' }
  | { readonly is: 'nothing' }

/** What the text before the cursor asks for. */
export function expectedAfter(before: string): Expected {
  if (/\$\{\w*$/.test(before)) return { is: 'variable' }
  const tokens = tokenize(before)
  const last = tokens.at(-1)
  if (last?.kind === 'comment' || last?.kind === 'open') return { is: 'nothing' }
  if (last?.kind === 'string' && !/^(.)[^]*\1$/.test(last.text)) return { is: 'nothing' }
  const sql = tokens.filter(({ kind }) => kind !== 'comment')
  const isTyped = nameOf(last) !== null && last!.end === before.length
  const rest = isTyped ? sql.slice(0, -1) : sql
  if (isSymbol(rest.at(-1), '.')) {
    const owner = nameOf(rest.at(-2))
    if (owner === null) return { is: 'nothing' }
    return asksForTable(rest.slice(0, -2))
      ? { is: 'table', schema: owner }
      : { is: 'column', of: owner }
  }
  return asksForTable(rest) ? { is: 'table', schema: null } : { is: 'column', of: null }
}

function asksForTable(tokens: readonly Token[]): boolean {
  const last = tokens.at(-1)
  return isWord(last, 'from') || isWord(last, 'join')
}
