// Where the SQL of a project says `${name}`, the value is inserted as a literal; `${name:identifier}` is a quoted name.
// Comments, texts in quotes and quoted names are single tokens, so nothing is looked for inside of them.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import { type Insert, ModelBody } from '../core/sql.ts'
import { didYouMean } from '../core/suggest.ts'
import { identifierOf, literalOf, type Variables } from '../core/variables.ts'
import { isSymbol, isWord, nameOf, type Token, tokenize } from './sql/tokens.ts'

interface BodyWithVariables {
  readonly body: ModelBody
  readonly diagnostics: readonly Diagnostic[]
}

/** `span` of a file as SQL with the values of its variables. Mistakes are left in place. */
export function bodyOf(source: SourceFile, span: Span, variables: Variables): BodyWithVariables {
  const text = source.text.slice(span.start, span.end)
  // Few bodies contain the sign, and tokenizing takes longer than anything else here.
  if (!text.includes('${')) return { body: ModelBody.of(source, span), diagnostics: [] }
  const inserts: Insert[] = []
  const diagnostics: Diagnostic[] = []
  const tokens = tokenize(text)
  for (const [i, token] of tokens.entries()) {
    const found =
      token.text.endsWith('$') && isSymbol(tokens[i + 1], '{') && tokens[i + 1]!.start === token.end
        ? readVariable(source, span.start, tokens.slice(i, i + MOST_TOKENS), variables)
        : warnOfText(source, span.start, token, variables)
    if (found === null) continue
    if ('code' in found) diagnostics.push(found)
    else {
      inserts.push(found)
      diagnostics.push(...warnOfColumn(source, { base: span.start, tokens, i, found }, variables))
    }
  }
  return { body: ModelBody.of(source, span, inserts), diagnostics }
}

/** `$ { name : identifier }` */
const MOST_TOKENS = 6

function readVariable(
  source: SourceFile,
  base: number,
  [sign, , name, ...rest]: readonly Token[],
  variables: Variables,
): Insert | Diagnostic {
  const isIdentifier = isSymbol(rest[0], ':') && isWord(rest[1], 'identifier')
  const close = isIdentifier ? rest[2] : rest[0]
  const start = base + sign!.start
  const end = base + (close ?? rest[0] ?? name ?? sign!).end
  const invalid = (problem: string, hint?: string) =>
    diagnostic('invalid-variable', { problem }, { source, span: { start, end } }, hint)
  if (sign!.kind !== 'symbol')
    return invalid(
      'a variable is a whole value, not a part of a name',
      'put a space before it, or make the whole name a variable',
    )
  // DuckDB would read two literals, or two names, as one with a quote in it.
  if (/['"}]/.test(source.text.charAt(start - 1)) || /['"]/.test(source.text.charAt(end)))
    return invalid(
      'a variable is a whole value, not part of a string or a name',
      "join strings with ||, such as 'a' || ${name}",
    )
  if (name?.kind !== 'word' || !isSymbol(close, '}'))
    return invalid(
      'expected ${name} or ${name:identifier}',
      'a name is letters, digits and underscores',
    )
  const variable = variables.get(name.text)
  if (variable === undefined) {
    const known = [...variables.keys()]
    const hint = didYouMean(name.text, known) ?? `declare it in eider.yml: vars: {${name.text}: …}`
    const span = { start: base + name.start, end: base + name.end }
    return diagnostic('unknown-variable', { name: name.text }, { source, span }, hint)
  }
  const sql = isIdentifier ? identifierOf(variable) : literalOf(variable)
  if (sql === null)
    return invalid(
      `"${name.text}" is not text, so it cannot be a name`,
      `put its value in quotes in eider.yml: vars: {${name.text}: '…'}`,
    )
  return { start, end, sql }
}

const CLAUSES = new Set('select from where having values on qualify limit set by'.split(' '))

/** Someone who selects `${col}`, or groups by it, most likely means the column of that name, and gets its name as text. */
function warnOfColumn(
  source: SourceFile,
  at: {
    readonly base: number
    readonly tokens: readonly Token[]
    readonly i: number
    readonly found: Insert
  },
  variables: Variables,
): readonly Diagnostic[] {
  const { base, tokens, i, found } = at
  const name = tokens[i + 2]!.text
  const variable = variables.get(name)
  const isName = variable?.is === 'text' && /^[\p{L}_][\p{L}\d_]*$/u.test(variable.value)
  if (!isName || !isSymbol(tokens[i + 3], '}')) return []
  const next = tokens.find(({ start }) => start >= found.end - base)
  const isWhole = next === undefined || [',', ')'].some((sign) => isSymbol(next, sign))
  if (!isWhole && !isWord(next, 'from') && !isWord(next, 'order')) return []
  const before = tokens[i - 1]
  const begins = [',', 'select', 'distinct', 'by'].includes(before?.text.toLowerCase() ?? '')
  const clause = begins ? clauseOf(tokens, i) : null
  if (clause !== 'select' && clause !== 'by') return []
  const hint = `write \${${name}:identifier} for the column${clause === 'by' ? '' : `; for the text, \${${name}} AS a name`}`
  const place = { source, span: { start: found.start, end: found.end } }
  return [diagnostic('variable-as-text', { name, value: variable.value }, place, hint)]
}

/** The word that begins the clause of a token; null: it is in parentheses of another sort. */
function clauseOf(tokens: readonly Token[], at: number): string | null {
  let depth = 0
  for (const token of tokens.slice(0, at).toReversed()) {
    if (isSymbol(token, ')')) depth++
    if (isSymbol(token, '(') && depth-- === 0) return null
    const word = token.text.toLowerCase()
    if (depth === 0 && token.kind === 'word' && CLAUSES.has(word)) return word
  }
  return null
}

/** Someone who writes '${since}' most likely means the variable. */
function warnOfText(
  source: SourceFile,
  base: number,
  token: Token,
  variables: Variables,
): Diagnostic | null {
  if (token.kind !== 'string' && token.kind !== 'quoted') return null
  const [written = '', name = ''] = /\$\{(\w+)\}/.exec(token.text) ?? []
  if (!variables.has(name)) return null
  const start = base + token.start + token.text.indexOf(written)
  const place = { source, span: { start, end: start + written.length } }
  const what = nameOf(token) === null ? 'text' : 'part of a name'
  const hint =
    token.kind === 'quoted' ? `write \${${name}:identifier} without quotes` : 'leave the quotes out'
  return diagnostic('quoted-variable', { name, what }, place, hint)
}
