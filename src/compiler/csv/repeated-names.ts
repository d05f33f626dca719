// Names that the header of a CSV has twice, of which DuckDB calls the later one something else.

import { foldCase } from '../../core/names.ts'

interface RepeatedName {
  readonly column: string
  /** What DuckDB calls it. */
  readonly name: string
}

export function repeatedNames(columns: readonly string[]): readonly RepeatedName[] {
  const counts = new Map<string, number>()
  return columns.flatMap((column) => {
    const before = counts.get(foldCase(column)) ?? 0
    counts.set(foldCase(column), before + 1)
    return before === 0 || column === '' ? [] : [{ column, name: `${column}_${before}` }]
  })
}

export const REPEATED_HINT = 'give each column a name'
