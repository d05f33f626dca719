// A cell of a table of rows: what it shows of a value, and where that leads.

import { keyOf } from '../address/key.ts'
import { writeLiteral } from '../address/literal.ts'
import type { Route } from '../address/route.ts'
import type { EntitySet, Property } from '../model/schema.ts'
import { localTime, showBytes, showTime } from '../model/show.ts'
import { textOf, type Row, type Value } from '../model/value.ts'
import type { RowColumn } from './columns.ts'

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
  readonly title: string | undefined
}

const MOST_CHARACTERS = 160

export function cellText(value: Value | undefined, property: Property | undefined): CellText {
  if (value === undefined) return { text: '…', kind: 'waiting', title: undefined }
  if (value === null) return { text: 'null', kind: 'null', title: undefined }
  if (typeof value === 'object')
    return { text: shorten(structure(value)), kind: 'structure', title: undefined }
  if (value === '') return { text: '', kind: 'empty', title: 'empty text' }
  const text = String(value)
  switch (property?.edm) {
    case 'Edm.Binary':
      return { text: showBytes(byteLength(text)), kind: 'special', title: undefined }
    case 'Edm.DateTimeOffset':
      return { text: showTime(text), kind: 'plain', title: localTime(text) }
    case 'Edm.Double':
    case 'Edm.Single': {
      const isSpecial = text === 'NaN' || text.endsWith('INF')
      return { text, kind: isSpecial ? 'special' : 'plain', title: undefined }
    }
    default:
      return { text: shorten(text), kind: 'plain', title: undefined }
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
