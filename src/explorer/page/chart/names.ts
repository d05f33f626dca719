// Names of columns in the expressions of a request.

const literals = new Set(['null', 'true', 'false', 'INF', 'NaN'])

/** A column as an expression. One that has the name of a literal would be read as that. */
export function pathTo(name: string): string {
  return literals.has(name) ? `$it/${name}` : name
}

/** Whether `groupby` takes the name as it stands; others get a computed one. */
export function isGroupable(name: string): boolean {
  return !literals.has(name)
}

/** Names that neither a column nor a name given before has. */
export function freeNames(taken: Iterable<string>): (wanted: string) => string {
  const all = new Set(taken)
  return (wanted) => {
    let name = wanted
    for (let i = 2; all.has(name); i += 1) name = `${wanted}${i}`
    all.add(name)
    return name
  }
}

/** The value at a path in a row of an answer; an entity that is not there has none. */
export function valueAt(row: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = row
  for (const name of path.split('/')) {
    if (value === null || typeof value !== 'object') return null
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? null
}
