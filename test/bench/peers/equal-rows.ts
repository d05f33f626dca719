// Whether answers in different formats have the same rows.

export type Row = Readonly<Record<string, unknown>>

/** Values as text, by the names of the first line. */
export function csvRows(text: string): readonly Row[] {
  const rows: string[][] = [[]]
  for (const [, value = '', end] of text.matchAll(/("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/g)) {
    const isQuoted = value.startsWith('"')
    rows.at(-1)!.push(isQuoted ? value.slice(1, -1).replaceAll('""', '"') : value)
    if (end !== ',') rows.push([])
  }
  const [names = [], ...lines] = rows.filter(({ length }) => length > 1)
  return lines.map((values) => Object.fromEntries(names.map((name, i) => [name, values[i]])))
}

/** Throws where they differ. */
export function compareRows(what: string, ours: readonly Row[], theirs: readonly Row[]): void {
  if (ours.length !== theirs.length)
    throw new Error(`${what}: ${ours.length} rows and ${theirs.length} rows`)
  for (const [i, row] of ours.entries())
    for (const [name, value] of Object.entries(row))
      if (!isSame(value, theirs[i]![name]))
        throw new Error(`${what}, row ${i}, ${name}: ${String(value)}, ${String(theirs[i]![name])}`)
}

/** The same value, whatever type and form a format has for it. Fractions may differ in their last digit. */
function isSame(ours: unknown, theirs: unknown): boolean {
  if (ours === null) return (theirs ?? null) === null || theirs === ''
  if ((theirs ?? '') === '') return ours === theirs
  if (typeof ours === 'boolean') return ours === Boolean(theirs)
  const [a, b] = [Number(ours), Number(theirs)]
  const isNear = !Number.isInteger(a) && Math.abs(a - b) <= 1e-9 * Math.abs(a)
  return plain(ours) === plain(theirs) || a === b || isNear
}

/** `2020-01-01T00:00:00Z` and `true` of one are `2020-01-01 00:00:00` and 1 of another. */
const plain = (value: unknown) =>
  String(value)
    .replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.0+)?Z?$/, '$1 $2')
    .replace(/^true$/, '1')
    .replace(/^false$/, '0')
