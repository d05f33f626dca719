// What a cell shows of a value: one line, at most so long. The whole value is one click away.

import type { Property } from '../model/schema.ts'
import { localTime, showBytes, showTime } from '../model/show.ts'
import type { Value } from '../model/value.ts'

export interface CellText {
  readonly text: string
  /** How it is told apart from a text with the same letters. */
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

/** Of base64url, with or without padding. */
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
