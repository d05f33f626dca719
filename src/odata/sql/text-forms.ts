// Which texts are values of a type: those of the rules in OData's ABNF, by which values are written in JSON and in URLs.
// DuckDB reads many more, such as 0x10, 1_000 or `yes`, and a time with the name of a zone, which it would keep for later
// rows that have none.

import { type Sql, sql } from '../../core/sql.ts'
import type { EdmName } from '../edm/types.ts'

const INTEGER = '[-+]?\\d+'
const DECIMAL = '[-+]?\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?'
const FLOAT = `${DECIMAL}|NaN|-?INF`
const DATE = '\\d{4}-\\d\\d-\\d\\d'
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,12})?)?'
const OFFSET = '[Zz]|[-+](?:(?:0\\d|1[0-3]):[0-5]\\d|14:00)'

const forms: Partial<Record<EdmName, string>> = {
  'Edm.Boolean': '(?i:true|false)',
  'Edm.Byte': INTEGER,
  'Edm.Date': DATE,
  'Edm.DateTimeOffset': `${DATE}[Tt]${TIME}(?:${OFFSET})`,
  'Edm.Decimal': DECIMAL,
  'Edm.Double': FLOAT,
  'Edm.Guid': '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
  'Edm.Int16': INTEGER,
  'Edm.Int32': INTEGER,
  'Edm.Int64': INTEGER,
  'Edm.SByte': INTEGER,
  'Edm.Single': FLOAT,
  'Edm.TimeOfDay': TIME,
}

/** `value`, which is made of `text`, where the text has the form of the type; else NULL. */
export function formedSql(text: Sql, name: EdmName, value: Sql): Sql {
  const form = forms[name]
  if (form === undefined) throw new Error(`${name} has no form that is checked`)
  return sql`CASE WHEN regexp_full_match(${text}, ${sql.value(form)}) THEN ${value} END`
}

/** The text of a date and time that has their form, in the words of DuckDB: with seconds, and with capitals. */
export const momentSql = (text: Sql): Sql =>
  sql`regexp_replace(upper(${text}), '^(.{16})([^:])', '\\1:00\\2')`
