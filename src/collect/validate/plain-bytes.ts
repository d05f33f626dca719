// Texts as most programs print them, recognized by their bytes. Making strings of them would cost more than all the rest.

const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const LETTER_T = 0x54
const LETTER_Z = 0x5a

/** Like -12.50: at most so many digits before the point and after it, and no leading zero. */
export function isPlainDecimal(
  bytes: Uint8Array,
  start: number,
  end: number,
  wholeDigits: number,
  fractionDigits: number,
): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  const point = digitsEnd(bytes, first, end)
  const whole = point - first
  if (whole < 1 || (whole > 1 && bytes[first] === ZERO)) return false
  if (whole > wholeDigits && (whole > 1 || bytes[first] !== ZERO)) return false
  if (point === end) return true
  const fraction = end - point - 1
  if (bytes[point] !== POINT || fraction < 1 || fraction > fractionDigits) return false
  return digitsEnd(bytes, point + 1, end) === end
}

/** The value of an integer like -12, of at most 15 digits and without leading zeros; NaN for other texts. */
export function shortInteger(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === MINUS ? start + 1 : start
  const length = end - first
  if (length < 1 || length > 15 || (bytes[first] === ZERO && length > 1)) return NaN
  let value = 0
  for (let at = first; at < end; at++) {
    if (!isDigit(bytes[at]!)) return NaN
    value = value * 10 + bytes[at]! - ZERO
  }
  return first > start ? -value : value
}

const WITHOUT_FRACTION = '2024-05-01T12:00:00Z'.length

/** Like 2024-05-01T12:00:00.123Z, on a day that every month has, with at most so many digits after the point. */
export function isPlainInstant(
  bytes: Uint8Array,
  start: number,
  end: number,
  fractionDigits: number,
): boolean {
  const fraction = end - start - WITHOUT_FRACTION - 1
  if (fraction < -1 || fraction > fractionDigits || bytes[end - 1] !== LETTER_Z) return false
  return (
    isPlainDay(bytes, start, start + 10) &&
    bytes[start + 10] === LETTER_T &&
    isPair(bytes, start + 11, 0, 23) &&
    bytes[start + 13] === COLON &&
    isPair(bytes, start + 14, 0, 59) &&
    bytes[start + 16] === COLON &&
    isPair(bytes, start + 17, 0, 59) &&
    (fraction === -1 ||
      (fraction > 0 &&
        bytes[start + 19] === POINT &&
        digitsEnd(bytes, start + 20, end) === end - 1))
  )
}

/** Like 2024-05-01, of a day that every month has. The years 1 to 99 are left to the rule. */
export const isPlainDay = (bytes: Uint8Array, start: number, end: number) =>
  end - start === 10 &&
  isPair(bytes, start, 1, 99) &&
  isPair(bytes, start + 2, 0, 99) &&
  bytes[start + 4] === MINUS &&
  isPair(bytes, start + 5, 1, 12) &&
  bytes[start + 7] === MINUS &&
  isPair(bytes, start + 8, 1, 28)

function isPair(bytes: Uint8Array, at: number, least: number, most: number): boolean {
  const tens = bytes[at]! - ZERO
  const ones = bytes[at + 1]! - ZERO
  const value = tens * 10 + ones
  return tens >= 0 && ones >= 0 && ones <= 9 && value >= least && value <= most
}

/** The offset after the digits from `start` on. */
export function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isDigit(bytes[at]!)) at++
  return at
}

export const isDigit = (byte: number) => byte >= ZERO && byte <= NINE

/** Whether this is an escape of four digits. */
export function isUnit(bytes: Uint8Array, start: number): boolean {
  if (bytes[start] !== 0x5c || bytes[start + 1] !== 0x75) return false
  for (let at = start + 2; at < start + 6; at++) if (!isHexDigit(bytes[at]!)) return false
  return true
}

/** \uD800 to \uDFFF */
export const isSurrogate = (bytes: Uint8Array, start: number): boolean =>
  (bytes[start + 2]! | 0x20) === 0x64 && bytes[start + 3]! >= 0x38

/** By the second digit: C to F. */
export const isSecondHalf = (digit: number): boolean => (digit | 0x20) >= 0x63

const isHexDigit = (byte: number) =>
  isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)
