// Cuts an OData expression where a separator stands outside of quotes and parentheses.

export function splitTopLevel(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  for (const { index, depth } of outsideOfQuotes(text)) {
    if (depth !== 0 || index < start || !text.startsWith(separator, index)) continue
    parts.push(text.slice(start, index).trim())
    start = index + separator.length
  }
  parts.push(text.slice(start).trim())
  return parts
}

/** `(a or b)` is `a or b`, while `(a) or (b)` stays. */
export function stripParentheses(text: string): string {
  let bare = text.trim()
  while (bare.startsWith('(') && closesAtEnd(bare)) bare = bare.slice(1, -1).trim()
  return bare
}

function closesAtEnd(text: string): boolean {
  for (const { index, depth } of outsideOfQuotes(text)) {
    if (depth === 0 && text[index] === ')') return index === text.length - 1
  }
  return false
}

/** Each character that is not within quotes, with the number of brackets open after it. */
function* outsideOfQuotes(text: string): Generator<{ index: number; depth: number }> {
  let depth = 0
  let isQuoted = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (character === "'") isQuoted = !isQuoted
    if (isQuoted) continue
    if ('([{'.includes(character)) depth++
    if (')]}'.includes(character)) depth--
    yield { index, depth }
  }
}
