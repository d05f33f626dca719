// Bins of a histogram: which of them there are between the least and the greatest value, and what a request counted.

import { literalOf, markAt, type Step, stepAbove, valueOf } from './steps.ts'

/** Bin `i` holds the values from `i` steps on up to below `i + 1` steps. */
export interface Bins {
  readonly step: Step
  readonly first: number
  readonly last: number
}

export interface Bin {
  readonly from: number
  readonly to: number
  /** Both ends, for a person. */
  readonly label: string
  readonly value: number
}

export interface BinOptions {
  /** How many bins there are at most, one more when the least value is not at the edge of one. */
  readonly most: number
  /** Whole numbers have no bins narrower than 1. */
  readonly isWhole: boolean
}

/** Doubles have 15 digits: bins that are narrower than that relative to their place would be told apart wrongly. */
const NARROWEST = 1e-12

export function binsBetween(least: number, greatest: number, { most, isWhole }: BinOptions): Bins {
  const span = greatest - least
  const magnitude = Math.max(Math.abs(least), Math.abs(greatest))
  const narrowest = Math.max(magnitude * NARROWEST, isWhole ? 1 : 0)
  const widths = [span / most, narrowest].filter((width) => width > 0 && Number.isFinite(width))
  const step = stepAbove(widths.length === 0 ? 1 : Math.max(...widths))
  const width = valueOf(1, step)
  return { step, first: Math.floor(least / width), last: Math.floor(greatest / width) }
}

/** The number of the bin that the values of `path` fall into, as an expression of OData. */
export function binExpression(path: string, { step }: Bins): string {
  return `floor(${path} divby ${literalOf(step)})`
}

/** All bins from the first to the last; those that no row fell into have 0, or nothing where that would be wrong. */
export function filledBins(
  bins: Bins,
  values: ReadonlyMap<number, number>,
  whereEmpty = 0,
): readonly Bin[] {
  const { step } = bins
  // What is counted may be newer than the bounds that were asked for before.
  const known = [...values.keys()].filter((index) => Number.isFinite(index))
  const first = Math.min(bins.first, ...known)
  const last = Math.max(bins.last, ...known)
  return Array.from({ length: last - first + 1 }, (_, i) => ({
    from: valueOf(first + i, step),
    to: valueOf(first + i + 1, step),
    label: binLabel(first + i, step),
    value: values.get(first + i) ?? whereEmpty,
  }))
}

function binLabel(index: number, step: Step): string {
  return `${markAt(index, step)} to below ${markAt(index + 1, step)}`
}
