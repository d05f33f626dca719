// The options of an OData query as text. The address of a page carries the same query as its request, so what
// is read here is written back unchanged, in its order, with all that the page itself does not understand.

/** Name to value, both decoded, in the order in which they were written. */
export type Options = ReadonlyMap<string, string>

/** The service takes these without their `$` too. The page knows one spelling. */
const SYSTEM_OPTIONS = new Set(
  (
    '$apply $compute $count $expand $filter $format $index $orderby $schemaversion $search $select ' +
    '$skip $skiptoken $top'
  ).split(' '),
)

export function readOptions(query: string): Options {
  const options = new Map<string, string>()
  for (const part of query.replace(/^\?/, '').split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decodedPart(at === -1 ? part : part.slice(0, at))
    options.set(canonicalName(name), at === -1 ? '' : decodedPart(part.slice(at + 1)))
  }
  return options
}

/** Without the question mark; empty for no options. */
export function writeOptions(options: Options): string {
  return [...options]
    .map(([name, value]) => `${encodeOption(name)}=${encodeOption(value)}`)
    .join('&')
}

/** An option that is undefined or empty is left out; one that was there keeps its place. */
export function withOptions(
  options: Options,
  changes: Readonly<Record<string, string | undefined>>,
): Options {
  const result = new Map(options)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') result.delete(name)
    else result.set(name, value)
  }
  return result
}

function canonicalName(name: string): string {
  const system = `$${name.replace(/^\$/, '').toLowerCase()}`
  return SYSTEM_OPTIONS.has(system) ? system : name
}

/** A plus is a space in a query. */
const decodedPart = (text: string): string => decoded(text.replaceAll('+', ' '))

/** What is not well encoded stays as it is, for the service to refuse. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

// Percent-encoding for URLs that people read and paste: what RFC 3986 allows in a place stays readable.

/** For names and values of a query. The semicolon is encoded, as some clients end an option at it. */
export function encodeOption(text: string): string {
  return encoded(text).replace(/%(?:24|2C|2F|3A|40|3D)/g, decodeURIComponent)
}

/** A key as OData writes it in parentheses: `7`, or `a=1,b='x'`. A slash in it would begin a new segment. */
export function encodeKey(key: string): string {
  return encoded(key).replace(/%(?:2C|3D|3A)/g, decodeURIComponent)
}

/** Half of a surrogate pair has no encoding; it becomes the sign for what cannot be shown. */
function encoded(text: string): string {
  const wellFormed = text.replace(
    /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g,
    '\uFFFD',
  )
  return encodeURIComponent(wellFormed)
}
