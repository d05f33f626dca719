// Two small tables full of NULLs and of values at the edges, for the engine as SQL and for the reference as values.

import { columnType } from '../../../src/core/relation.ts'
import { type Sql, sql } from '../../../src/core/sql.ts'
import type { Table } from '../../support/snapshot-files.ts'
import {
  column,
  type Expression,
  type Names,
  type Row,
  type Scope,
  type Type,
} from './expression.ts'
import { cellValue } from './cell-value.ts'
import type { Exact } from './values.ts'

interface Column {
  readonly name: string
  readonly engine: string
  readonly type: Type
  readonly whole?: number
  readonly scale?: number
  /** As the engine casts them from text; null for NULL. */
  readonly cells: readonly (string | null)[]
}

const rowColumns: readonly Column[] = [
  {
    name: 'row_id',
    engine: 'INTEGER',
    type: 'int',
    cells: ['1', '2', '3', '4', '5', '6', '7', '8'],
  },
  {
    name: 'i',
    engine: 'INTEGER',
    type: 'int',
    cells: ['7', '-2', null, '0', '2147483647', '-2147483648', '1', null],
  },
  {
    name: 'b',
    engine: 'BIGINT',
    type: 'int',
    cells: [
      '9007199254740993',
      null,
      '0',
      '-9223372036854775808',
      '9223372036854775807',
      '3',
      '-1',
      '12',
    ],
  },
  {
    name: 's',
    engine: 'SMALLINT',
    type: 'int',
    cells: ['5', '32767', '-32768', null, '0', '1', '127', null],
  },
  {
    name: 'n',
    engine: 'DECIMAL(18,4)',
    type: 'decimal',
    whole: 14,
    scale: 4,
    cells: ['2.5', '-2.5', '0', '99999999999999.9999', null, '0.0001', '-10.25', null],
  },
  {
    name: 'd',
    engine: 'DOUBLE',
    type: 'double',
    cells: ['1.5', 'NaN', '-inf', 'inf', null, '-0.5', '2.5', '1e300'],
  },
  {
    name: 't',
    engine: 'VARCHAR',
    type: 'text',
    cells: ['Straße 😀', '', null, "O'Neil", 'a%b_c', '\u00a0 pad\t', 'ÄÖ', 'zz'],
  },
  {
    name: 'v',
    engine: 'VARCHAR',
    type: 'text',
    cells: ['a', 'A', '😀', null, '\u0085x\u000b', 'O', 'ß', '\u3000'],
  },
  {
    name: 'flag',
    engine: 'BOOLEAN',
    type: 'bool',
    cells: ['true', 'false', null, 'true', 'false', null, 'true', 'false'],
  },
  {
    name: 'dt',
    engine: 'DATE',
    type: 'day',
    cells: [
      '2024-02-29',
      '0001-01-01',
      '9999-12-31',
      null,
      '1970-01-01',
      '1969-12-31',
      '2000-03-01',
      null,
    ],
  },
  {
    name: 'ts',
    engine: 'TIMESTAMP',
    type: 'instant',
    cells: [
      '2024-02-29 10:30:00',
      '0001-01-01 00:00:00',
      '9999-12-31 23:59:59.999999',
      null,
      '1970-01-01 00:00:00',
      '1969-12-31 23:59:59.5',
      '2000-02-29 00:00:00.000001',
      null,
    ],
  },
  {
    name: 'tod',
    engine: 'TIME',
    type: 'clock',
    cells: [
      '10:30:00',
      '00:00:00',
      '23:59:59.999999',
      null,
      '00:00:00.5',
      '12:34:56.789',
      null,
      '01:02:03',
    ],
  },
  {
    name: 'du',
    engine: 'INTERVAL',
    type: 'duration',
    cells: [
      '90 seconds',
      '-1 days',
      null,
      '0 seconds',
      '26 hours',
      '1 microseconds',
      '3 days',
      null,
    ],
  },
  {
    name: 'g',
    engine: 'UUID',
    type: 'guid',
    cells: [
      '01234567-89ab-cdef-0123-456789abcdef',
      null,
      'ffffffff-ffff-ffff-ffff-ffffffffffff',
      '00000000-0000-0000-0000-000000000000',
      null,
      null,
      null,
      null,
    ],
  },
]

const partColumns: readonly Column[] = [
  { name: 'part_id', engine: 'INTEGER', type: 'int', cells: ['1', '2', '3', '4', '5', '6', '7'] },
  { name: 'row_id', engine: 'INTEGER', type: 'int', cells: ['1', '1', '2', '99', null, '4', '4'] },
  { name: 'qty', engine: 'INTEGER', type: 'int', cells: ['1', null, '0', '5', '-3', '7', '7'] },
  { name: 'label', engine: 'VARCHAR', type: 'text', cells: ['a', 'ß', null, '', 'A', 'zz', null] },
  {
    name: 'price',
    engine: 'DECIMAL(9,2)',
    type: 'decimal',
    whole: 7,
    scale: 2,
    cells: ['1.50', '-0.01', null, '9999999.99', '0', '2.50', '2.50'],
  },
  {
    name: 'made',
    engine: 'DATE',
    type: 'day',
    cells: ['2024-02-29', null, '1970-01-01', '2000-01-01', '0001-01-01', '9999-12-31', null],
  },
]

const rowsOf = (columns: readonly Column[]): readonly Row[] =>
  columns[0]!.cells.map((_, i) =>
    Object.fromEntries(columns.map((each) => [each.name, cellValue(each.type, each.cells[i]!)])),
  )

function sqlOf(columns: readonly Column[]): Sql {
  const lines = columns[0]!.cells.map((_, i) => {
    const cells = columns.map(
      ({ name, engine, cells: all }) =>
        sql`CAST(${sql.value(all[i]!)} AS ${sql.type(columnType(engine))}) AS ${sql.ident(name)}`,
    )
    return sql`SELECT ${sql.join(cells)}`
  })
  return sql.join(lines, sql` UNION ALL `)
}

export const rows = rowsOf(rowColumns)
export const parts = rowsOf(partColumns)

export const tables: readonly Table[] = [
  { model: 't.rows', key: ['row_id'], rows: sqlOf(rowColumns) },
  { model: 't.parts', key: ['part_id'], rows: sqlOf(partColumns) },
]

const namesOf = (columns: readonly Column[], prefix: string, rowOf: (scope: Scope) => Row | null) =>
  columns.map(({ name, type, scale = 0, whole }): Expression =>
    column(type, `${prefix}${name}`, (scope) => rowOf(scope)?.[name] ?? null, scale, whole),
  )

const partsOf = (scope: Scope) =>
  parts.filter(
    ({ row_id: id }) => JSON.stringify(id, text) === JSON.stringify(scope.row['row_id'], text),
  )
const text = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)

/**
 * Whether it is true for each of the related rows. What cannot be had for a row that is not related counts too: the
 * engine may work that out before it knows.
 */
function trueFor(condition: Expression, scope: Scope): readonly boolean[] {
  for (const inner of parts) condition.value({ row: scope.row, inner })
  return partsOf(scope).map((inner) => condition.value({ row: scope.row, inner }) === true)
}

/** Within a lambda, names without a variable are still those of the row outside. */
const insideLambda: Names = {
  columns: [
    ...namesOf(partColumns, 'p/', (scope) => scope.inner),
    ...namesOf(rowColumns, '', (scope) => scope.row),
  ],
  related: [],
  inside: null,
}

export const namesOfRows: Names = {
  columns: namesOf(rowColumns, '', (scope) => scope.row),
  inside: insideLambda,
  related: [
    (inside: () => Expression) => {
      const condition = inside()
      return column('bool', `parts/any(p:${condition.text})`, (scope) =>
        trueFor(condition, scope).includes(true),
      )
    },
    (inside: () => Expression) => {
      const condition = inside()
      return column(
        'bool',
        `parts/all(p:${condition.text})`,
        (scope) => !trueFor(condition, scope).includes(false),
      )
    },
    () => column('bool', 'parts/any()', (scope) => partsOf(scope).length > 0),
    () => column('bool', '(parts/$count gt 1)', (scope) => partsOf(scope).length > 1),
  ],
}

const rowOfPart = ({ row }: Scope): Row | null => {
  const id = row['row_id'] as Exact | null
  return (
    rows.find(({ row_id: other }) => id !== null && (other as Exact).units === id.units) ?? null
  )
}

export const namesOfParts: Names = {
  columns: [
    ...namesOf(partColumns, '', (scope) => scope.row),
    ...namesOf(rowColumns, 'row/', rowOfPart),
  ],
  related: [],
  inside: null,
}
