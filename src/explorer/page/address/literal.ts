// Values as OData writes them in a URL, and back; and expressions cut into their parts.

/** What a literal says about its type by its looks. Numbers stay text, so that no digit is lost. */
interface Literal {
  readonly kind: 'null' | 'boolean' | 'text' | 'number' | 'time' | 'guid' | 'duration' | 'binary'
  /** Without quotes. */
  readonly text: string
}

/** `edm` is the name of a primitive type, such as Edm.String. */
export function writeLiteral(text: string, edm: string): string {
  switch (edm) {
    case 'Edm.String':
      return quoted(text)
    case 'Edm.Duration':
      return `duration${quoted(text)}`
    case 'Edm.Binary':
      return `binary${quoted(text)}`
    case 'Edm.DateTimeOffset':
      return completeTime(text.trim())
    default:
      return text.trim() === '' ? quoted(text) : text.trim()
  }
}

export function readLiteral(text: string): Literal | undefined {
  const kind = PATTERNS.find(({ pattern }) => pattern.test(text))?.kind
  if (kind === undefined) return undefined
  const isQuoted = kind === 'text' || kind === 'duration' || kind === 'binary'
  return { kind, text: isQuoted ? unquoted(text.slice(text.indexOf("'"))) : text }
}

const PATTERNS: readonly { kind: Literal['kind']; pattern: RegExp }[] = [
  { kind: 'null', pattern: /^null$/ },
  { kind: 'boolean', pattern: /^(?:true|false)$/ },
  { kind: 'text', pattern: /^'(?:[^']|'')*'$/ },
  { kind: 'duration', pattern: /^duration'[^']*'$/ },
  { kind: 'binary', pattern: /^binary'[^']*'$/ },
  { kind: 'guid', pattern: /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i },
  { kind: 'time', pattern: /^-?\d{4,}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/i },
  { kind: 'time', pattern: /^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/ },
  { kind: 'number', pattern: /^(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|NaN|-?INF)$/i },
]

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function unquoted(text: string): string {
  return text.slice(1, -1).replaceAll("''", "'")
}

/** People type a day or leave the zone away; the service wants the whole, and all its times are UTC. */
function completeTime(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return `${text}T00:00:00Z`
  const spaced = text.replace(/^(\d{4}-\d\d-\d\d) /, '$1T')
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(spaced)) return `${spaced}:00Z`
  return /^\d{4}-\d\d-\d\dT[\d:.]+$/.test(spaced) ? `${spaced}Z` : spaced
}

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
