// DuckDB's spelling of a column type, such as `STRUCT("a b" DECIMAL(18,4)[])`, as a tree, and the types of a lake.
//
//   type   = base suffix*            suffix = "[]" | "[" digits "]"
//   base   = "STRUCT(" fields ")" | "UNION(" fields ")" | "MAP(" type "," type ")" | "ENUM(" members ")" | scalar
//   fields = name type ("," name type)*          name = word | '"' … '"' with doubled quotes
//          | type ("," type)*                    of row(1, 'x'): such a field is called by its place, "1"
//   scalar = words, with an optional "(" … ")" of numbers, such as `TIMESTAMP WITH TIME ZONE` or `DECIMAL(18,4)`, or of
//            a text, such as `GEOMETRY('OGC:CRS84')`

import { type ColumnType, columnType } from './relation.ts'
import { type Sql, sql } from './sql.ts'

export type TypeTree =
  | Scalar
  | { readonly is: 'enum'; readonly members: readonly string[] }
  | { readonly is: 'list'; readonly element: TypeTree; readonly length: number | null }
  | { readonly is: 'struct' | 'union'; readonly fields: ReadonlyMap<string, TypeTree> }
  | { readonly is: 'map'; readonly key: TypeTree; readonly value: TypeTree }

interface Scalar {
  readonly is: 'scalar'
  readonly name: string
  readonly parameters: readonly number[]
  readonly text?: string
}

const TOKEN = /\s*(?:"((?:[^"]|"")*)"|'((?:[^']|'')*)'|(\w+)|([(),[\]]))/y

/** Throws Error for text that is not a DuckDB type: a bug, as DuckDB printed it. */
export function parseType(text: ColumnType): TypeTree {
  const tokens = tokenize(text)
  let at = 0

  const peek = (mark: string) => tokens[at]?.mark === mark
  const accept = (mark: string) => peek(mark) && ++at > 0
  const expect = (mark: string) => {
    if (!accept(mark)) throw new Error(`no "${mark}" at token ${at} of the column type ${text}`)
  }
  const next = (pick: 'name' | 'word' | 'member') => {
    const found = tokens[at++]?.[pick]
    if (found === undefined)
      throw new Error(`no ${pick} at token ${at - 1} of the column type ${text}`)
    return found
  }
  const separated = <T>(one: () => T): T[] => {
    const all: T[] = []
    expect('(')
    do all.push(one())
    while (accept(','))
    expect(')')
    return all
  }
  /** A name is followed by a type, whose first word is never WITH: that one belongs to TIME and TIMESTAMP. */
  const hasName = () => {
    const [first, second] = [tokens[at], tokens[at + 1]]
    return first?.word === undefined || (second?.name !== undefined && second.word !== 'WITH')
  }
  const base = (): TypeTree => {
    const words = [next('word').toUpperCase()]
    while (tokens[at]?.word !== undefined) words.push(next('word').toUpperCase())
    const name = words.join(' ')
    if (name === 'STRUCT' || name === 'UNION') {
      let place = 0
      const fields = separated(() => {
        place += 1
        return [hasName() ? next('name') : String(place), type()] as const
      })
      return { is: name === 'STRUCT' ? 'struct' : 'union', fields: new Map(fields) }
    }
    if (name === 'ENUM') return { is: 'enum', members: separated(() => next('member')) }
    if (name === 'MAP') {
      const [key, value] = separated(type)
      return { is: 'map', key: key!, value: value! }
    }
    if (peek('(') && tokens[at + 1]?.member !== undefined) {
      const [text] = separated(() => next('member'))
      return { is: 'scalar', name, parameters: [], text: text! }
    }
    const parameters = peek('(') ? separated(() => Number(tokens[at++]?.word)) : []
    return { is: 'scalar', name, parameters }
  }
  const type = (): TypeTree => {
    let tree = base()
    while (accept('[')) {
      const length = peek(']') ? null : Number(next('word'))
      expect(']')
      tree = { is: 'list', element: tree, length }
    }
    return tree
  }

  const tree = type()
  if (at < tokens.length) throw new Error(`more than one column type: ${text}`)
  return tree
}

interface Token {
  /** A word or a quoted name: what a field may be called. */
  readonly name?: string
  readonly word?: string
  readonly member?: string
  readonly mark?: string
}

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text)
    if (match === null) throw new Error(`not a column type: ${text}`)
    const [, quoted, member, word, mark] = match
    if (quoted !== undefined) tokens.push({ name: quoted.replaceAll('""', '"') })
    else if (member !== undefined) tokens.push({ member: member.replaceAll("''", "'") })
    else if (word !== undefined) tokens.push({ name: word, word })
    else tokens.push({ mark: mark! })
  }
  return tokens
}

/** The tree as DuckDB spells it. */
function printType(tree: TypeTree): string {
  switch (tree.is) {
    case 'scalar':
      return printScalar(tree)
    case 'enum':
      return `ENUM(${tree.members.map(quoted).join(', ')})`
    case 'list':
      return `${printType(tree.element)}[${tree.length ?? ''}]`
    case 'map':
      return `MAP(${printType(tree.key)}, ${printType(tree.value)})`
    default: {
      const fields = Array.from(
        tree.fields,
        ([name, field]) => `"${name.replaceAll('"', '""')}" ${printType(field)}`,
      )
      return `${tree.is.toUpperCase()}(${fields.join(', ')})`
    }
  }
}

/** The type with VARCHAR in place of the scalars that `isText` picks. `inKey`: within the key of a MAP. */
export function withText(
  type: ColumnType,
  isText: (scalar: string, inKey: boolean) => boolean,
): ColumnType {
  let changed = false
  const replaced = (tree: TypeTree, inKey: boolean): TypeTree => {
    switch (tree.is) {
      case 'scalar':
        if (!isText(tree.name, inKey)) return tree
        changed = true
        return { is: 'scalar', name: 'VARCHAR', parameters: [] }
      case 'enum':
        return tree
      case 'list':
        return { ...tree, element: replaced(tree.element, inKey) }
      case 'map':
        return { is: 'map', key: replaced(tree.key, true), value: replaced(tree.value, inKey) }
      default: {
        const fields = Array.from(
          tree.fields,
          ([name, field]) => [name, replaced(field, inKey)] as const,
        )
        return { is: tree.is, fields: new Map(fields) }
      }
    }
  }
  const text = printType(replaced(parseType(type), false))
  return changed ? columnType(text) : type
}

function printScalar({ name, parameters, text }: Scalar): string {
  const inner = text === undefined ? parameters.join(',') : quoted(text)
  return inner === '' ? name : `${name}(${inner})`
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Whether a scalar of it, or of what it holds, has a name that `is` wants. */
export function hasScalar(tree: TypeTree, is: (name: string) => boolean): boolean {
  if (tree.is === 'scalar') return is(tree.name)
  if (tree.is === 'enum') return false
  if (tree.is === 'list') return hasScalar(tree.element, is)
  if (tree.is === 'map') return hasScalar(tree.key, is) || hasScalar(tree.value, is)
  return [...tree.fields.values()].some((field) => hasScalar(field, is))
}

const VARCHAR: Scalar = { is: 'scalar', name: 'VARCHAR', parameters: [] }
const WIDEST_INTEGER: Scalar = { is: 'scalar', name: 'DECIMAL', parameters: [38, 0] }
const TIMESTAMP: Scalar = { is: 'scalar', name: 'TIMESTAMP', parameters: [] }

/**
 * How columns are stored in a lake. Parquet has no type for some of the engine's, and DuckLake changes the values of some
 * of them without a word: an integer of 128 bits becomes a DOUBLE, an INTERVAL loses its microseconds. Such a column is
 * stored under another type, from which a cast gives back each value exactly.
 */
const storedScalars: ReadonlyMap<string, Scalar> = new Map([
  ['HUGEINT', WIDEST_INTEGER],
  ['UHUGEINT', WIDEST_INTEGER],
  ['INTERVAL', VARCHAR],
  ['TIME WITH TIME ZONE', VARCHAR],
  ['TIMETZ', VARCHAR],
  ['TIME_NS', VARCHAR],
  ['BIT', VARCHAR],
  ['BIGNUM', VARCHAR],
  ['TIMESTAMP_S', TIMESTAMP],
])

/**
 * The type that a column of this type has in a lake: this one, another one, or null where there is none, for UNION. In
 * another one the names of fields are in quotes, as DuckDB spells them only where they need it.
 */
export function storedType(type: ColumnType): ColumnType | null {
  const tree = parseType(type)
  const stored = storedTree(tree)
  if (stored === null) return null
  return stored === tree ? type : columnType(printType(stored))
}

/** The type that a column has in a database file, which keeps no reference system of a GEOMETRY. */
export const withoutSystems = (type: ColumnType): ColumnType =>
  columnType(type.replaceAll(/GEOMETRY\('[^']*'\)/g, 'GEOMETRY'))

/** The same tree where nothing in it changes. */
function storedTree(tree: TypeTree): TypeTree | null {
  switch (tree.is) {
    case 'scalar':
      // A GEOMETRY would lose its reference system, which is a part of its type.
      if (tree.text !== undefined) return { is: 'scalar', name: tree.name, parameters: [] }
      return storedScalars.get(tree.name) ?? tree
    case 'enum':
      return VARCHAR
    case 'union':
      return null
    case 'list': {
      const element = storedTree(tree.element)
      if (element === null) return null
      const isSame = element === tree.element && tree.length === null
      return isSame ? tree : { is: 'list', element, length: null }
    }
    case 'map': {
      const [key, value] = [storedTree(tree.key), storedTree(tree.value)]
      if (key === null || value === null) return null
      return key === tree.key && value === tree.value ? tree : { is: 'map', key, value }
    }
    case 'struct': {
      const fields = new Map<string, TypeTree>()
      for (const [name, field] of tree.fields) {
        const stored = storedTree(field)
        if (stored === null) return null
        fields.set(name, stored)
      }
      const isSame = Array.from(fields).every(([name, field]) => field === tree.fields.get(name))
      return isSame ? tree : { is: 'struct', fields }
    }
  }
}

/**
 * A value of `type` as it is stored; a value that its stored form would not give back is an error of the engine. `name`
 * is the column that the error names.
 */
export function asStored(value: Sql, type: ColumnType, name: string): Sql {
  const stored = storedType(type)
  if (stored === null) throw new Error(`a lake has no type for ${type}`)
  if (stored === type) return value
  const cast = sql`CAST(${value} AS ${sql.type(stored)})`
  if (!hasScalar(parseType(type), (scalar) => scalar === 'INTERVAL')) return cast
  const message = `the column ${name} has an INTERVAL that a lake cannot store: converting it to a string and back would change it`
  return sql`CASE WHEN ${isGivenBack(value, type)} THEN ${cast} ELSE error(${sql.value(message)}) END`
}

/** Whether the stored form of a value of `type` gives it back. */
export function isGivenBack(value: Sql, type: ColumnType): Sql {
  const stored = storedType(type)
  if (stored === null) throw new Error(`a lake has no type for ${type}`)
  const back = sql`TRY_CAST(TRY_CAST(${value} AS ${sql.type(stored)}) AS ${sql.type(type)})`
  return sql`(${back} IS NOT DISTINCT FROM ${value})`
}

/** What is stored as a value of `type` again. */
export function fromStored(value: Sql, type: ColumnType): Sql {
  return storedType(type) === type ? value : sql`CAST(${value} AS ${sql.type(type)})`
}
