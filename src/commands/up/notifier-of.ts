// Who is told, by `notify` of eider.yml.

import type { Notified } from '../../core/report/up.ts'
import { webhookUrl } from '../../project/notify.ts'
import type { Project } from '../../project/project.ts'
import type { Deliver, NotifierOptions } from '../../supervisor/notifier.ts'
import { runNotifyCommand } from '../../supervisor/notify-command.ts'
import { postWebhook } from '../../supervisor/webhook.ts'

/** Throws DiagnosticsError where the URL needs a variable that is not set. */
export function notifierOf(
  { notify, secrets, paths }: Project,
  onLine: (line: string) => void,
): Pick<NotifierOptions, 'on' | 'ways'> {
  const ways = new Map<Notified['by'], Deliver>()
  const url = webhookUrl(notify, secrets)
  const line = notify?.command ?? null
  if (url !== null) ways.set('webhook', (body, signal) => postWebhook(url, body, signal))
  if (line !== null)
    ways.set('command', (body, signal) =>
      runNotifyCommand({ line, cwd: paths.dir, onLine }, body, signal),
    )
  return { on: notify?.on ?? [], ways }
}
