import type { SyntaxNode } from '../../duckdb/syntax.ts'

/** Equal for expressions that say the same, by whatever name and at whatever place. */
export const meaningOf = (node: SyntaxNode): string =>
  JSON.stringify({ ...node, alias: '' }, (key, value: unknown) =>
    key === 'query_location' ? undefined : value,
  )
