// Rows in the types that a sheet of Excel has. A GUID, bytes, a duration, objects and collections are texts, as in
// JSON; a place is one as in CSV.

import { type Sql, sql } from '../../core/sql.ts'
import type { CellType, SheetColumn } from '../../core/xlsx/cells.ts'
import type { OutputProperty } from '../bind/bound-request.ts'
import { isGeoName } from '../edm/geo.ts'
import type { EdmType } from '../edm/types.ts'
import { placeTextSql } from './geo.ts'
import { asDigits, jsonTextSql } from './json-value.ts'

/** The columns of a sheet, for rows whose columns are named as in `output` and have the DuckDB types of its EdmTypes. */
export const sheetColumns = (output: readonly OutputProperty[]): readonly SheetColumn[] =>
  output.map(({ name, path = [name], type }) => {
    const cell = cellType(type)
    const value = sql.ident('page', name)
    return {
      name: path.join('/'),
      type: cell,
      value: cell.kind === 'text' ? textSql(value, type) : value,
    }
  })

export const rowCountSql = (rows: Sql): Sql => sql`SELECT ${asDigits(sql`count(*)`)} FROM (${rows})`

const cellTypes: Readonly<Partial<Record<string, CellType>>> = {
  'Edm.Boolean': { kind: 'boolean' },
  'Edm.Byte': { kind: 'integer' },
  'Edm.SByte': { kind: 'integer' },
  'Edm.Int16': { kind: 'integer' },
  'Edm.Int32': { kind: 'integer' },
  'Edm.Int64': { kind: 'long-integer' },
  'Edm.Double': { kind: 'float' },
  'Edm.Single': { kind: 'float' },
  'Edm.Date': { kind: 'date' },
  'Edm.TimeOfDay': { kind: 'time' },
  'Edm.DateTimeOffset': { kind: 'moment' },
}

const cellType = ({ name, precision, scale }: EdmType): CellType =>
  name === 'Edm.Decimal'
    ? { kind: 'decimal', precision: precision!, scale: scale! }
    : (cellTypes[name] ?? { kind: 'text' })

function textSql(value: Sql, type: EdmType): Sql {
  if (type.name === 'Edm.String') return value
  if (type.name === 'Edm.Guid') return asDigits(value)
  if (isGeoName(type.name)) return placeTextSql(value)
  const json = jsonTextSql(value, type)
  return type.kind === 'primitive' ? sql`replace(${json}, '"', '')` : json
}
