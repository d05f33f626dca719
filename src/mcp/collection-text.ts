// The rows in the text of an answer, as they are written: to read and to write them again would cost them digits.

/** What the service writes before the first row, with minimal and without metadata. */
const HEAD = /^\{(?:"@odata\.context":"(?:[^"\\]|\\.)*",)?(?:"@odata\.count":(\d+),)?"value":\[/

interface CollectionText {
  readonly rows: readonly string[]
  /** Decimal digits; null where it was not asked for. */
  readonly count: string | null
  /** All rows of the text are here, and what comes after them. */
  readonly isWhole: boolean
  readonly nextLink: string | null
}

/** null for a text that is no collection. The end of the text may be missing, and then the last row is. */
export function readCollection(text: string): CollectionText | null {
  const head = HEAD.exec(text)
  if (head === null) return null
  const [before, count = null] = head
  const rows: string[] = []
  for (let start = before.length; ;) {
    const end = endOfValue(text, start)
    if (end === null) return { rows, count, isWhole: false, nextLink: null }
    if (end > start) rows.push(text.slice(start, end))
    if (text[end] === ']') {
      const [, link] = /^\],"@odata\.nextLink":("(?:[^"\\]|\\.)*")/.exec(text.slice(end)) ?? []
      const nextLink = link === undefined ? null : String(JSON.parse(link))
      return { rows, count, isWhole: true, nextLink }
    }
    start = end + 1
  }
}

/** The offset of the comma or bracket after the value that begins at `start`; null where that is missing. */
function endOfValue(text: string, start: number): number | null {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const letter = text[at]
    if (letter === '"') at = endOfString(text, at)
    else if (letter === '{' || letter === '[') depth++
    else if (depth === 0 && (letter === ',' || letter === ']')) return at
    else if (letter === '}' || letter === ']') depth--
  }
  return null
}

/** The offset of the closing quote, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === '"') return at
  }
  return text.length
}
