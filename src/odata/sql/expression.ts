// A bound expression as SQL.
//
// OData compares by two-valued logic: `null eq null` is true, `null gt 1` is false and `not (null gt 1)` is true.
// DuckDB returns NULL for all of them. Where only the truth of a condition matters, at the top of a filter and below
// `and` and `or`, NULL is as good as false and DuckDB's plain operators do, at two to four times the speed. Below
// `not` and wherever a value is needed, `exact` is required.

import { byKind } from '../../core/by-kind.ts'
import { orderSql, relationSql } from './relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import {
  type Constant,
  type Expression,
  type ItemSource,
  type RowSource,
  typeOf,
} from '../bind/bound.ts'
import { BIGINT, VARCHAR } from './engine-types.ts'
import { isLongList } from '../bind/size.ts'
import { isFloat } from '../edm/numbers.ts'
import { printCall } from './functions.ts'
import { nodesSql } from './hierarchy.ts'
import { totalSql } from './aggregate.ts'
import { clampSql } from './temporal-range.ts'
import { rowsWithSql } from './visible-rows.ts'
import type { EdmType } from '../edm/types.ts'
import type { Property } from '../edm/model.ts'

type Compare = Expression & { readonly kind: 'compare' }

/** A boolean expression whose NULL may count as false. */
export function conditionSql(expression: Expression): Sql {
  switch (expression.kind) {
    case 'logical':
      return logicalSql(expression.operator, expression.operands.map(conditionSql))
    case 'compare':
      return compareSql(expression, false)
    case 'in':
      return inSql(expression)
    case 'isNode':
      return sql`${valueSql(expression.value)} IN (${nodesSql(expression.nodes)})`
    default:
      return booleanSql(expression)
  }
}

/** An expression with exactly the value, or the NULL, that OData defines. */
export const valueSql: (expression: Expression) => Sql = byKind({
  null: () => sql`NULL`,
  constant: (constant) => constantSql(constant),
  property: ({ row, property }) => columnSql(row.alias, property),
  cast: ({ operand, type }) => castSql(valueSql(operand), type),
  compare: (compare) => compareSql(compare, true),
  in: (among) => sql`coalesce(${inSql(among)}, FALSE)`,
  logical: ({ operator, operands }) => logicalSql(operator, operands.map(booleanSql)),
  not: ({ operand }) => notSql(operand),
  call: (call) => inOneUnit(printCall(call, call.operands.map(valueSql)), call.type),
  case: (cases) => caseSql(cases),
  member({ of, name, type }) {
    const part = sql`(${valueSql(of)}).${sql.ident(name)}`
    return neverNull(inOneUnit(part, type), type)
  },
  item: ({ alias }) => sql.ident(alias, ITEM),
  array: ({ items, type }) => castSql(sql`[${sql.join(items.map(valueSql))}]`, type),
  object() {
    throw new Error('an object was not taken apart')
  },
  items: (items) => itemsSql(items),
  related({ source, value }) {
    const found = sql`(SELECT first(${valueSql(value)}) ${sourceSql(source)})`
    return value.kind === 'exists'
      ? sql`coalesce(${found}, FALSE)`
      : neverNull(found, typeOf(value)!)
  },
  nth({ source, order, place, value }) {
    const items = sql.join(order.map((item) => orderItemSql(item.value, item.descending)))
    return sql`(SELECT ${valueSql(value)} ${sourceSql(source)} ORDER BY ${items} LIMIT 1 OFFSET ${sql.value(place, BIGINT)})`
  },
  gathered: (gathered) => gatheredSql(gathered),
  total(total) {
    const value = total.value === null ? sql.empty : valueSql(total.value)
    return sql`(SELECT ${totalSql(total, value)} ${sourceSql(total.source)})`
  },
  rowNumber: ({ order }) => sql`row_number() OVER (${orderSql(order)})`,
  count: ({ source, condition }) =>
    sql`(SELECT count(*) ${sourceSql(source)}${andSql(condition, conditionSql)})`,
  exists: (exists) => existsSql(exists),
  reached: (reached) => reachedSql(reached),
  isNode: ({ value, nodes }) => sql`coalesce(${valueSql(value)} IN (${nodesSql(nodes)}), FALSE)`,
})

/** A property in the rows of that alias. */
export function columnSql(alias: string, { column, type, clamped }: Property): Sql {
  const stored = sql.ident(alias, column.name)
  const value = column.type === type.engine ? stored : readAs(stored, column.type, type, clamped)
  return clamped ? clampSql(value, type) : neverNull(inOneUnit(value, type), type)
}

/** In UTC both are the same number; a cast asks the calendar of the zone for each row, which takes six times as long. */
function readAs(stored: Sql, from: string, type: EdmType, clamped: boolean): Sql {
  const isPoint = from === 'TIMESTAMP WITH TIME ZONE' && type.engine === 'TIMESTAMP'
  // Only a number that is finite comes back.
  return isPoint && !clamped ? sql`make_timestamp(epoch_us(${stored}))` : castSql(stored, type)
}

/**
 * DuckDB counts months, days and microseconds of an INTERVAL separately, and takes `1 day -00:00:01` for another value
 * than `23:59:59`. It is read as what is served of it, its microseconds.
 */
function inOneUnit(value: Sql, type: EdmType): Sql {
  if (type.name === 'Edm.Duration') return sql`to_microseconds(epoch_us(${value}))`
  const isList = type.kind === 'collection' && type.item.name === 'Edm.Duration'
  return isList
    ? sql`list_transform(${value}, lambda each: to_microseconds(epoch_us(each)))`
    : value
}

/** A collection is empty where DuckDB has NULL. */
const neverNull = (value: Sql, { kind }: EdmType): Sql =>
  kind === 'collection' ? sql`coalesce(${value}, [])` : value

const INDEX = sql.ident('index')

function itemsSql(expression: Expression & { readonly kind: 'items' }): Sql {
  const { source, condition, order, skip, top } = expression
  const alias = sql.ident(source.alias)
  const list = valueSql(source.list)
  const numbered = sql`SELECT unnest(${list}) AS ${sql.ident(ITEM)}, generate_subscripts(${list}, 1) AS ${INDEX}`
  const items = order.map(({ value, descending }) => sql`${orderItemSql(value, descending)}, `)
  const limit = top === null ? sql.empty : sql` LIMIT ${sql.value(top, BIGINT)}`
  const chosen = sql`SELECT ${alias}.${sql.ident(ITEM)},
      row_number() OVER (ORDER BY ${sql.join(items, sql.empty)}${alias}.${INDEX}) AS place
    FROM (${numbered}) AS ${alias} WHERE TRUE${andSql(condition, conditionSql)}
    ORDER BY place${limit} OFFSET ${sql.value(skip, BIGINT)}`
  return sql`(SELECT coalesce(list(${sql.ident(ITEM)} ORDER BY place), []) FROM (${chosen}))`
}

/** Nulls come first ascending and last descending (Protocol 11.2.6.2). */
export const orderItemSql = (value: Expression, descending: boolean): Sql =>
  descending ? sql`${valueSql(value)} DESC NULLS LAST` : sql`${valueSql(value)} ASC NULLS FIRST`

function caseSql({ branches, type }: Expression & { readonly kind: 'case' }): Sql {
  const whens = branches.map(
    ({ condition, value }) => sql`WHEN ${conditionSql(condition)} THEN ${valueSql(value)} `,
  )
  return castSql(sql`CASE ${sql.join(whens, sql.empty)}END`, type)
}

const ITEM = 'item'

function gatheredSql({ sources, key, value }: Expression & { readonly kind: 'gathered' }): Sql {
  const fields = key.map((part, i) => sql`${sql.ident(`k${i}`)} := ${valueSql(part)}, `)
  const tables = sources.map(sourceTable)
  return sql`(SELECT list(struct_pack(${sql.join(fields, sql.empty)}v := ${valueSql(value)}))
    FROM ${sql.join(tables)} WHERE ${sql.all(sources.map(linkedSql))})`
}

const linkedSql = ({ row, link, key }: RowSource): Sql => {
  const linked =
    link === null ? sql`TRUE` : sql`${columnSql(row.alias, link.theirs)} = ${valueSql(link.ours)}`
  return sql`${linked}${andSql(key, conditionSql)}`
}

/** FROM and WHERE. The key of a set is unique by promise only, so nothing here relies on it. */
function sourceSql(source: RowSource | ItemSource): Sql {
  if (source.kind === 'items')
    return sql`FROM (SELECT unnest(${valueSql(source.list)}) AS ${sql.ident(ITEM)}) AS ${sql.ident(source.alias)} WHERE TRUE`
  return sql`FROM ${sourceTable(source)} WHERE ${linkedSql(source)}`
}

const sourceTable = ({ row, relation = { kind: 'set', set: row.set } }: RowSource) =>
  sql`${relationSql(relation)} AS ${sql.ident(row.alias)}`

const andSql = (condition: Expression | null, print: (condition: Expression) => Sql) =>
  condition === null ? sql.empty : sql` AND ${print(condition)}`

/**
 * DuckDB computes the one value first and reads only the rows that may have it. As a semi-join it reads the whole
 * table: 170 ms against 5 ms for the orders of one customer among three million.
 */
function reachedSql(expression: Expression & { readonly kind: 'reached' }): Sql {
  const { row, condition, ours, theirs } = expression
  const from = sql`FROM ${rowsWithSql(row.set, condition, [ours])} AS ${sql.ident(row.alias)}`
  return sql`(${valueSql(theirs)} = (SELECT first(${valueSql(ours)}) ${from} WHERE ${conditionSql(condition)}))`
}

function existsSql(expression: Expression & { readonly kind: 'exists' }): Sql {
  const rows = sourceSql(expression.source)
  if (expression.quantifier === 'any')
    return sql`EXISTS (SELECT 1 ${rows}${andSql(expression.condition, conditionSql)})`
  const fails = (condition: Expression) => sql`${booleanSql(condition)} IS NOT TRUE`
  // NOT binds less tightly than the comparisons that this may be an operand of.
  return sql`(NOT EXISTS (SELECT 1 ${rows}${andSql(expression.condition, fails)}))`
}

const castSql = (value: Sql, type: EdmType) => sql`CAST(${value} AS ${sql.type(type.engine)})`

/** NOT and AND need to know that a bare NULL is a boolean. */
const booleanSql = (expression: Expression) =>
  expression.kind === 'null' ? sql`CAST(NULL AS BOOLEAN)` : valueSql(expression)

function constantSql({ type, value }: Constant): Sql {
  if (type.name === 'Edm.Binary') return sql`unhex(${sql.value(value)})`
  if (type.name === 'Edm.String') return sql.value(value, VARCHAR)
  if (type.name === 'Edm.Boolean') return value === 'true' ? sql`TRUE` : sql`FALSE`
  return sql.value(value, type.engine)
}

/** DuckDB plans an order that is NULL and one that is false faster as the same than if it is made false first. */
function notSql(operand: Expression): Sql {
  const isOrder = operand.kind === 'compare' && !['eq', 'ne'].includes(operand.operator)
  return isOrder ? sql`(${conditionSql(operand)} IS NOT TRUE)` : sql`(NOT ${booleanSql(operand)})`
}

function logicalSql(operator: 'and' | 'or', operands: readonly Sql[]): Sql {
  return sql`(${sql.join(operands, operator === 'and' ? sql` AND ` : sql` OR `)})`
}

function inSql({ operand, list }: Expression & { readonly kind: 'in' }): Sql {
  const items = isLongList(list) ? longListSql(list) : null
  return sql`${valueSql(operand)} IN (${items ?? sql.join(list.map(constantSql))})`
}

/**
 * The list as one value, which DuckDB takes apart: 6,000 numbers take it 5 ms, and as separate values 110 ms.
 * null when a value contains the separator of values.
 */
function longListSql(list: readonly Constant[]): Sql | null {
  const [{ type }] = list as readonly [Constant]
  const values = list.map(({ value }) => value)
  if (type.name === 'Edm.String') {
    if (values.some((value) => value.includes(SEPARATOR))) return null
    return sql`SELECT unnest(string_split(${sql.value(values.join(SEPARATOR), VARCHAR)}, ${sql.value(SEPARATOR)}))`
  }
  const isPlain = list.every((item) => item.type.engine === type.engine && PLAIN.test(item.value))
  if (type.name === 'Edm.Binary' || !isPlain) return null
  return sql`SELECT unnest(CAST(${sql.value(`[${values.join(', ')}]`)} AS ${sql.type(type.engine)}[]))`
}

/** What ASCII has for this. */
const SEPARATOR = '\u001f'

/** Numbers, dates and times, GUIDs. */
const PLAIN = /^[-+.: \w]+$/

const operatorSql = { gt: sql`>`, ge: sql`>=`, lt: sql`<`, le: sql`<=` } as const

function compareSql({ operator, left, right }: Compare, exact: boolean): Sql {
  const a = valueSql(left)
  if (right.kind === 'null')
    return operator === 'eq' ? sql`(${a} IS NULL)` : sql`(${a} IS NOT NULL)`
  const b = valueSql(right)
  if (operator === 'eq' || operator === 'ne') {
    const nan = mayBeNaN(left) && mayBeNaN(right) ? a : null
    if (operator === 'ne')
      return nan === null
        ? sql`(${a} IS DISTINCT FROM ${b})`
        : sql`(${a} IS DISTINCT FROM ${b} OR coalesce(isnan(${nan}), FALSE))`
    if (nan !== null)
      return sql`(${a} IS NOT DISTINCT FROM ${b} AND NOT coalesce(isnan(${nan}), FALSE))`
    const isPlain = !exact && right.kind === 'constant'
    return isPlain ? sql`(${a} = ${b})` : sql`(${a} IS NOT DISTINCT FROM ${b})`
  }
  // DuckDB sorts NaN above all numbers; to OData it is neither greater nor less.
  const isGreater = operator === 'gt' || operator === 'ge'
  const [above, aboveSql] = isGreater ? [left, a] : [right, b]
  const plain = sql`${a} ${operatorSql[operator]} ${b}`
  const compared = mayBeNaN(above) ? sql`(${plain} AND NOT isnan(${aboveSql}))` : sql`(${plain})`
  return exact ? sql`coalesce(${compared}, FALSE)` : compared
}

/** A literal NaN does not get this far: comparisons with it are bound to what they always are. */
const mayBeNaN = (expression: Expression) =>
  expression.kind !== 'constant' && mayBeFloat(expression)

/** Implements CopiesOf of bind/size.ts. */
export function copiesOf(expression: Expression): readonly number[] {
  const shape = shapeOf(expression)
  if (shape === null) return ONCE
  let copies = counted.get(shape)
  if (copies === undefined) counted.set(shape, (copies = countCopies(expression)))
  return copies
}

const ONCE: readonly number[] = []

/** By shape: there are some hundred of them, however many requests there are. */
const counted = new Map<string, readonly number[]>()

/** What the SQL around the operands depends on; null where each is written once. */
function shapeOf(expression: Expression): string | null {
  switch (expression.kind) {
    case 'call': {
      const { name, operands, type } = expression
      return name === 'cast' ? `cast ${typeOf(operands[0]!)!.name} ${type.name}` : name
    }
    case 'compare':
      return mayBeFloat(expression.left) ? `${expression.operator} of floats` : null
    case 'items':
      return 'items'
    default:
      return null
  }
}

function mayBeFloat(expression: Expression): boolean {
  const type = typeOf(expression)
  return type !== null && isFloat(type)
}

/** Prints it with marks in the place of its operands. */
function countCopies(expression: Expression): readonly number[] {
  switch (expression.kind) {
    case 'call': {
      const operands = expression.operands.map(markOf)
      return marksIn({ ...expression, operands }, operands.length)
    }
    case 'compare': {
      const [left, right] = [markOf(expression.left, 0), markOf(expression.left, 1)]
      return marksIn({ ...expression, left, right }, 2)
    }
    case 'items': {
      const source = { ...expression.source, list: markOf(expression.source.list, 0) }
      return marksIn({ ...expression, source, condition: null, order: [] }, 1)
    }
    default:
      return ONCE
  }
}

/** A value of the same type, with a name that no request can give. */
const markOf = (operand: Expression, place: number): Expression => ({
  kind: 'item',
  type: typeOf(operand)!,
  alias: `operand ${place}`,
})

function marksIn(expression: Expression, operands: number): readonly number[] {
  const text = valueSql(expression).inline()
  return Array.from(
    { length: operands },
    (_, place) => text.split(`"operand ${place}"."item"`).length - 1,
  )
}
