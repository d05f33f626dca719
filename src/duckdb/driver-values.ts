// How the driver reads values, for the whole process.

import { DuckDBTimestampTZValue } from '@duckdb/node-api'
import { textDecoder } from '@duckdb/node-api/lib/vectors/dataAccessors.js'

/** It would leave out U+FEFF at the beginning of a value, and write moments in the time zone of the machine. */
export function readValuesAsTheyAre(): void {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  textDecoder.decode = decoder.decode.bind(decoder)
  DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0
}
