// An axis of values: marks at round numbers that reach from zero, or below it, to above the greatest value.

import { markAt, stepAbove, valueOf } from './steps.ts'

export interface AxisMark {
  readonly value: number
  readonly text: string
}

export interface Axis {
  readonly least: number
  readonly greatest: number
  readonly marks: readonly AxisMark[]
}

export function axisFor(values: readonly number[], wanted = 5): Axis {
  const finite = values.filter((value) => Number.isFinite(value))
  const least = Math.min(0, ...finite)
  const greatest = Math.max(0, ...finite)
  if (least === greatest) return { least: 0, greatest: 1, marks: [{ value: 0, text: '0' }] }
  const step = stepAbove((greatest - least) / wanted)
  const first = Math.floor(least / valueOf(1, step))
  const last = Math.ceil(greatest / valueOf(1, step))
  const marks = Array.from({ length: last - first + 1 }, (_, i) => ({
    value: valueOf(first + i, step),
    text: shortMark(first + i, valueOf(first + i, step), markAt(first + i, step)),
  }))
  return { least: valueOf(first, step), greatest: valueOf(last, step), marks }
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

/** 2 000 000 is 2M on an axis, where there is no room. */
function shortMark(index: number, value: number, full: string): string {
  return index !== 0 && Math.abs(value) >= 100_000 ? compact.format(value) : full
}

export const showCompact = (value: number) =>
  Math.abs(value) >= 100_000 ? compact.format(value) : `${value}`
