// `@contract`: the columns, types and key that an exposed model has promised, one line each at the head of its file, where
// a pull request shows each change of them. A model that no longer keeps them does not compile. Columns may be added: no
// client that works today fails for one more.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { annotationName, foldCase, type ModelName, sameName } from '../core/names.ts'
import type { Check } from '../core/model.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import type { Annotation } from './annotations/annotations.ts'
import type { ContractTerm } from './annotations/read-annotation.ts'

interface ContractSubject {
  readonly name: ModelName
  readonly source: SourceFile
  readonly terms: readonly Annotation<ContractTerm>[]
  /** null: it is not exposed. */
  readonly key: readonly string[] | null
  readonly columns: readonly Column[]
}

export function checkContract(promised: ContractSubject): readonly Diagnostic[] {
  const { name, source, terms, key, columns } = promised
  const [first] = terms
  if (first === undefined) return []
  const command = `eider contract ${name}`
  const broken = (problem: string, span: Span, hint: string) =>
    diagnostic('contract-broken', { problem }, { source, span }, hint)
  if (key === null) {
    const hint = 'write -- @expose again, or delete the lines of @contract'
    return [broken('the model is not exposed', first.span, hint)]
  }
  if (terms.every(({ value }) => value.is === 'nothing')) {
    const hint = `write down what it has now: ${command}`
    return [diagnostic('contract-empty', {}, { source, span: first.span }, hint)]
  }
  const hint = `clients rely on it; if they are ready for the change, accept it: ${command}`
  return terms.flatMap(({ value, span }) =>
    problemsOf(value, key, columns).map((problem) => broken(problem, span, hint)),
  )
}

function problemsOf(
  term: ContractTerm,
  key: readonly string[],
  columns: readonly Column[],
): readonly string[] {
  if (term.is === 'nothing') return []
  if (term.is === 'key') {
    const isSame = foldCase(term.columns.join('\0')) === foldCase(key.join('\0'))
    return isSame ? [] : [`the key is now (${key.join(', ')})`]
  }
  const column = columns.find(({ name }) => sameName(name, term.column))
  if (column === undefined) return [`the column "${term.column}" is gone`]
  // OData tells names apart by their case, SQL does not.
  if (column.name !== term.column)
    return [`the column "${term.column}" is now spelled "${column.name}"`]
  return [
    ...(sameType(column.type, term.type)
      ? []
      : [`the column "${column.name}" is now ${column.type}`]),
    ...(column.nullable && !term.nullable ? [`the column "${column.name}" may now be null`] : []),
  ]
}

const sameType = (a: string, b: string) => plain(a) === plain(b) || plain(a) === typeMeant(b)

/** What DuckDB calls types that have more names than one. */
const NAMES: Readonly<Record<string, string>> = {
  INT: 'INTEGER',
  INT4: 'INTEGER',
  INT2: 'SMALLINT',
  INT8: 'BIGINT',
  LONG: 'BIGINT',
  TEXT: 'VARCHAR',
  STRING: 'VARCHAR',
  CHAR: 'VARCHAR',
  BOOL: 'BOOLEAN',
  REAL: 'FLOAT',
  FLOAT8: 'DOUBLE',
  'DOUBLE PRECISION': 'DOUBLE',
  DATETIME: 'TIMESTAMP',
  TIMESTAMPTZ: 'TIMESTAMP WITH TIME ZONE',
  BYTEA: 'BLOB',
}

/** Of a type without fields or values, whose case counts. */
function typeMeant(written: string): string {
  const [, word = '', precision = ''] = /^([\w ]+?)( ?\([\d, ]+\))?$/.exec(plain(written)) ?? []
  const name = NAMES[word.toUpperCase()] ?? word.toUpperCase()
  if (name === 'VARCHAR') return name
  const size = precision.replaceAll(' ', '')
  return (name === 'NUMERIC' ? 'DECIMAL' : name) + size
}

const plain = (type: string) => type.replaceAll(/\s+/g, ' ').trim()

/** The columns as they are published: one outside the key may be null, unless events must bring it. */
export function publishedColumns(
  kind: string,
  key: readonly string[],
  columns: readonly Column[],
): readonly Column[] {
  const inKey = new Set(key.map(foldCase))
  return columns.map((column) => {
    const isRequired = inKey.has(foldCase(column.name)) || (kind === 'events' && !column.nullable)
    return { ...column, nullable: !isRequired }
  })
}

/** The columns as they can be promised: a check that fails for each NULL keeps one, as long as it is there. */
export const promisedColumns = (
  kind: string,
  key: readonly string[],
  columns: readonly Column[],
  neverNull: readonly string[],
): readonly Column[] => publishedColumns(kind, [...key, ...neverNull], columns)

/** Columns of which a check of the model's own file lets no row be published that has a NULL there. */
export const neverNullBy = (checks: readonly Check[]): readonly string[] =>
  checks.flatMap(({ severity, source, on, where, upTo, test }) => {
    const isOwn = severity === 'fail' && source === undefined && on === undefined
    return isOwn ? columnsWithoutNull({ ...test, where, upTo }) : []
  })

interface NullRule<C> {
  readonly is: string
  readonly columns?: readonly C[]
  readonly where?: unknown
  readonly upTo?: unknown
}

/** Columns that a check keeps NULL out of in all rows. */
export const columnsWithoutNull = <C>(rule: NullRule<C>): readonly C[] =>
  rule.is === 'not_null' && rule.where === undefined && rule.upTo === undefined
    ? (rule.columns ?? [])
    : []

export function contractLines(
  key: readonly string[],
  columns: readonly Column[],
): readonly string[] {
  return [
    ...(key.length === 0 ? [] : [`-- @contract: key(${key.map(annotationName).join(', ')})`]),
    ...columns.map(({ name, type, nullable }) => {
      return `-- @contract: ${annotationName(name)} ${plain(type)}${nullable ? '' : ' NOT NULL'}`
    }),
  ]
}

const CONTRACT_LINE = /^--[^\S\r\n]*@contract\b.*$/i

/** Whether the model of this text says itself what its clients rely on. */
export const hasContract = (text: string): boolean => /^--[^\S\r\n]*@contract\b/im.test(text)

/** The text with its lines of @contract replaced: where the first was, else below @expose, else at the top. */
export function withContract(text: string, lines: readonly string[]): string {
  const all = text.split('\n')
  const old = all.findIndex((line) => CONTRACT_LINE.test(line))
  const exposed = all.findIndex((line) => /^--[^\S\r\n]*@expose\b/i.test(line))
  const at = old >= 0 ? old : exposed + 1
  const ending = text.includes('\r\n') ? '\r' : ''
  const kept = (line: string) => !CONTRACT_LINE.test(line)
  return [
    ...all.slice(0, at).filter(kept),
    ...lines.map((line) => line + ending),
    ...all.slice(at).filter(kept),
  ].join('\n')
}

/** The text with them blanked out, of the same length: what a model has, without what it has promised. */
export const withoutContract = (text: string): string =>
  text.replaceAll(/^--[^\S\r\n]*@contract\b.*$/gim, (line) => `--${' '.repeat(line.length - 2)}`)
