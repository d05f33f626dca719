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
  const result = JSON.parse(withDigits(json)) as TreeResult
  if (!result.error) {
    const [statement, ...more] = result.statements
    if (statement === undefined || more.length > 0 || isDescription(statement))
      return { is: 'other' }
    if (OTHER_SCHEMA.test(json)) nodesIn(statement).forEach(giveReceiver)
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

/**
 * `x.upper()` is upper(x), and `t.x.upper()` is upper(t.x). DuckDB writes the names into the schema and the catalog of the
 * call, so a column is added to it: whoever looks for what is read finds it where every column stands. With the name of a
 * schema, it is a column that there is not.
 */
function giveReceiver(node: SyntaxNode): void {
  const { class: is, schema, catalog, query_location } = node
  const isCall = is === 'FUNCTION' || is === 'WINDOW'
  if (!isCall || schema === '' || schema === 'main') return
  const column_names = catalog === '' ? [schema] : [catalog, schema]
  const column = {
    class: 'COLUMN_REF',
    type: 'COLUMN_REF',
    alias: '',
    query_location,
    column_names,
  }
  Object.assign(node, { receiver: column })
}

// In all patterns the quotes cannot come from inside a literal: there JSON has a backslash before each.
const OTHER_SCHEMA = /"schema":"(?!"|main")/
const withoutPositions = (json: string) => json.replace(/"query_location":\d+,?/g, '')

/** Numbers that JavaScript has no equal of, or writes otherwise, keep their digits: no two of them are one. */
const withDigits = (json: string) =>
  json.replace(
    /"((?!query_location")\w+)":(-?(?:Infinity|NaN|\d{16,}|\d+\.0))(?=[,}])/g,
    '"$1":{"digits":"$2"}',
  )

/** A tree as JSON that DuckDB reads. Places are left out: the one of a node without any is no number of JavaScript. */
export function jsonOfTree(tree: unknown): string {
  const isPlace = (member: string) => member === 'query_location'
  return JSON.stringify(tree, (member, one: unknown) =>
    isPlace(member) ? undefined : one,
  ).replace(/\{"digits":"([^"]+)"\}/g, '$1')
}

interface Cte {
  readonly key: string
  readonly value: { readonly query: SyntaxNode; readonly aliases?: readonly string[] }
}

/** The common table expressions of a query, in their order. */
export const ctesOf = (query: SyntaxNode): readonly Cte[] =>
  ((query['cte_map'] ?? {}) as { map?: readonly Cte[] }).map ?? []
