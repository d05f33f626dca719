// What makes a value of one type from another, or asks what a value is like: cast, isof, matchesPattern, now.

import { call, constant, type Expression, make, type Type, within } from './expression.ts'
import { clockOf, dayOf, daysOf, printClock, printDay, usOfDay } from './times.ts'
import {
  Clock,
  compare,
  Day,
  Duration,
  type Exact,
  Instant,
  int,
  printExact,
  roundTo,
  toDouble,
  US_PER_DAY,
  type Value,
} from './values.ts'

interface Source {
  readonly pick: <T>(from: readonly T[]) => T
  /** An expression of that type which is not the literal null. */
  readonly typed: (type: Type) => Expression
}

/** Null for a type that nothing is cast to here. */
export function conversion(type: Type, { pick, typed }: Source): Expression | null {
  switch (type) {
    case 'text': {
      const from = pick<Type>(['int', 'bool', 'day', 'instant', 'clock', 'guid', 'duration'])
      return cast('text', typed(from), 'Edm.String', textOf)
    }
    case 'int': {
      const kind = pick(['range', 'round', 'text'])
      if (kind === 'range') {
        const name = pick(['Edm.Byte', 'Edm.SByte', 'Edm.Int16', 'Edm.Int32', 'Edm.Int64'])
        return cast('int', typed('int'), name, (value) => within64(value, ...ranges[name]!))
      }
      if (kind === 'round')
        return cast('int', typed('decimal'), 'Edm.Int64', (value) =>
          within64(roundTo('round', value), ...ranges['Edm.Int64']!),
        )
      return cast('int', written(typed('int'), pick(numberEnds)), 'Edm.Int64', wholeOf)
    }
    case 'double':
      return cast('double', typed('int'), 'Edm.Double', (value) =>
        value === null ? null : toDouble(value),
      )
    case 'day':
      return cast('day', typed('instant'), 'Edm.Date', dayOf)
    case 'clock':
      return cast('clock', typed('instant'), 'Edm.TimeOfDay', clockOf)
    case 'instant': {
      if (pick([true, false]))
        return cast('instant', typed('day'), 'Edm.DateTimeOffset', (value) =>
          value === null ? null : new Instant((value as Day).days * US_PER_DAY),
        )
      const [end, offset] = pick(dayEnds)
      const day = typed('day')
      const text = written(day, end)
      return make('instant', `cast(${text.text},Edm.DateTimeOffset)`, 10, (scope) =>
        instantIn(day.value(scope), offset),
      )
    }
    case 'duration': {
      const text = cast('text', typed('duration'), 'Edm.String', (value) => value)
      return cast('duration', text, 'Edm.Duration')
    }
    case 'bool':
      return question(pick, typed)
    default:
      return null
  }
}

const ranges: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  'Edm.Byte': [0n, 255n],
  'Edm.SByte': [-128n, 127n],
  'Edm.Int16': [-32_768n, 32_767n],
  'Edm.Int32': [-(2n ** 31n), 2n ** 31n - 1n],
  'Edm.Int64': [-(2n ** 63n), 2n ** 63n - 1n],
}

const within64 = (value: Value, least: bigint, most: bigint): Value => {
  if (value === null) return null
  const { units } = value as Exact
  return units < least || units > most ? null : int(units)
}

/** What may stand behind the digits of a number: a further digit, or what makes a text of them that is no whole number. */
const numberEnds = ['', '', '1', '.5', '.0', 'e1', '_0', ' ', 'x'] as const

/** What may stand behind a day, with the microseconds from its midnight; null for what is no date and time of OData. */
const dayEnds: readonly (readonly [text: string, us: bigint | null])[] = [
  ['T10:30Z', 37_800_000_000n],
  ['t00:00:00.5z', 500_000n],
  ['T00:00:00+02:00', -7_200_000_000n],
  ['T23:59:59.1234567-00:30', 88_199_123_456n],
  ['T24:00:00Z', null],
  ['T10:30:00', null],
  ['T10:30:00+14:01', null],
  [' 10:30:00Z', null],
  [' 10:30:00 America/New_York', null],
  [' 10:30:00', null],
  ['', null],
]

/** The text of a value, and `end` behind it. */
function written(operand: Expression, end: string): Expression {
  const text = cast('text', operand, 'Edm.String', textOf)
  if (end === '') return text
  return call('text', 'concat', [text, constant('text', `'${end}'`, end)], ([value]) =>
    value === null ? null : `${value as string}${end}`,
  )
}

function wholeOf(text: Value): Value {
  if (text === null || !/^[-+]?\d+$/.test(text as string)) return null
  return within64(int(BigInt(text as string)), ...ranges['Edm.Int64']!)
}

/** Null for what is before the year 1 or after 9999. */
function instantIn(day: Value, us: bigint | null): Value {
  if (day === null || us === null) return null
  const instant = new Instant((day as Day).days * US_PER_DAY + us)
  const days = daysOf(instant)
  return days < -719_162n || days > 2_932_896n ? null : instant
}

const cast = (
  type: Type,
  operand: Expression,
  name: string,
  convert: (value: Value) => Value = (value) => value,
): Expression =>
  make(type, `cast(${operand.text},${name})`, 10, (scope) => convert(operand.value(scope)))

/** As in JSON. */
function textOf(value: Value): Value {
  if (value === null || typeof value === 'string') return value
  if (value instanceof Day) return printDay(value.days)
  if (value instanceof Instant) return `${printDay(daysOf(value))}T${printClock(usOfDay(value))}Z`
  if (value instanceof Clock) return printClock(value.us)
  if (!(value instanceof Duration))
    return typeof value === 'object' ? printExact(value) : String(value)
  const size = value.us < 0n ? -value.us : value.us
  const fraction = String(size % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '')
  const seconds = `${size / 1_000_000n}${fraction === '' ? '' : `.${fraction}`}`
  return `${value.us < 0n ? '-' : ''}PT${seconds}S`
}

const patterns = ['^a', 'b', '[A-Z]', '^.{2,3}$', '(?:ß|Ä)', 'x|_', '\\d+', '^$', '[^a]$', '😀$']

function question(pick: Source['pick'], typed: Source['typed']): Expression {
  const kind = pick(['isof', 'pattern', 'now'])
  if (kind === 'pattern') {
    const pattern = pick(patterns)
    const operands = [typed('text'), constant('text', `'${pattern}'`, pattern)]
    return call('bool', 'matchesPattern', operands, ([text]) =>
      text === null ? null : new RegExp(pattern, 'u').test(text as string),
    )
  }
  if (kind === 'now') {
    // No value here is near the time at which this runs.
    const time = typed('instant')
    return make('bool', `now() gt ${within(time, 5)}`, 4, (scope) =>
      compare('gt', new Instant(BigInt(Date.now()) * 1000n), time.value(scope)),
    )
  }
  const [type, name] = pick([
    ['text', 'Edm.String'],
    ['day', 'Edm.Date'],
    ['instant', 'Edm.DateTimeOffset'],
    ['bool', 'Edm.Boolean'],
    ['clock', 'Edm.TimeOfDay'],
  ] as const)
  const asked = pick([name, name, 'Edm.Guid'])
  const operand = typed(type)
  return make('bool', `isof(${operand.text},${asked})`, 10, (scope) => {
    const value = operand.value(scope)
    return asked === name && value !== null
  })
}
