// The columns of the table: those of the set, in the order of `$select`, or what an aggregation has made. And what their
// cells show of a value, and where that leads.

import { readSelect } from '../address/order.ts'
import { keyOf } from '../address/key.ts'
import { splitTopLevel, writeLiteral } from '../address/literal.ts'
import {
  type EntitySet,
  kindOf,
  type Navigation,
  navigationOf,
  type Property,
  type Row,
  textOf,
  type Value,
} from '../model/schema.ts'
import { isOfSet, type RowsState } from './requests.ts'
import type { Route } from '../address/route.ts'
import { localTime, sayDuration, showBytes, showTime } from '../model/show.ts'

export interface RowColumn {
  readonly name: string
  /** Undefined for what is computed, expanded, or a part of a struct. */
  readonly property?: Property
  /** Where its values lead, being keys of another set. */
  readonly navigation?: Navigation | undefined
  readonly isKey: boolean
  readonly isNumber: boolean
  /** Lists and structs have no order. */
  readonly isSortable: boolean
}

const SAMPLE_ROWS = 50

export function tableColumns(
  set: EntitySet,
  state: RowsState,
  rows: readonly Row[],
): readonly RowColumn[] {
  if (!isOfSet(state)) return namesIn(rows).map((name) => madeColumn(name, rows))
  const properties = new Map(set.properties.map((property) => [property.name, property]))
  const computed = computedNames(state.options.get('$compute'))
  const names = readSelect(state.options.get('$select')) ?? [...properties.keys(), ...computed]
  const expanded = namesIn(rows).filter((name) => set.navigations.some((one) => one.name === name))
  return [...new Set([...names, ...expanded])].map((name) => {
    const property = properties.get(name)
    return property === undefined ? madeColumn(name, rows) : columnOf(set, property)
  })
}

/** A value by the name of its column, which may be a path into a struct or along navigation. */
export function columnValue(row: Row, name: string): Value | undefined {
  if (Object.hasOwn(row, name)) return row[name]
  let value: Value | undefined = row
  for (const part of name.split('/')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const object = value as Row
    value = Object.hasOwn(object, part) ? object[part] : undefined
  }
  return value
}

function columnOf(set: EntitySet, property: Property): RowColumn {
  const isPlain = !property.isList && property.fields === undefined
  return {
    name: property.name,
    property,
    navigation: navigationOf(set, property.name),
    isKey: set.key.includes(property.name),
    isNumber: kindOf(property) === 'number',
    isSortable: isPlain && kindOf(property) !== 'struct',
  }
}

function madeColumn(name: string, rows: readonly Row[]): RowColumn {
  const values = rows
    .slice(0, SAMPLE_ROWS)
    .map((row) => columnValue(row, name))
    .filter((value) => value !== null && value !== undefined)
  const isPlain = values.every((value) => typeof value !== 'object')
  return {
    name,
    isKey: false,
    isNumber: values.length > 0 && values.every((value) => isNumberText(value)),
    isSortable: isPlain,
  }
}

function isNumberText(value: Value): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d+(?:\.\d+)?$/.test(value))
}

/** In the order in which they come; rows of `concat` and `rollup` do not all have the same ones. */
function namesIn(rows: readonly Row[]): readonly string[] {
  const names = new Set<string>()
  for (const row of rows.slice(0, SAMPLE_ROWS)) {
    for (const [name, value] of Object.entries(row)) {
      if (name.includes('@')) continue
      for (const path of pathsOf(name, value)) names.add(path)
    }
  }
  return [...names]
}

/** Groups along navigation are nested: `customer: {country: …}` is the column `customer/country`. */
function pathsOf(name: string, value: Value): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name]
  const entries = Object.entries(value as Row).filter(([field]) => !field.includes('@'))
  return entries.length === 1 ? pathsOf(`${name}/${entries[0]![0]}`, entries[0]![1]) : [name]
}

function computedNames(compute: string | undefined): string[] {
  if (compute === undefined) return []
  return splitTopLevel(compute, ',').flatMap((item) => / as ([^\s]+)$/.exec(item)?.[1] ?? [])
}

const CHARACTER_PX = 7.7
const BOLD_CHARACTER_PX = 8.8
const PADDING_PX = 26
const HEADER_SIGNS_PX = 52
const ARROW_PX = 22
const LEAST_PX = 72
const MOST_PX = 340

/** From the name and what the first rows have, so that most values are seen whole. */
export function defaultWidthPx(column: RowColumn, rows: readonly Row[]): number {
  const lengths = rows
    .slice(0, SAMPLE_ROWS)
    .map((row) => Math.min(textOf(columnValue(row, column.name)).length, 60))
  const longest = Math.max(0, ...lengths) * CHARACTER_PX + PADDING_PX
  const arrow = column.navigation === undefined ? 0 : ARROW_PX
  const header = column.name.length * BOLD_CHARACTER_PX + HEADER_SIGNS_PX + arrow
  return Math.round(Math.min(MOST_PX, Math.max(LEAST_PX, longest, header)))
}

type RowRoute = Extract<Route, { view: 'row' }>

/** Where a value leads: its own row for the key, the row of another set for a key of that. */
export function targetOf(
  set: EntitySet,
  column: RowColumn,
  row: Row,
  value: Value | undefined,
): RowRoute | undefined {
  if (value === null || value === undefined || typeof value === 'object') return undefined
  if (column.navigation !== undefined && column.property !== undefined) {
    const { target, constraint } = column.navigation
    if (constraint.length !== 1) return undefined
    const key = writeLiteral(textOf(value), column.property.edm)
    return { view: 'row', set: target, key, query: '' }
  }
  if (!column.isKey) return undefined
  const key = keyOf(set, row)
  return key === undefined ? undefined : { view: 'row', set: set.name, key, query: '' }
}

/** One line of a value, at most so long. The whole value is one click away. */
interface CellText {
  readonly text: string
  /** Distinguishes it from a text with the same letters. */
  readonly kind: 'plain' | 'null' | 'empty' | 'structure' | 'special' | 'waiting'
  readonly title?: string | undefined
}

const MOST_CHARACTERS = 160

export function shownCell(value: Value | undefined, property: Property | undefined): CellText {
  if (value === undefined) return { text: '…', kind: 'waiting' }
  if (value === null) return { text: 'null', kind: 'null' }
  if (typeof value === 'object') return { text: shorten(structure(value)), kind: 'structure' }
  if (value === '') return { text: '', kind: 'empty', title: 'empty text' }
  const text = String(value)
  switch (property?.edm) {
    case 'Edm.Binary':
      return { text: showBytes(byteLength(text)), kind: 'special' }
    case 'Edm.DateTimeOffset':
      return { text: showTime(text), kind: 'plain', title: localTime(text) }
    case 'Edm.Duration':
      return { text: sayDuration(text), kind: 'plain', title: text }
    case 'Edm.Double':
    case 'Edm.Single':
      return { text, kind: /NaN|INF/.test(text) ? 'special' : 'plain' }
    default:
      return { text: shorten(text), kind: 'plain' }
  }
}

/** The bytes that a base64url text stands for, with or without padding. */
export function byteLength(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4)
}

function shorten(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`
}

/** A megabyte of JSON is not made for one line of it. */
function structure(value: Value): string {
  if (Array.isArray(value)) {
    const shown = value.slice(0, 8).map((item) => structure(item as Value))
    return `[${shown.join(', ')}${value.length > 8 ? ', …' : ''}]`
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([name]) => !name.includes('@'))
    const shown = entries
      .slice(0, 8)
      .map(([name, field]) => `${name}: ${structure(field as Value)}`)
    return `{${shown.join(', ')}${entries.length > 8 ? ', …' : ''}}`
  }
  return value === null ? 'null' : String(value).slice(0, MOST_CHARACTERS)
}
