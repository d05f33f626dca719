// What the machines of the tests of faults collect, flush and build.

/** Of rows.csv, in which each number is a row. */
export const rowsUpTo = (last: number): string =>
  `n\n${Array.from({ length: last }, (_, i) => `${i + 1}\n`).join('')}`

export const faultProject: Readonly<Record<string, string>> = {
  'rows.csv': rowsUpTo(1),
  'models/raw/orders.sql': '-- @kind: events\nid bigint not null\n',
  'models/core/orders.sql': '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nFROM raw.orders\n',
  // Nothing but order and fence keeps two runs from appending the same rows twice.
  'models/core/log.sql':
    "-- @kind: append\n-- @incremental: n\nSELECT n::BIGINT AS n FROM read_csv('rows.csv')\n",
}
