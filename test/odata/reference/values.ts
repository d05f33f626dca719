// Values of OData and what the operators and functions make of them, by the specification (URL Conventions 5.1.1) and
// as slowly and plainly as can be. Nothing of src/ is used here: this is what src/ is compared with.

/** `units` times ten to the minus `scale`; integers have scale 0. */
export interface Exact {
  readonly units: bigint
  readonly scale: number
}

/** Days since 1970-01-01, and microseconds since then, since midnight, and of a duration. */
export type Value = null | boolean | string | Exact | number | Day | Instant | Clock | Duration

export class Day {
  readonly days: bigint
  constructor(days: bigint) {
    this.days = days
  }
}
export class Instant {
  readonly us: bigint
  constructor(us: bigint) {
    this.us = us
  }
}
export class Clock {
  readonly us: bigint
  constructor(us: bigint) {
    this.us = us
  }
}
export class Duration {
  readonly us: bigint
  constructor(us: bigint) {
    this.us = us
  }
}

/** A division by zero, or a result that its type cannot hold: the request is answered 400. */
export class Failure extends Error {}

export const US_PER_DAY = 86_400_000_000n

export const int = (n: bigint | number): Exact => ({ units: BigInt(n), scale: 0 })

export function exact(text: string): Exact {
  const [whole = '', fraction = ''] = text.split('.')
  return { units: BigInt(whole + fraction), scale: fraction.length }
}

export function printExact({ units, scale }: Exact): string {
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const whole = digits.slice(0, digits.length - scale)
  const fraction = digits.slice(digits.length - scale)
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

const isExact = (value: Value): value is Exact =>
  value !== null && typeof value === 'object' && 'units' in value

export const toDouble = (value: Value): number =>
  isExact(value) ? Number(printExact(value)) : (value as number)

const scaled = ({ units, scale }: Exact, to: number) => units * 10n ** BigInt(to - scale)

/** Integer division of the engine and of OData cuts off; floor and ceiling need the other ways too. */
export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

// Comparison. Text is compared by code points.

function order(a: Value, b: Value): number {
  if (isExact(a) && isExact(b)) {
    const scale = Math.max(a.scale, b.scale)
    return compareBig(scaled(a, scale), scaled(b, scale))
  }
  if (typeof a === 'number' || typeof b === 'number')
    return toDouble(a) - toDouble(b) || order0(a, b)
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return compareBig(position(a), position(b))
}

/** Of two doubles whose difference is zero or no number: infinities are equal to themselves. */
function order0(a: Value, b: Value): number {
  const [x, y] = [toDouble(a), toDouble(b)]
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN
  return x === y ? 0 : x < y ? -1 : 1
}

/** A date stands for its midnight in UTC. */
function position(value: Value): bigint {
  if (value instanceof Day) return value.days * US_PER_DAY
  return (value as Instant).us
}

const compareBig = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)

function compareText(a: string, b: string): number {
  const [x, y] = [Array.from(a), Array.from(b)]
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const difference = x[i]!.codePointAt(0)! - y[i]!.codePointAt(0)!
    if (difference !== 0) return difference
  }
  return x.length - y.length
}

export function compare(operator: string, a: Value, b: Value): boolean {
  if (operator === 'ne') return !compare('eq', a, b)
  if (a === null || b === null) return operator === 'eq' && a === b
  const sign = order(a, b)
  switch (operator) {
    case 'eq':
      return sign === 0
    case 'gt':
      return sign > 0
    case 'ge':
      return sign >= 0
    case 'lt':
      return sign < 0
    default:
      return sign <= 0
  }
}

// Logic of three values.

export const not = (a: Value): Value => (a === null ? null : !(a as boolean))

export function and(a: Value, b: Value): Value {
  if (a === false || b === false) return false
  return a === null || b === null ? null : true
}

export const or = (a: Value, b: Value): Value => not(and(not(a), not(b)))

// Arithmetic. Integers have 64 bits; other exact numbers as many digits as the scale leaves of 38.

const INT64 = 2n ** 63n
const DIGITS = 10n ** 38n

function held(value: Exact, isInteger: boolean): Exact {
  const { units } = value
  if (isInteger ? units >= INT64 || units < -INT64 : units >= DIGITS || units <= -DIGITS)
    throw new Failure('overflow')
  return value
}

/** The result is a number of JavaScript (a Double) when an operand is one, or when the operator makes one. */
export function calculate(operator: string, a: Value, b: Value, areIntegers: boolean): Value {
  if (a === null || b === null) return null
  if (typeof a === 'number' || typeof b === 'number')
    return calculateDoubles(operator, toDouble(a), toDouble(b))
  const [x, y] = [a as Exact, b as Exact]
  if (['div', 'divby', 'mod'].includes(operator) && y.units === 0n) throw new Failure('zero')
  if (operator === 'divby' || (operator === 'div' && !areIntegers))
    return calculateDoubles('div', toDouble(x), toDouble(y))
  if (operator === 'mul')
    return held({ units: x.units * y.units, scale: x.scale + y.scale }, areIntegers)
  const scale = Math.max(x.scale, y.scale)
  const [left, right] = [scaled(x, scale), scaled(y, scale)]
  const units = {
    add: () => left + right,
    sub: () => left - right,
    div: () => left / right,
    mod: () => left % right,
  }[operator]!()
  return held({ units, scale }, areIntegers)
}

function calculateDoubles(operator: string, a: number, b: number): number {
  switch (operator) {
    case 'add':
      return a + b
    case 'sub':
      return a - b
    case 'mul':
      return a * b
    case 'mod':
      return a % b
    default:
      return a / b
  }
}

export function negate(a: Value, isInteger: boolean): Value {
  if (a === null) return null
  if (typeof a === 'number') return -a
  if (a instanceof Duration) return new Duration(-a.us)
  return held({ units: -(a as Exact).units, scale: (a as Exact).scale }, isInteger)
}

export function roundTo(name: string, a: Value): Value {
  if (a === null) return null
  if (typeof a === 'number')
    return name === 'round'
      ? Math.sign(a) * Math.floor(Math.abs(a) + 0.5)
      : name === 'floor'
        ? Math.floor(a)
        : Math.ceil(a)
  const { units, scale } = a as Exact
  const one = 10n ** BigInt(scale)
  if (name === 'floor') return int(floorDivide(units, one))
  if (name === 'ceiling') return int(-floorDivide(-units, one))
  const size = units < 0n ? -units : units
  const rounded = (size * 2n + one) / (one * 2n)
  return int(units < 0n ? -rounded : rounded)
}

// Text, by code points.

const characters = (text: Value) => Array.from(text as string)

/** One character for one character; the engine has the capital ẞ for ß, others that would become two stay as they are. */
export const inCase = (text: Value, fold: 'toLowerCase' | 'toUpperCase'): Value =>
  text === null
    ? null
    : characters(text)
        .map((one) => (one === 'ß' && fold === 'toUpperCase' ? 'ẞ' : one))
        .map((one) => (Array.from(one[fold]()).length === 1 ? one[fold]() : one))
        .join('')

/** The property White_Space of Unicode. */
const WHITE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'

export const trim = (text: Value): Value =>
  text === null ? null : (text as string).replace(new RegExp(`^${WHITE}|${WHITE}$`, 'g'), '')

export const length = (text: Value): Value => (text === null ? null : int(characters(text).length))

export const join = ([a, b]: readonly Value[]): Value =>
  a === null || b === null ? null : (a as string) + (b as string)

export function indexOf(text: Value, part: Value): Value {
  if (text === null || part === null) return null
  const at = (text as string).indexOf(part as string)
  return int(at < 0 ? -1 : characters((text as string).slice(0, at)).length)
}

export function substring(text: Value, start: Value, count: Value | undefined): Value {
  if (text === null || start === null || count === null) return null
  if (count !== undefined && (count as Exact).units < 0n) throw new Failure('length')
  const all = characters(text)
  const from = Number((start as Exact).units)
  const first = from < 0 ? Math.max(all.length + from, 0) : from
  const until = count === undefined ? all.length : first + Number((count as Exact).units)
  return all.slice(first, until).join('')
}
