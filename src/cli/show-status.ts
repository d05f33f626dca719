// `eider status` for people.

import { count } from '../core/counts.ts'
import type { RunStatus, ServiceStatus, UpStatus } from '../core/report/up-status.ts'
import type { Paint } from './paint.ts'
import { clockText } from './show-up.ts'

export function showUpStatus(status: UpStatus, now: Date, paint: Paint): string {
  const { up, services, runs, notify, problems } = status
  const where = status.target === null ? status.project : `${status.project} (${status.target})`
  const head =
    up === null
      ? `${where}: nothing is running`
      : `${where}: eider up has been running since ${clockText(new Date(up.since), now)} (process ${up.pid})`
  const sent = notify.sent + notify.failed === 0 ? [] : [row('notify', notifyText(notify))]
  const lines = [
    ...services.map((service) => row(service.service, serviceText(service, now, paint))),
    row('events', eventsText(status)),
    row('snapshot', publicationText(status, now)),
    ...runs.map((run, i) => row(i === 0 ? 'runs' : '', runText(run, now, paint))),
    ...sent,
  ]
  const end = problems.map(
    ({ message, next }) => `${paint('red', 'problem')}   ${message}\n  next: ${next}`,
  )
  const outcome = problems.length === 0 ? [paint('green', 'healthy')] : end
  return [head, '', ...lines, '', ...outcome].join('\n')
}

const row = (name: string, text: string) => `${name.padEnd(9)} ${text}`

function serviceText(
  { state, url, since, restarts, health, last_end: end }: ServiceStatus,
  now: Date,
  paint: Paint,
): string {
  const isGood = state === 'running' && (url === null || health === 'ok')
  const what = paint(isGood ? 'green' : 'red', state === 'running' ? (health ?? state) : state)
  const again =
    restarts === 0 ? '' : `, started again ${count(restarts, 'time')}, last exit: ${end}`
  return `${what} since ${clockText(new Date(since), now)}  ${url ?? ''}${again}`.trimEnd()
}

function eventsText({ events: { waiting, bytes } }: UpStatus): string {
  if (waiting === null) return `${count(bytes, 'byte')} waiting for a run`
  return waiting === 0 ? 'none waiting' : `${count(waiting, 'event')} waiting for a run`
}

function publicationText({ publication }: UpStatus, now: Date): string {
  if (publication === null) return 'nothing is published yet'
  return `${publication.id}, published ${agoText(publication.published_at, now)}`
}

function runText(run: RunStatus, now: Date, paint: Paint): string {
  const { name, when, next, last, working_since: since, skipped, missed, late } = run
  const status = last?.status ?? 'never run'
  const style = status === 'ok' ? 'green' : status === 'failed' ? 'red' : 'yellow'
  const parts = [
    paint(style, status) + (last === null ? '' : ` ${agoText(last.started_at, now)}`),
    ...(since === null ? [] : [`working since ${clockText(new Date(since), now)}`]),
    ...(late ? [paint('red', 'late')] : []),
    ...(next === null ? [] : [`next ${clockText(new Date(next), now)}`]),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(missed > 0 ? [`${missed} missed`] : []),
  ]
  return `${name === when ? name : `${name} (${when})`}: ${parts.join(', ')}`
}

function notifyText({ sent, failed, last_failure: last }: UpStatus['notify']): string {
  const why = last === null ? '' : ` (${last.answer} at ${last.at})`
  return `${sent} sent${failed === 0 ? '' : `, ${failed} failed${why}`}`
}

/** `4 minutes ago`. */
function agoText(time: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(time)) / 1000))
  if (seconds < 100) return `${count(seconds, 'second')} ago`
  const minutes = Math.round(seconds / 60)
  if (minutes < 100) return `${count(minutes, 'minute')} ago`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${count(hours, 'hour')} ago` : `${count(Math.round(hours / 24), 'day')} ago`
}
