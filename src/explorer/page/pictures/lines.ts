// The paths of a line: where there is no number there is a gap.

import type { IncompleteEnds } from '../chart/incomplete.ts'

export const numberOrGap = (value: string | null) => (value === null ? Number.NaN : Number(value))

type Point = { readonly x: number; readonly y: number }

/** A point without neighbours has no line, so it gets a dot. */
export const isAlone = (points: readonly Point[], i: number) =>
  !Number.isFinite(points[i - 1]?.y) && !Number.isFinite(points[i + 1]?.y)

/** What leads to an incomplete end is dotted: it is not known where the line will be. */
export function drawnLines(points: readonly Point[], ends: IncompleteEnds | undefined) {
  const first = ends?.first === true ? 1 : 0
  const last = points.length - (ends?.last === true ? 1 : 0)
  return [
    { d: pathThrough(points.slice(0, first + 1)), isDotted: true },
    { d: pathThrough(points.slice(first, last)), isDotted: false },
    { d: pathThrough(points.slice(Math.max(0, last - 1))), isDotted: true },
  ].filter(({ d, isDotted }) => d !== '' && (!isDotted || d.includes('L')))
}

/** With a gap where there is no number. */
export function pathThrough(points: readonly Point[]): string {
  return points
    .map(({ x, y }, i) => {
      if (!Number.isFinite(y)) return ''
      const isStart = !Number.isFinite(points[i - 1]?.y ?? Number.NaN)
      return `${isStart ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join('')
}
