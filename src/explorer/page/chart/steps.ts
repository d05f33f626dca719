// Steps between the marks of an axis and the bins of a histogram: 1, 2 or 5 times a power of ten, so that people can
// read them. They are kept as two whole numbers: 3 times 0.1 is 0.30000000000000004 as a product of doubles.

export interface Step {
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
export function valueOf(index: number, { factor, exponent }: Step): number {
  return exponent < 0 ? (index * factor) / 10 ** -exponent : index * factor * 10 ** exponent
}

/** The step as a literal of OData. */
export function literalOf(step: Step): string {
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
