// DuckDB's parser as a service: SELECT statements as syntax trees. Nothing is run.

import { columnType } from '../core/relation.ts'
import { sql } from '../core/sql.ts'
import type { Connection } from './database.ts'
import type { DatabaseErrorDetails } from './errors.ts'

/** A node of DuckDB's syntax tree; the members depend on `type` and `class`. */
export type SyntaxNode = Readonly<Record<string, unknown>>

/** The nodes of a part of a tree, each before those in it. Where `isWhole` is true of one, those in it are left out. */
export function nodesIn(
  part: unknown,
  isWhole: (node: SyntaxNode) => boolean = () => false,
): readonly SyntaxNode[] {
  const found: SyntaxNode[] = []
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) {
      found.push(value as SyntaxNode)
      if (isWhole(value as SyntaxNode)) return
    }
    Object.values(value).forEach(visit)
  }
  visit(part)
  return found
}

export const isSubquery = (node: SyntaxNode): boolean => node['class'] === 'SUBQUERY'

/** The parts of the name of a column; null: the expression is another one. */
export const columnNames = (expression: unknown): readonly string[] | null => {
  const node = expression as SyntaxNode | null | undefined
  return node?.['class'] === 'COLUMN_REF' ? (node['column_names'] as readonly string[]) : null
}

export const isColumn = (node: SyntaxNode): boolean => columnNames(node) !== null

export type ParsedStatement =
  | {
      readonly is: 'select'
      readonly tree: SyntaxNode
      /** The tree as text without positions: the same for texts that differ in white space and comments only. */
      readonly canonical: string
    }
  /** A query that takes the columns of a PIVOT from the data. DuckDB parses it, but does not show its tree. */
  | { readonly is: 'pivot' }
  /** A query with a type such as `ENUM('a')[]`, of which DuckDB does not show the tree either. */
  | { readonly is: 'enum-inside' }
  /** Another statement, or several. */
  | { readonly is: 'other' }
  | { readonly is: 'error'; readonly details: DatabaseErrorDetails }

/** What DuckDB's parser makes of each text, in one round trip (two when a text is not a plain SELECT). */
export async function parseStatements(
  connection: Connection,
  texts: readonly string[],
): Promise<readonly ParsedStatement[]> {
  if (texts.length === 0) return []
  const list = sql.value(JSON.stringify(texts), columnType('VARCHAR'))
  const rows = await connection.rows(sql`
    SELECT json_serialize_sql(text) AS tree
    FROM (SELECT unnest(from_json(${list}, '["VARCHAR"]')) AS text)`)
  const parsed = rows.map(({ tree }) => parseTree(tree as string))
  const refused = texts.filter((_, i) => parsed[i]?.is === 'other')
  const queries = new Set(await queriesAmong(connection, refused))
  return parsed.map((result, i) =>
    result.is === 'other' && queries.has(texts[i]!) ? { is: 'pivot' } : result,
  )
}

/** Tree of `SELECT <expression>` or of a query, as DuckDB's catalog gives the definition of a macro. */
export function parseTree(json: string): ParsedStatement {
  const result = JSON.parse(withoutNonFinite(json)) as TreeResult
  if (!result.error) {
    const [statement, ...more] = result.statements
    if (statement === undefined || more.length > 0 || isDescription(statement))
      return { is: 'other' }
    return { is: 'select', tree: statement, canonical: withoutPositions(json) }
  }
  if (result.error_type === 'serialization') return { is: 'enum-inside' }
  if (result.error_type !== 'parser') return { is: 'other' }
  const position = Number(result.position)
  const details = {
    type: 'Parser',
    subtype: result.error_subtype ?? null,
    message: result.error_message,
    name: null,
    candidates: [],
    position: Number.isFinite(position) ? position : null,
  }
  return { is: 'error', details }
}

type TreeResult =
  | { readonly error: false; readonly statements: readonly SyntaxNode[] }
  | {
      readonly error: true
      readonly error_type: string
      readonly error_message: string
      readonly error_subtype?: string
      readonly position?: string
    }

/** Those that can stand between parentheses in FROM. DuckDB refuses their trees, but not for their syntax. */
async function queriesAmong(
  connection: Connection,
  texts: readonly string[],
): Promise<readonly string[]> {
  if (texts.length === 0) return []
  const list = sql.value(JSON.stringify(texts), columnType('VARCHAR'))
  const rows = await connection.rows(sql`
    SELECT text, json_serialize_sql('FROM (' || text || chr(10) || ')')->>'error_type' AS refusal
    FROM (SELECT unnest(from_json(${list}, '["VARCHAR"]')) AS text)`)
  return rows
    .filter(({ refusal }) => refusal === 'not implemented')
    .map(({ text }) => text as string)
}

/** DESCRIBE, SUMMARIZE and SHOW parse as queries, but no table can be made of them. */
function isDescription(statement: SyntaxNode): boolean {
  const { from_table: table } = statement['node'] as { from_table?: SyntaxNode }
  return table?.['type'] === 'SHOW_REF'
}

// In both patterns the quotes cannot come from inside a literal: there JSON has a backslash before each.
const withoutPositions = (json: string) => json.replace(/"query_location":\d+,?/g, '')
const withoutNonFinite = (json: string) =>
  json.replace(/"value":(-?(?:Infinity|NaN))/g, '"value":"$1"')
