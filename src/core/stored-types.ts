// How columns are stored in a lake. Parquet has no type for some of the engine's, and DuckLake changes the values of some
// of them without a word: an integer of 128 bits becomes a DOUBLE, an INTERVAL loses its microseconds. Such a column is
// stored under another type, from which a cast gives back each value exactly.

import { type ColumnType, columnType } from './relation.ts'
import { type Sql, sql } from './sql.ts'
import { hasScalar, parseType, printType, type Scalar, type TypeTree } from './type-syntax.ts'

const VARCHAR: Scalar = { is: 'scalar', name: 'VARCHAR', parameters: [] }
const WIDEST_INTEGER: Scalar = { is: 'scalar', name: 'DECIMAL', parameters: [38, 0] }
const TIMESTAMP: Scalar = { is: 'scalar', name: 'TIMESTAMP', parameters: [] }

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
