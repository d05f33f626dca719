// What can be asked about a column, by its type in OData.

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

export function kindOf({ edm, isList }: TypedColumn): ColumnKind {
  return isList ? 'list' : (kinds[edm] ?? 'struct')
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
