// SQL as a value. There is no way to turn a string into SQL text: text comes from template literals in the code and
// from model bodies, everything else is an identifier, a value or a type and is printed by its own rule.

import type { Column, ColumnType } from './relation.ts'
import type { SourceFile, Span } from './source-text.ts'

type SqlValue = string | number | bigint | boolean | null

type Node =
  | { readonly kind: 'ident'; readonly quoted: string }
  | { readonly kind: 'value'; readonly value: SqlValue; readonly type: ColumnType | null }
  | { readonly kind: 'type'; readonly type: ColumnType }
  | { readonly kind: 'body'; readonly body: ModelBody }

interface PreparedSql {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** What stands in a body instead of a span of its file: the value of a variable. */
export interface Insert extends Span {
  readonly sql: Sql
}

/** The author's own SQL: a span of a model file, with its inserts. Only the compiler makes these. */
export class ModelBody {
  readonly source: SourceFile
  readonly span: Span
  /** In the order of the file. */
  readonly inserts: readonly Insert[]
  readonly text: string
  /** It ends no statement: the compiler has found it to be one expression without subqueries. */
  readonly isExpression: boolean

  private constructor(
    source: SourceFile,
    span: Span,
    inserts: readonly Insert[],
    isExpression: boolean,
  ) {
    this.source = source
    this.isExpression = isExpression
    this.span = span
    this.inserts = inserts
    let text = ''
    let at = span.start
    for (const insert of inserts) {
      text += source.text.slice(at, insert.start) + insert.sql.inline()
      at = insert.end
    }
    this.text = text + source.text.slice(at, span.end)
  }

  static of(source: SourceFile, span: Span, inserts: readonly Insert[] = []): ModelBody {
    return new ModelBody(source, span, inserts, false)
  }

  /** An expression that the compiler has made, and that comes back from a published state. */
  static published(name: string, text: string): ModelBody {
    return new ModelBody({ path: name, text }, { start: 0, end: text.length }, [], true)
  }

  with(insert: Insert): ModelBody {
    const inserts = [...this.inserts, insert].toSorted((a, b) => a.start - b.start)
    return new ModelBody(this.source, this.span, inserts, false)
  }

  /** The same text, where it has been found to be one expression. */
  asExpression(): ModelBody {
    return new ModelBody(this.source, this.span, this.inserts, true)
  }

  /** The span of the file that a span of `text` comes from; of an insert it is the whole. */
  spanInFile({ start, end }: Span): Span {
    let textAt = 0
    let fileAt = this.span.start
    const found = { start: -1, end: -1 }
    const see = (textEnd: number, fileEnd: number, isInsert: boolean) => {
      if (found.start < 0 && start < textEnd)
        found.start = isInsert ? fileAt : fileAt + start - textAt
      if (found.end < 0 && end <= textEnd) found.end = isInsert ? fileEnd : fileAt + end - textAt
      textAt = textEnd
      fileAt = fileEnd
    }
    for (const insert of this.inserts) {
      see(textAt + insert.start - fileAt, insert.start, false)
      see(textAt + insert.sql.inline().length, insert.end, true)
    }
    see(textAt + this.span.end - fileAt, this.span.end, false)
    const last = this.span.end
    return found.start < 0
      ? { start: last, end: last + 1 }
      : { start: found.start, end: found.end < 0 ? last : found.end }
  }
}

let fromNode: (node: Node) => Sql
let fromParts: (texts: readonly string[], parts: readonly Sql[]) => Sql
let joinParts: (parts: readonly Sql[], separator: Sql) => Sql

type PrintValue = (node: Node & { readonly kind: 'value' }) => string

/** A tree, printed once it is whole: a statement consists of some hundred of these, for each request. */
export class Sql {
  /** A leaf; null: `texts` with a part between each two. */
  readonly #node: Node | null
  readonly #texts: readonly string[]
  readonly #parts: readonly Sql[]

  private constructor(node: Node | null, texts: readonly string[], parts: readonly Sql[]) {
    this.#node = node
    this.#texts = texts
    this.#parts = parts
  }

  static {
    fromNode = (node) => new Sql(node, [], [])
    fromParts = (texts, parts) => new Sql(null, texts, parts)
    joinParts = (parts, separator) => {
      if (parts.length === 1) return parts[0]!
      const texts = Array<string>(parts.length + 1).fill('')
      // A separator that is text alone needs no separate part between each two.
      const text = separator.#node === null && separator.#parts.length === 0 && separator.#texts[0]
      if (typeof text === 'string') return new Sql(null, texts.fill(text, 1, -1), parts)
      const separated = parts.flatMap((part, i) => (i === 0 ? [part] : [separator, part]))
      return new Sql(null, Array<string>(separated.length + 1).fill(''), separated)
    }
  }

  /** Text with parameters `$1`, `$2`, … and their values. */
  prepare(): PreparedSql {
    const values: SqlValue[] = []
    const text = this.#print((node) => {
      values.push(node.value)
      const parameter = `$${values.length}`
      return node.type === null ? parameter : `CAST(${parameter} AS ${node.type})`
    })
    return { text, values }
  }

  /**
   * Text with literals: for statements that DuckDB does not prepare (CREATE VIEW, ATTACH, COPY, SET), and for those
   * that are run once, which it would plan a second time with the values of parameters.
   */
  inline(): string {
    return this.#print(({ value, type }) =>
      type === null ? literal(value) : `CAST(${literal(value)} AS ${type})`,
    )
  }

  /**
   * Whether this is one SELECT with nothing after it, whatever its values and names are: those are printed in quotes,
   * so only the text of a template could end the statement, or the author's own SQL that is not known to be an expression.
   */
  get isOneSelect(): boolean {
    return /^\s*SELECT\s/.test(this.#firstText()) && !this.#mayEnd()
  }

  #firstText(): string {
    const [text = ''] = this.#texts
    const [part] = this.#parts
    return text === '' && part !== undefined ? part.#firstText() : text
  }

  #mayEnd(): boolean {
    return (
      (this.#node?.kind === 'body' && !this.#node.body.isExpression) ||
      this.#texts.some((text) => text.includes(';')) ||
      this.#parts.some((part) => part.#mayEnd())
    )
  }

  #print(printValue: PrintValue): string {
    if (this.#node !== null) return printNode(this.#node, printValue)
    let printed = this.#texts[0]!
    for (let i = 0; i < this.#parts.length; i++)
      printed += this.#parts[i]!.#print(printValue) + this.#texts[i + 1]!
    return printed
  }
}

function printNode(node: Node, printValue: PrintValue): string {
  switch (node.kind) {
    case 'ident':
      return node.quoted
    case 'type':
      return node.type
    case 'body':
      return node.body.text
    case 'value':
      return printValue(node)
  }
}

function sqlTag(texts: TemplateStringsArray, ...parts: readonly Sql[]): Sql {
  return fromParts(texts, parts)
}

const COMMA = sqlTag`, `
const AND = sqlTag` AND `
const OR = sqlTag` OR `

/** ``sql`SELECT * FROM ${sql.ident('main', 'orders')} WHERE id = ${sql.value(7)}` `` */
export const sql = Object.assign(sqlTag, {
  empty: fromParts([''], []),

  /** A quoted identifier; several parts are joined by dots. Throws on an empty name or a NUL. */
  ident(...parts: readonly [string, ...string[]]): Sql {
    let quoted = quoteIdentifier(parts[0])
    for (let i = 1; i < parts.length; i++) quoted += `.${quoteIdentifier(parts[i]!)}`
    return fromNode({ kind: 'ident', quoted })
  },

  /** `schema.table`, the name of a model or of a table of a source; its first dot parts the two. */
  relation(name: string, database: string | null = null): Sql {
    const dot = name.indexOf('.')
    const [schema, table] = [name.slice(0, dot), name.slice(dot + 1)]
    return database === null ? sql.ident(schema, table) : sql.ident(database, schema, table)
  },

  /** Quoted identifiers with commas between them. */
  idents(names: readonly string[]): Sql {
    return joinParts(
      names.map((name) => sql.ident(name)),
      COMMA,
    )
  },

  /** Names with types, as CREATE TABLE lists them. */
  definitions(columns: readonly Pick<Column, 'name' | 'type'>[]): Sql {
    const all = columns.map(({ name, type }) => sql`${sql.ident(name)} ${sql.type(type)}`)
    return joinParts(all, COMMA)
  },

  /** A SELECT list of NULL for each column. */
  nulls(columns: readonly Pick<Column, 'name' | 'type'>[]): Sql {
    const nulls = columns.map(
      ({ name, type }) => sql`CAST(NULL AS ${sql.type(type)}) AS ${sql.ident(name)}`,
    )
    return joinParts(nulls, COMMA)
  },

  /** A value, sent as a parameter by `prepare` and as a literal by `inline`; cast to `type` when one is given. */
  value(value: SqlValue, type: ColumnType | null = null): Sql {
    return fromNode({ kind: 'value', value, type })
  },

  /** Values with commas between them. */
  values(values: readonly SqlValue[]): Sql {
    return joinParts(
      values.map((value) => sql.value(value)),
      COMMA,
    )
  },

  /** The rows of VALUES, or of IN. */
  rows(rows: readonly (readonly SqlValue[])[]): Sql {
    const each = rows.map((row) => sql`(${sql.values(row)})`)
    return joinParts(each, COMMA)
  },

  /** Whether all of them hold; true for none. Put it in parentheses where more follows. */
  all(conditions: readonly Sql[]): Sql {
    return conditions.length === 0 ? sqlTag`true` : joinParts(conditions, AND)
  },

  /** Whether one of them holds; false for none. */
  any(conditions: readonly Sql[]): Sql {
    return conditions.length === 0 ? sqlTag`false` : joinParts(conditions, OR)
  },

  type(type: ColumnType): Sql {
    return fromNode({ kind: 'type', type })
  },

  body(body: ModelBody): Sql {
    return fromNode({ kind: 'body', body })
  },

  join(parts: readonly Sql[], separator: Sql = COMMA): Sql {
    return joinParts(parts, separator)
  },
})

function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0')) throw new Error('an identifier is empty or has a NUL')
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`
}

function literal(value: SqlValue): string {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return stringLiteral(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number' && !Number.isFinite(value)) return `'${value}'::DOUBLE`
  // After a minus sign of the statement, the sign of the value would begin a comment.
  return value < 0 ? `(${value})` : String(value)
}

// DuckDB's parser ends a statement at NUL, so a text with one goes as its bytes. One call, however many there are: a
// sum of pieces would be nested as deep as their number, which the parser bounds.
function stringLiteral(text: string): string {
  if (text.includes('\0')) return `decode(unhex('${Buffer.from(text).toString('hex')}'))`
  return `'${text.replaceAll("'", "''")}'`
}
