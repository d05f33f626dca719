// What `eider up` says: a head, then one line for each thing that happens, and the lines of its children.

import { byEvent } from '../core/by-kind.ts'
import { count } from '../core/counts.ts'
import { behindText } from '../core/report/behind-text.ts'
import type { RunRecord, Upcoming, UpEvent } from '../core/report/up.ts'
import type { Paint, Style } from './paint.ts'
import { duration } from './run-lines.ts'

/** `time`, who, what, and the rest. */
export function upLine(
  time: string,
  [who, what, says]: readonly [who: string, what: string, says: string],
  paint: Paint,
): string {
  const style = styleOf[what]
  const head = what.padEnd(9)
  return `${time}  ${who.padEnd(8)}${style === undefined ? head : paint(style, head)} ${says}`.trimEnd()
}

const styleOf: Readonly<Record<string, Style>> = {
  ok: 'green',
  started: 'green',
  failed: 'red',
  ended: 'red',
  late: 'red',
  behind: 'red',
  fresh: 'green',
  busy: 'yellow',
  skipped: 'yellow',
  missed: 'yellow',
}

/** null: nothing that people want to read. */
export const upText = byEvent<UpEvent, readonly [string, string, string] | null>({
  'service-started': ({ service, restarts }) =>
    restarts === 0 ? null : [service, 'started', `again, for the ${ordinal(restarts)} time`],
  'service-ended'({ service, because, again_in_ms: ms }) {
    const next = ms === null ? 'not started again' : `started again in ${duration(ms)}`
    return [service, 'ended', `${because}, ${next}`]
  },
  'scheduled-run-skipped': ({ name }) => [
    'run',
    'skipped',
    `${name}: it waits already for the run at work`,
  ],
  'scheduled-runs-missed': ({ name, missed }) => [
    'run',
    'missed',
    `${name}: ${count(missed, 'time')}; one run makes up for them`,
  ],
  'scheduled-run-finished': (run) => ['run', run.status, runText(run)],
  'run-late': ({ name, due }) => [
    'run',
    'late',
    `${name}: due at ${due}, and none has succeeded since`,
  ],
  'set-behind': (set) => ['set', 'behind', behindText(set)],
  'set-fresh': ({ name }) => ['set', 'fresh', `${name} is fresh again`],
  notified({ ok, on, by, answer, tries }) {
    const again = tries > 1 ? ` after ${tries} tries` : ''
    return ['notify', ok ? on : 'failed', `${by} ${answer}${again}`]
  },
  'up-stopping': ({ because }) => ['up', 'stopping', because],
  'up-ready': () => null,
  'scheduled-run-started': () => null,
})

/** `212 events, 3 built, 2 unchanged, 0.4 s`, or why not. */
function runText(run: RunRecord): string {
  if (run.reason !== null) return `${run.name}: ${run.reason}`
  const counts = [
    ...(run.events > 0 ? [count(run.events, 'event')] : []),
    ...(run.built > 0 ? [`${run.built} built`] : []),
    ...(run.unchanged > 0 ? [`${run.unchanged} unchanged`] : []),
    duration(run.ms),
  ]
  return `${run.name}: ${counts.join(', ')}`
}

export function upcomingText(runs: readonly Upcoming[]): string {
  if (runs.length === 0) return 'none: write a schedule into eider.yml'
  return runs
    .map(({ name, when, next }) => {
      const named = name === when ? when : `${name}: ${when}`
      return next === null ? named : `${named} (next ${clockText(new Date(next), new Date())})`
    })
    .join(' · ')
}

/** `14:05`, of another day with its date. */
export function clockText(time: Date, now: Date): string {
  const text = time.toTimeString().slice(0, 8).replace(/:00$/, '')
  if (time.toDateString() === now.toDateString()) return text
  const two = (part: number) => String(part).padStart(2, '0')
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${text}`
}

function ordinal(count: number): string {
  const suffix = { one: 'st', two: 'nd', few: 'rd', other: 'th' } as Record<string, string>
  return `${count}${suffix[new Intl.PluralRules('en', { type: 'ordinal' }).select(count)]}`
}

type Entry = Readonly<Record<string, unknown>>

/** A line of a child as JSON, one object, or else for people; null: nothing was said. */
export function childLine(source: string, line: string, json: boolean): string | null {
  if (line.trim() === '') return null
  const entry = parse(line)
  return json ? asJson(source, line, entry) : asText(source, line, entry)
}

function asJson(source: string, line: string, entry: Entry | null): string {
  if (entry !== null) return JSON.stringify({ ...entry, process: source })
  const time = new Date().toISOString()
  return JSON.stringify({ time, level: 'info', event: 'output', text: line, process: source })
}

function asText(source: string, line: string, entry: Entry | null): string {
  const who = source.padEnd(8)
  if (entry === null) return `${new Date().toTimeString().slice(0, 8)}  ${who}${line}`
  const { time, level, event, ...fields } = entry
  const shown = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const clock = new Date(String(time)).toTimeString().slice(0, 8)
  return [`${clock}  ${who}${String(level).padEnd(9)}`, String(event), ...shown].join(' ')
}

/** null for what is not a line of a log. */
function parse(line: string): Entry | null {
  if (!line.startsWith('{')) return null
  try {
    const entry = JSON.parse(line) as Entry
    return typeof entry['time'] === 'string' && typeof entry['event'] === 'string' ? entry : null
  } catch {
    return null
  }
}
