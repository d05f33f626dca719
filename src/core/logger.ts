// Structured log lines. Event names are constants; everything that varies is a field. Written to stderr only.

type Level = 'debug' | 'info' | 'warn' | 'error'
export type Fields = Readonly<Record<string, unknown>>

export interface Logger {
  debug(event: string, fields?: Fields): void
  info(event: string, fields?: Fields): void
  warn(event: string, fields?: Fields): void
  error(event: string, fields?: Fields): void
  child(fields: Fields): Logger
}

export type LogLine = {
  readonly time: Date
  readonly level: Level
  readonly event: string
  readonly fields: Fields
}

/** A logger that hands every line at or above `level` to `write`. */
export function createLogger(
  write: (line: LogLine) => void,
  level: Level = 'info',
  base: Fields = {},
): Logger {
  const order: readonly Level[] = ['debug', 'info', 'warn', 'error']
  const log =
    (lineLevel: Level) =>
    (event: string, fields: Fields = {}) => {
      if (order.indexOf(lineLevel) < order.indexOf(level)) return
      write({ time: new Date(), level: lineLevel, event, fields: { ...base, ...fields } })
    }
  return {
    debug: log('debug'),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
    child: (fields) => createLogger(write, level, { ...base, ...fields }),
  }
}
