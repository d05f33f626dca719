// A JSON document of megabytes, most of which is one array of objects: read an object at a time, so that others run
// in between.

const STRING = String.raw`"[^"\\]*(?:\\.[^"\\]*)*"`
const OUTSIDE = String.raw`[^"{}[\]]*`
const UP_TO_BRACKET = new RegExp(`${OUTSIDE}(?:${STRING}${OUTSIDE})*`, 'sy')
const NAME = new RegExp(String.raw`\s*(${STRING})\s*:\s*`, 'sy')
const SCALAR = new RegExp(String.raw`${STRING}|[^,{}[\]]*`, 'sy')
const OBJECT = /\s*\{/y
const COMMA = /\s*,/y

/**
 * Yields the objects of the array that is the member `name` of the document, one by one, and returns the document with an
 * empty array in its place. Without such a member it returns all of the document. Throws SyntaxError.
 */
export function* parseItems(text: string, name: string): Generator<unknown, unknown> {
  const start = startOfArray(text, name)
  if (start < 0) return JSON.parse(text) as unknown
  let at = start
  for (let separator = ''; ; separator = ',') {
    const opening = endOfMatch(UP_TO_BRACKET, text, at)
    const isEnd = text[opening] === ']'
    if (text.slice(at, opening).trim() !== (isEnd ? '' : separator))
      throw new SyntaxError(`"${name}" is not an array of objects`)
    if (isEnd) return JSON.parse(text.slice(0, start) + text.slice(opening)) as unknown
    at = endOfValue(text, opening)
    yield JSON.parse(text.slice(opening, at)) as unknown
  }
}

/** After its bracket; -1 when there is none. */
function startOfArray(text: string, name: string): number {
  for (let at = endOfMatch(OBJECT, text, 0); at >= 0;) {
    const value = endOfMatch(NAME, text, at)
    if (value < 0) break
    const isNamed = text.slice(at, value).replace(/:\s*$/, '').trim() === JSON.stringify(name)
    const opening = text[value] ?? ''
    if (isNamed && opening === '[') return value + 1
    const end = '[{'.includes(opening) ? endOfValue(text, value) : endOfMatch(SCALAR, text, value)
    at = endOfMatch(COMMA, text, end)
  }
  return -1
}

/** After the bracket that closes the one at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0
  for (let at = from; ; at = endOfMatch(UP_TO_BRACKET, text, at)) {
    const mark = text[at]
    if (mark === '{' || mark === '[') depth++
    else if (mark === '}' || mark === ']') depth--
    else throw new SyntaxError('unterminated object or array')
    at++
    if (depth === 0) return at
  }
}

/** Where the match ends that begins at `from`; -1 when there is none. */
function endOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : -1
}
