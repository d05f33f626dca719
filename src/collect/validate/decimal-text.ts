// Decimal numbers by their digits: a double cannot tell 9007199254740993 from 9007199254740992.

/** ± digits × 10^exponent; digits without leading and trailing zeros, empty for zero. */
interface Decimal {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

export const isNumber = (text: string) => NUMBER.test(text)

/** Whether DuckDB, which goes through a double, prints a number of JSON just as it is. false may also mean unknown. */
export const isPrintedAlike = (token: string): boolean =>
  /[.e]/i.test(token)
    ? String(Number(token)).replace('+', '') === token.replace(/\.0$/, '')
    : token !== '-0'

/** No integer or decimal type has as many digits; what follows takes time that grows with them. */
const MAX_LENGTH = 1100

/** A number as JSON writes it (leading zeros allowed); null for other or far too long text. */
export function parseDecimal(text: string): Decimal | null {
  const match = text.length > MAX_LENGTH ? null : NUMBER.exec(text)
  if (match === null) return null
  const [, sign, whole, fraction = '', exponent = '0'] = match
  const significant = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = significant.replace(/0+$/, '')
  if (digits === '') return { negative: false, digits: '', exponent: 0 }
  return {
    negative: sign === '-',
    digits,
    exponent: Number(exponent) - fraction.length + (significant.length - digits.length),
  }
}

export function integerDigits({ digits, exponent }: Decimal): number {
  return Math.max(0, digits.length + exponent)
}

export function fractionDigits({ exponent }: Decimal): number {
  return Math.max(0, -exponent)
}

/** Without an exponent, such as `-12.5`. Only for numbers whose count of digits is known to be small. */
export function plainText(decimal: Decimal): string {
  const { negative, digits, exponent } = decimal
  const sign = negative ? '-' : ''
  if (exponent >= 0) return `${sign}${digits || '0'}${'0'.repeat(exponent)}`
  const padded = digits.padStart(1 - exponent, '0')
  return `${sign}${padded.slice(0, exponent)}.${padded.slice(exponent)}`
}
