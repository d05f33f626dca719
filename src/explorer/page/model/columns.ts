// What can be asked about a column, by its type in OData; and its name in the expressions of a request.

import type { Property } from './schema.ts'

export type ColumnKind =
  'number' | 'time' | 'text' | 'boolean' | 'id' | 'duration' | 'clock' | 'bytes' | 'list' | 'struct'

const kinds: Readonly<Record<string, ColumnKind>> = {
  'Edm.Byte': 'number',
  'Edm.SByte': 'number',
  'Edm.Int16': 'number',
  'Edm.Int32': 'number',
  'Edm.Int64': 'number',
  'Edm.Decimal': 'number',
  'Edm.Single': 'number',
  'Edm.Double': 'number',
  'Edm.Date': 'time',
  'Edm.DateTimeOffset': 'time',
  'Edm.String': 'text',
  'Edm.Boolean': 'boolean',
  'Edm.Guid': 'id',
  'Edm.Duration': 'duration',
  'Edm.TimeOfDay': 'clock',
  'Edm.Binary': 'bytes',
}

export interface TypedColumn {
  readonly name: string
  /** Primitive, such as Edm.Int64; of a list the type of its items. Any other name is that of a struct. */
  readonly edm: string
  readonly isList: boolean
  /** Digits after the point of an Edm.Decimal. */
  readonly scale: number | undefined
}

export function kindOf({ edm, isList }: Pick<TypedColumn, 'edm' | 'isList'>): ColumnKind {
  return isList ? 'list' : (kinds[edm] ?? 'struct')
}

/** Edm.Decimal(12,2) as people say it. */
export function shortType({ edm, isList, precision, scale }: Property): string {
  const digits =
    edm === 'Edm.Decimal' && precision !== undefined ? `(${precision},${scale ?? 0})` : ''
  const name = edm === 'Edm.Untyped' ? 'struct' : edm.replace('Edm.', '') + digits
  return isList ? `list of ${name}` : name
}

/** Whether all values are whole numbers. */
export function isIntegral({ edm, scale }: TypedColumn): boolean {
  return edm === 'Edm.Decimal' ? scale === 0 : /^Edm\.(?:S?Byte|Int)/.test(edm)
}

/** Whether values may be NaN or infinite, which no histogram has a place for. */
export function isFloating({ edm }: TypedColumn): boolean {
  return edm === 'Edm.Double' || edm === 'Edm.Single'
}

/** Whether a time has hours, and is not a date alone. */
export function hasTime({ edm }: TypedColumn): boolean {
  return edm === 'Edm.DateTimeOffset'
}

const literals = new Set(['null', 'true', 'false', 'INF', 'NaN'])

/** A column as an expression. One that has the name of a literal would be read as that, and is not grouped by. */
export function pathTo(name: string): string {
  return literals.has(name) ? `$it/${name}` : name
}

/** Names that neither a column nor a name given before has. */
export function freeNames(taken: Iterable<string>): (wanted: string) => string {
  const all = new Set(taken)
  return (wanted) => {
    let name = wanted
    for (let i = 2; all.has(name); i += 1) name = `${wanted}${i}`
    all.add(name)
    return name
  }
}

/** The value at a path in a row of an answer; an entity that is not there has none. */
export function valueAt(row: Readonly<Record<string, unknown>>, path: string): unknown {
  let value: unknown = row
  for (const name of path.split('/')) {
    if (value === null || typeof value !== 'object') return null
    value = (value as Record<string, unknown>)[name]
  }
  return value ?? null
}
