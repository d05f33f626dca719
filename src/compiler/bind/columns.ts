// The column list of an events model: `<column> <type> [NOT NULL]`, separated by commas.
//
// A type is a run of tokens with balanced brackets, so that it can stand in CAST(NULL AS …) and nowhere else; whether it
// is a type is up to DuckDB.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase } from '../../core/names.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import { ModelBody } from '../../core/sql.ts'
import {
  CLOSING,
  depthsOf,
  type Statement,
  type Token,
  isSymbol,
  isWord,
  nameOf,
  tokensSpan,
} from '../sql/tokens.ts'

export interface DeclaredColumn {
  readonly name: string
  readonly span: Span
  readonly type: ModelBody
  readonly nullable: boolean
}

const CONSTRAINTS =
  /^(?:not|null|default|primary|unique|check|references|collate|generated|constraint|comment)$/i

/** Throws nothing: mistakes are in the diagnostics, the columns that were understood in `columns`. */
export function parseColumnList(
  source: SourceFile,
  statement: Statement,
): { readonly columns: readonly DeclaredColumn[]; readonly diagnostics: readonly Diagnostic[] } {
  const complain = (expected: string, span: Span, hint?: string) =>
    diagnostic('not-a-column-list', { expected }, { source, span }, hint)
  const [first] = statement
  if (isWord(first, 'select') || isWord(first, 'with')) {
    const hint = 'put the SELECT into a model of another kind that reads this one'
    return { columns: [], diagnostics: [complain('<column> <type> [NOT NULL], …', first, hint)] }
  }
  if (isWord(first, 'create')) {
    const open = statement.findIndex((token) => isSymbol(token, '('))
    const inside = statement.slice(open + 1, -1)
    const text = open < 0 ? '' : source.text.slice(inside[0]?.start, inside.at(-1)?.end)
    const hint = `write only what is inside the parentheses: ${text.replaceAll(/\s+/g, ' ')}`
    return { columns: [], diagnostics: [complain('the list alone', first, hint)] }
  }
  const unbalanced = unbalancedBracket(statement)
  if (unbalanced !== null) {
    const hint = `close it, or delete it`
    return { columns: [], diagnostics: [complain('brackets that match', unbalanced, hint)] }
  }
  const columns: DeclaredColumn[] = []
  const diagnostics: Diagnostic[] = []
  const names = new Set<string>()
  for (const item of itemsOf(withoutParentheses(statement))) {
    const column = parseColumn(source, item)
    if ('expected' in column) diagnostics.push(complain(column.expected, column.span, column.hint))
    else if (names.has(foldCase(column.name)))
      diagnostics.push(
        diagnostic(
          'duplicate-column',
          { column: column.name },
          { source, span: column.span },
          'rename or delete one of the two',
        ),
      )
    else {
      names.add(foldCase(column.name))
      columns.push(column)
    }
  }
  return { columns, diagnostics }
}

function parseColumn(source: SourceFile, { tokens, end }: Item): DeclaredColumn | Misread {
  const [first, ...rest] = tokens
  const name = nameOf(first)
  if (first === undefined)
    return { expected: 'a column name', span: end, hint: 'there is one comma too many' }
  if (name === null || name === '') {
    const hint = `a name with anything but letters, digits and underscores goes in double quotes`
    return { expected: 'a column name', span: first, hint }
  }
  const required = isWord(rest.at(-2), 'not') && isWord(rest.at(-1), 'null')
  const type = required ? rest.slice(0, -2) : rest
  if (type.length === 0)
    return { expected: `a type after "${name}"`, span: first, hint: `such as ${name} VARCHAR` }
  const depths = depthsOf(type)
  const at = type.findIndex(
    ({ kind, text }, i) => kind === 'word' && CONSTRAINTS.test(text) && depths[i] === 0,
  )
  const constraint = type[at]
  if (constraint !== undefined) {
    const next =
      isWord(constraint, 'not') && isWord(type[at + 1], 'null') ? type[at + 2] : undefined
    const hint =
      next === undefined
        ? 'columns of events have no other constraint; check them in a model that reads this one'
        : `is a comma missing before ${next.text}?`
    return { expected: 'a comma or NOT NULL after the type', span: next ?? constraint, hint }
  }
  const body = ModelBody.of(source, tokensSpan(type))
  return { name, span: first, type: body, nullable: !required }
}

interface Misread {
  readonly expected: string
  readonly span: Span
  readonly hint: string
}

interface Item {
  readonly tokens: readonly Token[]
  /** The comma after it, or the last token. */
  readonly end: Token
}

/** What stands between commas outside brackets. A comma after the last item is allowed. */
function itemsOf(tokens: readonly Token[]): readonly Item[] {
  const items: Item[] = []
  const depths = depthsOf(tokens)
  let start = 0
  for (const [i, token] of tokens.entries()) {
    if (!isSymbol(token, ',') || depths[i] !== 0) continue
    items.push({ tokens: tokens.slice(start, i), end: token })
    start = i + 1
  }
  const last = tokens.slice(start)
  const end = last.at(-1)
  return end === undefined ? items : [...items, { tokens: last, end }]
}

function withoutParentheses(tokens: readonly Token[]): readonly Token[] {
  const depths = depthsOf(tokens)
  const surround = isSymbol(tokens[0], '(') && depths.every((depth, i) => i === 0 || depth > 0)
  return surround ? tokens.slice(1, -1) : tokens
}

/** The first bracket without its counterpart. */
export function unbalancedBracket(tokens: readonly Token[]): Token | null {
  const open: Token[] = []
  for (const token of tokens) {
    if (token.kind !== 'symbol') continue
    if (token.text in CLOSING) open.push(token)
    else if (Object.values(CLOSING).includes(token.text)) {
      const opened = open.pop()
      if (opened === undefined || CLOSING[opened.text] !== token.text) return token
    }
  }
  return open.pop() ?? null
}
