// When a run is due: at equal intervals, or by a cron line in a time zone.

import { Cron } from 'croner'

export type DueAfter = (timeMs: number) => number

/** Counted from midnight UTC, so that it is the same times after a restart. */
export const everyInterval =
  (intervalMs: number): DueAfter =>
  (timeMs) =>
    (Math.floor(timeMs / intervalMs) + 1) * intervalMs

/**
 * Throws an Error that says what is wrong with the line. A time that a change to summer time leaves out comes when the
 * clocks change; one that comes twice in autumn counts once, unless the line has it in each hour.
 */
export function cronTimes(line: string, timezone: string): DueAfter {
  const fields = line.split(/\s+/).length
  if (fields !== 5 && !line.startsWith('@'))
    throw new Error(`minute, hour, day, month and weekday; this has ${fields}`)
  let cron: Cron
  try {
    cron = new Cron(line, { timezone, mode: '5-part' })
  } catch (error) {
    throw new Error((error as Error).message.replace(/^\w+: /, ''), { cause: error })
  }
  const dueAfter = (timeMs: number) => cron.nextRun(new Date(timeMs))?.getTime() ?? Infinity
  if (dueAfter(Date.now()) === Infinity) throw new Error('no month has such a day')
  return dueAfter
}

export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

export const timezoneHere = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone
