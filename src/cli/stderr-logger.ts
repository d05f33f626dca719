// Log lines on stderr: readable on a terminal, JSON lines elsewhere.

import { createLogger, type Level, type LogLine, type Logger } from '../core/logger.ts'

interface LoggerOptions {
  readonly level: Level
  readonly json: boolean
  /** Where something is drawn on the terminal, lines go by it. */
  readonly write?: ((line: string) => void) | undefined
}

export function stderrLogger({ level, json, write = toStderr }: LoggerOptions): Logger {
  const show = json ? asJson : asText
  return createLogger((line) => write(show(line)), level)
}

const toStderr = (line: string) => void process.stderr.write(line + '\n')

function asJson({ time, level, event, fields }: LogLine): string {
  return JSON.stringify(
    { time: time.toISOString(), level, event, ...fields },
    (_key, value: unknown) =>
      value instanceof Error ? describe(value) : typeof value === 'bigint' ? String(value) : value,
  )
}

function asText({ time, level, event, fields }: LogLine): string {
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${fieldText(value)}`)
  return [time.toISOString().slice(11, 23), level.padEnd(5), event, ...shown].join(' ')
}

function fieldText(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(describe(value))
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}

const describe = (error: Error): string => error.stack ?? `${error.name}: ${error.message}`
