// `schedule` of eider.yml: when `eider up` runs what.

import { type Node, isSeq } from 'yaml'
import { parseTime } from './durations.ts'
import { limits } from '../core/limits.ts'
import { foldCase } from '../core/names.ts'
import type { Schedule, ScheduledRun, WrittenSelector } from '../core/schedule.ts'
import type { SourceFile } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { cronTimes, type DueAfter, everyInterval, isTimezone, timezoneHere } from './due-times.ts'
import { groupOf, isAbsent, type Refuse, spanOf, textMember, textsMember } from './members.ts'

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

export function readSchedule(node: Node | null, source: SourceFile, refuse: Refuse): Schedule {
  const nothing = { runs: [], source }
  if (isAbsent(node)) return nothing
  const members = groupOf(node, 'schedule', scheduleKeys, refuse)
  if (members === null) return nothing
  const timezone = timezoneOf(members, refuse)
  const list = members.get('runs')
  if (list === undefined) return nothing
  if (!isSeq(list) || list.items.length > limits.scheduledRuns) {
    refuse(list, 'schedule.runs', `${EXPECTED.runs}, ${limits.scheduledRuns} at most`)
    return nothing
  }
  const runs: ScheduledRun[] = []
  for (const [index, item] of (list.items as readonly Node[]).entries()) {
    const run = readRun(item, `schedule.runs.${index + 1}`, timezone, refuse)
    const same = runs.find(({ name }) => foldCase(name) === foldCase(run?.name ?? ''))
    if (same !== undefined)
      refuse(
        item,
        `schedule.runs.${index + 1}.name`,
        `a name other than "${same.name}", which is taken`,
        'give the runs different names, such as name: nightly',
      )
    else if (run !== null) runs.push(run)
  }
  return { runs, source }
}

function timezoneOf(members: ReadonlyMap<string, Node>, refuse: Refuse): string {
  const given = textMember(members, 'timezone', 'schedule', EXPECTED.timezone, refuse)
  if (given === null) return timezoneHere()
  if (isTimezone(given)) return given
  const hint = didYouMean(given, Intl.supportedValuesOf('timeZone'))
  refuse(members.get('timezone')!, 'schedule.timezone', EXPECTED.timezone, hint)
  return timezoneHere()
}

function readRun(node: Node, path: string, timezone: string, refuse: Refuse): ScheduledRun | null {
  const members = groupOf(node, path, runKeys, refuse)
  if (members === null) return null
  const selectors = (key: string): readonly WrittenSelector[] =>
    textsMember(members, key, path, EXPECTED.selectors, refuse).map((item) => ({
      text: item.text,
      span: spanOf(item.node),
    }))
  const name = textMember(members, 'name', path, EXPECTED.name, refuse)
  const [select, exclude] = [selectors('select'), selectors('exclude')]
  if (members.has('every') === members.has('cron')) {
    refuse(node, path, EXPECTED.when, 'such as every: 5 minutes')
    return null
  }
  const time = members.has('cron')
    ? cronOf(members, path, timezone, refuse)
    : everyOf(members, path, refuse)
  return time === null ? null : { name: name ?? time.when, ...time, select, exclude }
}

interface Time {
  readonly when: string
  readonly dueAfter: DueAfter
}

function cronOf(
  members: ReadonlyMap<string, Node>,
  path: string,
  timezone: string,
  refuse: Refuse,
): Time | null {
  const line = textMember(members, 'cron', path, EXPECTED.cron, refuse)
  if (line === null) return null
  try {
    return { when: line, dueAfter: cronTimes(line, timezone) }
  } catch (error) {
    refuse(members.get('cron')!, `${path}.cron`, EXPECTED.cron, (error as Error).message)
    return null
  }
}

function everyOf(members: ReadonlyMap<string, Node>, path: string, refuse: Refuse): Time | null {
  const text = textMember(members, 'every', path, EXPECTED.every, refuse)
  if (text === null) return null
  const ms = parseTime(text)
  if (ms !== null && ms >= limits.shortestScheduleMs && ms <= limits.longestEveryMs)
    return { when: `every ${text}`, dueAfter: everyInterval(ms) }
  const isRare = ms !== null && ms > limits.longestEveryMs
  const hint = isRare ? "for longer intervals use cron, such as cron: '0 3 * * 1'" : undefined
  refuse(members.get('every')!, `${path}.every`, EXPECTED.every, hint)
  return null
}
