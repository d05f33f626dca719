// SQL with line breaks, for people: each clause of a SELECT on its own line, subqueries indented.
/** Quoted text and names, parentheses, words, runs of white space, and any other character. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|\w+|\s+|[^]/g

/** Before these a line begins, within the SELECT that they are part of. */
const CLAUSES: ReadonlySet<string> = new Set([
  'FROM',
  'WHERE',
  'GROUP',
  'QUALIFY',
  'ORDER',
  'LIMIT',
  'UNION',
  'LEFT',
  'FULL',
  'SELECT',
])

/** `text` is one statement of this service. Only white space changes, and none of it within quotes. */
export function formatSql(text: string): string {
  // For each open parenthesis, whether a SELECT stands in it.
  const open: boolean[] = []
  const tokens = text.trim().match(TOKENS) ?? []
  let formatted = ''
  const newLine = () => {
    const depth = open.filter(Boolean).length
    formatted = `${formatted.trimEnd()}\n${'  '.repeat(depth)}`
  }
  for (const [i, token] of tokens.entries()) {
    if (/^\s/.test(token)) {
      if (!/\s$/.test(formatted)) formatted += ' '
    } else if (token === '(') {
      open.push(/^(SELECT|WITH)$/.test(tokens[i + 1] ?? ''))
      formatted += token
      if (open.at(-1) === true) newLine()
    } else if (token === ')') {
      if (open.pop() === true) newLine()
      formatted += token
    } else {
      const isInSelect = open.at(-1) ?? true
      if (isInSelect && CLAUSES.has(token) && formatted.trim() !== '' && !/\n\s*$/.test(formatted))
        newLine()
      formatted += token
    }
  }
  return formatted
}
