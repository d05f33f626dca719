// What a query would read of tables on servers, as its plan says.

import type { SourceKind } from '../../core/sources.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

export interface Scan {
  readonly kind: SourceKind
  /** Without its schema. */
  readonly table: string
  readonly columns: readonly string[]
  /** Conditions on columns that rows meet which are read; the server may be given others in addition. */
  readonly filters: readonly Sql[]
}

interface Node {
  readonly name?: string
  readonly children?: readonly Node[]
  readonly extra_info?: {
    readonly Table?: string
    readonly Projections?: string | readonly string[]
    readonly Filters?: string | readonly string[]
  }
}

const kinds: readonly SourceKind[] = ['postgres', 'mysql']

/** Throws DatabaseError where the query cannot be planned. */
export async function scansOf(connection: Connection, query: Sql): Promise<readonly Scan[]> {
  const [row] = await connection.literalRows(sql`EXPLAIN (FORMAT json) ${query}`)
  const scans: Scan[] = []
  const look = ({ name = '', children = [], extra_info: info = {} }: Node) => {
    const kind = kinds.find((one) => name.toLowerCase().startsWith(`${one}_scan`))
    if (kind !== undefined && info.Table !== undefined) {
      const columns = listOf(info.Projections)
      const filters = listOf(info.Filters).flatMap((text) => filterOf(text, columns) ?? [])
      scans.push({ kind, table: info.Table, columns, filters })
    }
    for (const child of children) look(child)
  }
  for (const node of JSON.parse(textOf(row?.['explain_value'])) as readonly Node[]) look(node)
  return scans
}

const listOf = (value: string | readonly string[] = []): readonly string[] =>
  typeof value === 'string' ? (value === '' ? [] : [value]) : value

/** A comparison with a literal, and whether another one follows. */
const COMPARISON = /^(>=|<=|=|<|>)(?:'((?:[^']|'')*)'(?:::[A-Z][\w ]*)?|(-?\d+(?:\.\d+)?))( AND |$)/

const operators: Readonly<Record<string, Sql>> = {
  '>=': sql`>=`,
  '<=': sql`<=`,
  '=': sql`=`,
  '<': sql`<`,
  '>': sql`>`,
}

/** `text`: such as `id>=3 AND id<=5`, with the name as it is, without quotes. null: of another form, and left out. */
function filterOf(text: string, columns: readonly string[]): readonly Sql[] | null {
  const names = columns.filter((name) => text.startsWith(name))
  const name = names.toSorted((a, b) => b.length - a.length)[0]
  if (name === undefined) return null
  const found: Sql[] = []
  for (let rest = text; ;) {
    const match = rest.startsWith(name) ? COMPARISON.exec(rest.slice(name.length)) : null
    if (match === null) return null
    const [whole, operator, quoted, number, next] = match
    const value = sql.value(quoted === undefined ? number! : quoted.replaceAll("''", "'"))
    found.push(sql`${sql.ident(name)} ${operators[operator!]!} ${value}`)
    if (next === '') return found
    rest = rest.slice(name.length + whole.length)
  }
}
