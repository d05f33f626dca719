// The columns that each column of a model is computed from, as a tree.

interface ShownColumn {
  readonly model: string
  readonly column: string
  readonly kind: string
  /** null: unknown. */
  readonly from: readonly ShownColumn[] | null
}

export function showLineage(columns: readonly ShownColumn[]): string {
  return columns
    .flatMap((column) => [
      `${column.column}${remark(column)}`,
      ...branches(column, 1, new Set([column])),
    ])
    .join('\n')
}

/** What was shown above under the same column is not repeated. */
function branches(
  { from }: ShownColumn,
  depth: number,
  shown: Set<ShownColumn>,
): readonly string[] {
  return (from ?? []).flatMap((origin) => {
    const line = `${'  '.repeat(depth)}${origin.model}.${origin.column}`
    if (shown.has(origin)) return [`${line}  (see above)`]
    shown.add(origin)
    return [`${line}${remark(origin)}`, ...branches(origin, depth + 1, shown)]
  })
}

function remark({ kind, from }: ShownColumn): string {
  if (from === null) return '  (not known)'
  if (from.length > 0) return ''
  if (kind === 'events') return '  (field of the events)'
  if (kind === 'source') return '  (column of the source)'
  return kind === 'seed' ? '  (column of the seed)' : '  (not computed from a column)'
}
