// How the driver reads values, for the whole process.

import {
  DuckDBDateValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
} from '@duckdb/node-api'
import { textDecoder } from '@duckdb/node-api/lib/vectors/dataAccessors.js'

/**
 * It would leave out U+FEFF at the beginning of a value, write moments in the time zone of the machine, and infinities as
 * the day or the moment that their number stands for.
 */
export function readValuesAsTheyAre(): void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  textDecoder.decode = decoder.decode.bind(decoder)
  DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
  sayInfinity(DuckDBDateValue, ({ days }) => days)
  sayInfinity(DuckDBTimestampSecondsValue, ({ seconds }) => seconds)
  sayInfinity(DuckDBTimestampMillisecondsValue, ({ millis }) => millis)
  sayInfinity(DuckDBTimestampNanosecondsValue, ({ nanos }) => nanos)
}

interface ValueClass<T> {
  readonly prototype: T
  readonly PosInf: T
  readonly NegInf: T
}

function sayInfinity<T extends object>(
  { prototype, PosInf, NegInf }: ValueClass<T>,
  numberOf: (value: T) => number | bigint,
): void {
  const finite = Reflect.get(prototype, 'toString') as (this: T) => string
  const [most, least] = [numberOf(PosInf), numberOf(NegInf)]
  prototype.toString = function (this: T) {
    const number = numberOf(this)
    if (number === most) return 'infinity'
    return number === least ? '-infinity' : finite.call(this)
  }
}
