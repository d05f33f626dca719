// Steps between the marks of an axis and the bins of a histogram: 1, 2 or 5 times a power of ten, so that people can
// read them. They are kept as two whole numbers: 3 times 0.1 is 0.30000000000000004 as a product of doubles.
//
// An axis has its marks at round numbers, from zero or below it to above the greatest value. A histogram has the bins
// between the least and the greatest value.

interface Step {
  readonly factor: 1 | 2 | 5
  readonly exponent: number
}

/** Beyond these a number is written with an exponent: a long row of zeros is read wrongly. */
const PLAIN_EXPONENTS = { least: -9, greatest: 15 }

/** The least step that is not below `width`, which is above 0. */
export function stepAbove(width: number): Step {
  const exponent = Math.floor(Math.log10(width))
  // The logarithm is not exact, so a step may be found one power too low or too high.
  for (let power = exponent - 1; ; power += 1)
    for (const factor of [1, 2, 5] as const) {
      const step = { factor, exponent: power }
      if (valueOf(1, step) >= width) return step
    }
}

/** `index` steps from zero. */
function valueOf(index: number, { factor, exponent }: Step): number {
  return exponent < 0 ? (index * factor) / 10 ** -exponent : index * factor * 10 ** exponent
}

export function stepLiteral(step: Step): string {
  const { factor, exponent } = step
  const { least, greatest } = PLAIN_EXPONENTS
  if (exponent < least || exponent > greatest) return `${factor}e${exponent}`
  return valueOf(1, step).toFixed(Math.max(0, -exponent))
}

/** `index` steps from zero with as many digits as the step has, and groups of three. */
export function markAt(index: number, step: Step): string {
  const value = valueOf(index, step)
  const { least, greatest } = PLAIN_EXPONENTS
  if (step.exponent < least || Math.abs(value) >= 10 ** greatest) return value.toExponential()
  const [whole = '', fraction] = value.toFixed(Math.max(0, -step.exponent)).split('.')
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ' ')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

export function axisFor(values: readonly number[], wanted = 5) {
  const finite = values.filter((value) => Number.isFinite(value))
  const least = Math.min(0, ...finite)
  const greatest = Math.max(0, ...finite)
  if (least === greatest) return { least: 0, greatest: 1, marks: [{ value: 0, text: '0' }] }
  const step = stepAbove((greatest - least) / wanted)
  const first = Math.floor(least / valueOf(1, step))
  const last = Math.ceil(greatest / valueOf(1, step))
  const marks = Array.from({ length: last - first + 1 }, (_, i) => {
    const value = valueOf(first + i, step)
    return { value, text: showCompact(value, markAt(first + i, step)) }
  })
  return { least: valueOf(first, step), greatest: valueOf(last, step), marks }
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 4 })

/** At most four digits, for a place with little room; the number itself belongs into a tooltip. */
export function shortNumber(text: string): string {
  const value = Number(text)
  if (!Number.isFinite(value) || text.trim() === '') return text
  if (Math.abs(value) >= 10_000) return short.format(value)
  return text.replace(/^-?/, '').replace('.', '').length <= 4
    ? text
    : String(Number(value.toPrecision(4)))
}

/** 2 000 000 is 2M on an axis, where room is short. */
const showCompact = (value: number, full = `${value}`) =>
  Math.abs(value) >= 100_000 ? compact.format(value) : full

/** Bin `i` holds the values from `i` steps on up to below `i + 1` steps. */
export interface Bins {
  readonly step: Step
  readonly first: number
  readonly last: number
}

interface BinOptions {
  /** How many bins there are at most, one more when the least value is not at the edge of one. */
  readonly most: number
  /** Whole numbers have no bins narrower than 1. */
  readonly isWhole: boolean
}

/** Doubles have 15 digits: bins that are narrower than that relative to their place could not be distinguished. */
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

export function binExpression(path: string, { step }: Bins): string {
  return `floor(${path} divby ${stepLiteral(step)})`
}

/** Where bin `index` begins, as a number of a filter. */
export const edgeOf = ({ step }: Bins, index: number): string => {
  const value = valueOf(index, step)
  return Math.abs(value) < 1e15 ? value.toFixed(Math.max(0, -step.exponent)) : String(value)
}

/** All bins from the first to the last; those that no row fell into have 0. */
export function filledBins({ step, first, last }: Bins, values: ReadonlyMap<number, number>) {
  // What is counted may be newer than the bounds that were asked for before.
  const known = [...values.keys()].filter((index) => Number.isFinite(index))
  const from = Math.min(first, ...known)
  const to = Math.max(last, ...known)
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    from: valueOf(from + i, step),
    to: valueOf(from + i + 1, step),
    label: markAt(from + i, step) + BETWEEN_ENDS + markAt(from + i + 1, step),
    value: values.get(from + i) ?? 0,
  }))
}

const BETWEEN_ENDS = ' to below '

/** Both ends of a bin from its label; any other label is both. */
export function endsOf(label: string): readonly [first: string, last: string] {
  const [first = '', last = first] = label.split(BETWEEN_ENDS)
  return [first, last]
}
