// `schedule` of eider.yml: when `eider up` runs what.

import { isMap, type Node } from 'yaml'
import { parseTime } from './durations.ts'
import { limits } from '../core/limits.ts'
import { foldCase } from '../core/names.ts'
import type { Schedule, ScheduledRun } from '../core/schedule.ts'
import { didYouMean } from '../core/suggest.ts'
import { entriesOf, groupOf, isAbsent, itemsOf, type Members, type Reader } from './members.ts'
import { Cron } from 'croner'

export const scheduleKeys = ['timezone', 'runs'] as const
export const runKeys = ['name', 'every', 'cron', 'select', 'exclude'] as const

const EXPECTED = {
  every: 'a time from 1 second to 1 day, such as 5 minutes',
  cron: "a cron line of five fields that occurs, such as '0 3 * * *'",
  timezone: 'a time zone such as Europe/Oslo',
  runs: 'a list of runs, each with every or cron',
  when: 'a run with either every or cron',
  name: 'a string',
  selectors: 'a list of selectors, such as [tag:nightly+]',
}

/** Each run begins with a dash. */
const RUNS_HINT = 'such as runs: [{name: nightly, cron: "0 3 * * *"}]'

export function readSchedule(node: Node | null, reader: Reader): Schedule {
  const { source, refuse } = reader
  const nothing = { runs: [], source }
  if (isAbsent(node)) return nothing
  const hintFor = (name: string) =>
    (runKeys as readonly string[]).includes(name) ? RUNS_HINT : undefined
  const members = groupOf(node, 'schedule', scheduleKeys, reader, { hintFor })
  if (members === null) return nothing
  const timezone = timezoneOf(members)
  const list = members.node('runs') ?? null
  const key = isMap(node) ? entriesOf(node).find(({ name }) => name === 'runs')?.key : undefined
  const expected = `${EXPECTED.runs}, ${limits.scheduledRuns} at most`
  if (list === null && key !== undefined) refuse(key, 'schedule.runs', expected, RUNS_HINT)
  const items = itemsOf(list, 'schedule.runs', expected, reader, RUNS_HINT)
  if (list !== null && items.length > limits.scheduledRuns) {
    refuse(list, 'schedule.runs', expected)
    return nothing
  }
  const runs: ScheduledRun[] = []
  for (const [index, item] of items.entries()) {
    const path = `schedule.runs.${index + 1}`
    const run = readRun(item, path, timezone, reader)
    const same = runs.find(({ name }) => foldCase(name) === foldCase(run?.name ?? ''))
    if (same !== undefined)
      refuse(
        item,
        `${path}.name`,
        `a name other than "${same.name}", which is taken`,
        'give the runs different names, such as name: nightly',
      )
    else if (run !== null) runs.push(run)
  }
  return { runs, source }
}

function timezoneOf(members: Members): string {
  const given = members.text('timezone', EXPECTED.timezone)
  if (given !== null && isTimezone(given)) return given
  if (given !== null) {
    const hint = didYouMean(given, Intl.supportedValuesOf('timeZone')) ?? offsetHint(given)
    members.refuseMember('timezone', EXPECTED.timezone, hint)
  }
  return timezoneHere()
}

/** `UTC+2` says no place, so nobody knows when its summer begins. */
function offsetHint(given: string): string | undefined {
  const [, sign, hours] = /^(?:UTC|GMT)?\s*([+-])0?(\d{1,2})(?::?00)?$/i.exec(given) ?? []
  if (hours === undefined || Number(hours) > 12) return undefined
  // The signs of these names are the other way around.
  return `name a place; without summer time it is Etc/GMT${sign === '+' ? '-' : '+'}${hours}`
}

function readRun(node: Node, path: string, timezone: string, reader: Reader): ScheduledRun | null {
  const members = groupOf(node, path, runKeys, reader)
  if (members === null) return null
  const name = members.text('name', EXPECTED.name)
  const select = members.texts('select', EXPECTED.selectors)
  const exclude = members.texts('exclude', EXPECTED.selectors)
  if (members.has('every') === members.has('cron'))
    return members.refuseMember(null, EXPECTED.when, 'such as every: 5 minutes')
  const time = members.has('cron') ? cronOf(members, timezone) : everyOf(members)
  return time && { name: name ?? time.when, ...time, select, exclude }
}

interface Time {
  readonly when: string
  readonly dueAfter: DueAfter
}

function cronOf(members: Members, timezone: string): Time | null {
  const line = members.text('cron', EXPECTED.cron)
  if (line === null) return null
  // The library also says what it is for.
  if (/^@reboot$/i.test(line))
    return members.refuseMember(
      'cron',
      EXPECTED.cron,
      'write "eider run && eider up" to run at the start',
    )
  try {
    return { when: line, dueAfter: cronTimes(line, timezone) }
  } catch (error) {
    return members.refuseMember('cron', EXPECTED.cron, (error as Error).message)
  }
}

function everyOf(members: Members): Time | null {
  const text = members.text('every', EXPECTED.every)
  if (text === null) return null
  const ms = parseTime(text)
  if (ms !== null && ms >= limits.shortestScheduleMs && ms <= limits.longestEveryMs)
    return { when: `every ${text}`, dueAfter: everyInterval(ms) }
  const isRare = ms !== null && ms > limits.longestEveryMs
  const hint = isRare ? "for longer intervals use cron, such as cron: '0 3 * * 1'" : inWords(text)
  return members.refuseMember('every', EXPECTED.every, hint)
}

/** The words for a time such as `5m`, which other tools take. */
function inWords(text: string): string | undefined {
  const [, count, letter = ''] = /^([1-9]\d*) ?([smhd])$/i.exec(text) ?? []
  const unit = { s: 'second', m: 'minute', h: 'hour', d: 'day' }[letter.toLowerCase()]
  return unit === undefined ? undefined : `write ${count} ${unit}${count === '1' ? '' : 's'}`
}

// When a run is due: at equal intervals, or by a cron line in a time zone.

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

function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

const timezoneHere = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone
