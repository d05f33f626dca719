// Texts of two programs in a form in which they can be compared: without times, ports and directories, and with ids that
// are numbers by the order in which they appear, so that equal ids stay equal.

type Plain = (text: string) => string

/**
 * By these marks a run knows that it has written the very same before. Without the compile cache a project has none, as one
 * with sources has none.
 */
const MARKS = /\n *"project": "[\da-f]{32}",|"of":(?:null|"[\da-f]{32}"),/g

const TIMES: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d(?::?\d\d)?)?/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/g, 'TIME'],
  [/("(?:ms|\w+_ms|uptime_s|pid)":\s*)\d+(?:\.\d+)?/g, '$1 N'],
  [/\b\d+(?:\.\d+)? ?m?s\b/g, 'N s'],
]
/** Of runs, snapshots, claims and requests, and ETags, which have that of the snapshot in them. */
const ID =
  /\b(?:\d{8}T\d{6}Z-[\da-f]{6}|[\da-f]{16}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\b|(?<=W\/\\?")[\w-]{22}/g
/** Of links: they name the snapshot and are signed. */
const TOKEN = /(skiptoken=)[\w.~%-]+/g

export function plainTexts(dir: string): Plain {
  const ids = new Map<string, string>()
  const numberOf = (id: string) => {
    if (!ids.has(id)) ids.set(id, `ID-${ids.size + 1}`)
    return ids.get(id)!
  }
  return (text) => {
    // Ids come first: one may look as if it began with a time, such as 9s.
    const numbered = text
      .replace(MARKS, '')
      .replaceAll(dir, 'DIR')
      .replace(/\b(127\.0\.0\.1|localhost):\d+/g, '$1:PORT')
      .replace(TOKEN, '$1TOKEN')
      .replace(ID, numberOf)
    return TIMES.reduce((all, [pattern, by]) => all.replace(pattern, by), numbered)
  }
}

/** Models are built at the same time, so the order of their events is chance. */
export const sortedLines = (text: string): string =>
  text
    .split('\n')
    .map((line) => ({ line, by: line.replace(ID, 'ID').replace(/\d+/g, '0') }))
    .toSorted((a, b) => (a.by < b.by ? -1 : a.by > b.by ? 1 : 0))
    .map(({ line }) => line)
    .join('\n')
