// A notification for people, in one line.

import type { Notification } from '../core/report/up.ts'

export function notificationText(of: Omit<Notification, 'text'>, dueAt: string | null): string {
  const { event, project, target, schedule, failures, run } = of
  const where = target === null ? project : `${project} (${target})`
  return `${where}: the run "${schedule.name}" ${what()}`

  function what(): string {
    if (event === 'failed') return `failed: ${run?.reason ?? 'for an unknown reason'}`
    if (event === 'late')
      return `is late: it was due at ${dueAt ?? 'an unknown time'}, and none has succeeded since`
    if (failures === 0) return 'recovered: it was late'
    return `recovered after ${failures} ${failures === 1 ? 'failure' : 'failures'}`
  }
}
