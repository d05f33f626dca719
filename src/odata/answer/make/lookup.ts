// Lookups: requests for rows by their keys, with what is stored in them. Their answers may come from a file.

import { limits } from '../../../core/limits.ts'
import type { BoundQuery, RowsRequest } from '../../bind/bound-request.ts'
import { conjunctsOf, type Constant, type Expression } from '../../bind/bound.ts'
import type { EntitySet, Property } from '../../edm/model.ts'
import type { EdmName } from '../../edm/types.ts'
import type { AnsweredLookup } from '../context.ts'
import type { ChosenExchange } from '../choose/representation.ts'
import { noEntity } from './found.ts'
import {
  StoredValues,
  type FindRow,
  followed,
  isComparedAsText,
  type WriteRow,
  writerOf,
} from './stored-rows.ts'

/** A row as a file has it, written as it is asked for: `,{…}`. */
export interface StoredRow {
  readonly row: Buffer
  /** The row that another key leads to; null where the engine is to be asked. */
  readonly rowOf: (key: readonly string[]) => Buffer | null
  readonly lookup: Pick<AnsweredLookup, 'snapshot' | 'set' | 'key'>
}

/** null where the engine is to be asked. Throws RequestError 404 for a key that no row has. */
export function rowFromFile(
  exchange: ChosenExchange,
  { query, parent }: RowsRequest,
): StoredRow | null {
  const { snapshot, chosen } = exchange
  if (!isInOrderOfKey(query)) return null
  const find = finder(exchange)
  const write = writerOf(query, chosen.json, find)
  const address = write === null ? null : addressOf(query, find)
  if (write === null || address === null) return null
  const { set, key, follow } = address
  const rowOf = (other: readonly string[]) => {
    const found = find(set, other)
    const row = found === null ? null : follow(found)
    return row === null ? null : write(row)
  }
  const row = rowOf(key)
  if (row !== null) return { row, rowOf, lookup: { snapshot, set, key } }
  const isOwnKey = parent === null && set === query.set && keyTexts(query) !== null
  if (isOwnKey && isMissing(exchange, set, key)) throw noEntity(query)
  return null
}

const finder =
  ({ service: { rowsByKey }, snapshot }: ChosenExchange): FindRow =>
  (set, key) =>
    rowsByKey.find({ snapshot, set, key })

/** Rows with the same key are in any order of that. */
const isInOrderOfKey = ({ order, set }: BoundQuery): boolean =>
  order.every(({ value }) => value.kind === 'property' && set.type.key.includes(value.property))

/** A row by its key, and where that leads. */
interface Address {
  readonly set: EntitySet
  readonly key: readonly string[]
  readonly follow: WriteRow
}

function addressOf(
  query: Pick<BoundQuery, 'set' | 'row' | 'filter'>,
  find: FindRow,
): Address | null {
  const { set, filter, row } = query
  const [first, ...more] = conjunctsOf(filter)
  if (first?.kind !== 'reached') {
    const key = keyTexts(query)
    return key && { set, key, follow: (found) => found }
  }
  const { condition, ours, theirs, row: parent } = first
  if (more.length > 0 || theirs.row.alias !== row.alias) return null
  const before = addressOf({ set: parent.set, row: parent, filter: condition }, find)
  const next = followed(ours.property, theirs.property, parent.set, set, find)
  if (before === null || next === null || ours.row.alias !== parent.alias) return null
  const follow: WriteRow = (found) => {
    const from = before.follow(found)
    return from === null ? null : next(new StoredValues(from))
  }
  return { ...before, follow }
}

/** All rows of a page of a set, written as they are asked for, and in their order. */
interface StoredPage {
  readonly rows: readonly Buffer[]
  /** Where rows with one key are asked for: those with another one; null where the engine is to be asked. */
  readonly rowsOf: (key: readonly string[]) => readonly Buffer[] | null
  readonly lookup: StoredRow['lookup'] | null
}

/** At most so many rows; null where the engine is to be asked. */
export function pageFromFile(
  exchange: ChosenExchange,
  { query, parent }: RowsRequest,
  most: number,
): StoredPage | null {
  const { snapshot, chosen, service } = exchange
  const { set, order } = query
  if (parent !== null || order.some(({ value }) => value.kind !== 'property')) return null
  const write = writerOf(query, chosen.json, finder(exchange))
  const keys = write === null ? null : keysOf(query)
  if (write === null || keys === null) return null
  const rowsOf = (asked: readonly (readonly string[])[]): readonly Buffer[] | null => {
    const found = new Map<number, Buffer>()
    for (const key of asked) {
      const rows = service.rowsByKey.findAll({ snapshot, set, key })
      if (rows === null && isMissing(exchange, set, key)) continue
      if (rows === null) return null
      for (const { row, start } of rows) found.set(start, row)
    }
    if (found.size > most || (found.size > 1 && order.length > 0)) return null
    const inOrder = Array.from(found).toSorted(([a], [b]) => a - b)
    const rows = inOrder.map(([, row]) => write(row))
    return rows.includes(null) ? null : (rows as readonly Buffer[])
  }
  const rows = rowsOf(keys)
  const [key, ...more] = keys as readonly [readonly string[]]
  // A page without rows says nothing of one with them.
  const lookup = more.length > 0 || rows?.length === 0 ? null : { snapshot, set, key }
  return rows && { rows, rowsOf: (other) => rowsOf([other]), lookup }
}

type Asked = Pick<BoundQuery, 'set' | 'row' | 'filter'>

/** The keys of the rows that are asked for, each the texts of its parts; null where anything else is asked of them. */
function keysOf(query: Asked): readonly (readonly string[])[] | null {
  const key = keyTexts(query)
  if (key !== null) return [key]
  const { type } = query.set
  const [part, ...parts] = type.key
  const [condition, ...conditions] = conjunctsOf(query.filter)
  if (part === undefined || parts.length > 0) return null
  if (condition === undefined || conditions.length > 0 || !isComparedAsText(part)) return null
  const values = valuesOf(part, condition, query)
  return values === null || values.length > limits.lookupsOfRequest
    ? null
    : values.map((value) => [textOf(value)])
}

/** One of these the property must be equal to. */
function valuesOf(part: Property, condition: Expression, asked: Asked): readonly Constant[] | null {
  if (condition.kind === 'in')
    return condition.list.every((value) => isOfPart(part, condition.operand, value, asked))
      ? condition.list
      : null
  if (condition.kind !== 'logical' || condition.operator !== 'or') return null
  const values = condition.operands.map((operand) =>
    operand.kind === 'compare' &&
    operand.operator === 'eq' &&
    operand.right.kind === 'constant' &&
    isOfPart(part, operand.left, operand.right, asked)
      ? operand.right
      : null,
  )
  return values.includes(null) ? null : (values as readonly Constant[])
}

const isOfPart = (part: Property, left: Expression, { type }: Constant, { row }: Asked): boolean =>
  left.kind === 'property' &&
  left.row.alias === row.alias &&
  left.property === part &&
  type.name === left.type.name

/** The texts of the key that the row must have, in the order of its parts; null where anything else is asked of it. */
function keyTexts({ set, filter, row }: Asked): readonly string[] | null {
  const given = new Map<Property, Constant>()
  for (const condition of conjunctsOf(filter)) {
    if (condition.kind !== 'compare' || condition.operator !== 'eq') return null
    const { left, right } = condition
    if (left.kind !== 'property' || left.row.alias !== row.alias) return null
    if (right.kind !== 'constant' || right.type.name !== left.type.name) return null
    if (given.has(left.property)) return null
    given.set(left.property, right)
  }
  return given.size === 0 || given.size !== set.type.key.length ? null : textsOf(set, given)
}

function textsOf({ type }: EntitySet, given: ReadonlyMap<Property, Constant>) {
  const texts: string[] = []
  for (const property of type.key) {
    const value = given.get(property)
    if (value === undefined || !isComparedAsText(property)) return null
    texts.push(textOf(value))
  }
  return texts
}

/** Whether it is known that no row has that key. */
const isMissing = (
  { service, snapshot }: ChosenExchange,
  set: EntitySet,
  key: readonly string[],
): boolean =>
  key.every((text, i) => ONLY_TEXT[set.type.key[i]!.type.name as EdmName]?.test(text) === true) &&
  service.rowsByKey.lacks({ snapshot, set, key })

const DIGITS = /^(?:0|-?[1-9]\d*)$/

/** Texts of values that the engine writes in no other way, so that a row with such a value would have been found. */
const ONLY_TEXT: Partial<Record<EdmName, RegExp>> = {
  'Edm.Byte': DIGITS,
  'Edm.Date': /^\d{4}-\d\d-\d\d$/,
  'Edm.Guid': /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
  'Edm.Int16': DIGITS,
  'Edm.Int32': DIGITS,
  'Edm.Int64': DIGITS,
  'Edm.SByte': DIGITS,
  // Without what JSON may escape.
  'Edm.String': /^[ !#-[\]-~\u00a0-\u1fff]*$/,
}

/** A constant of a bound request as the engine writes such a value. What differs is not found, and the engine is asked. */
function textOf({ type, value }: Constant): string {
  if (type.name === 'Edm.Guid') return value.toLowerCase()
  // The engine writes no zeros at the end of a fraction of a second.
  const isTime = type.name === 'Edm.DateTimeOffset' || type.name === 'Edm.TimeOfDay'
  return isTime ? value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '') : value
}
