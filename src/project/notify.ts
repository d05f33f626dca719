// `notify` of eider.yml: who is told when scheduled runs fail, recover or are late.

import type { Node } from 'yaml'
import { parseTime } from '../core/durations.ts'
import { limits } from '../core/limits.ts'
import { type Notify, type Occasion, occasions, type WrittenUrl } from '../core/schedule.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { SourceFile } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { malformedReference, valueInForce } from './environment-values.ts'
import type { Project } from './project.ts'
import { groupOf, isAbsent, type Refuse, spanOf, textMember, textsMember } from './members.ts'

export const notifyKeys = ['on', 'late_after', 'webhook', 'command'] as const

const EXPECTED = {
  on: `a list of ${occasions.join(', ')}`,
  lateAfter: 'a time from 1 second to 366 days, such as 30 minutes',
  webhook: 'an http or https URL, such as ${NOTIFY_URL}',
  command: 'a command line, such as ./notify.sh',
}

/** null where nobody is to be told. */
export function readNotify(node: Node | null, source: SourceFile, refuse: Refuse): Notify | null {
  if (isAbsent(node)) return null
  const members = groupOf(node, 'notify', notifyKeys, refuse)
  if (members === null) return null
  const webhook = webhookOf(members, source, refuse)
  const command = textMember(members, 'command', 'notify', EXPECTED.command, refuse)
  if (!members.has('webhook') && !members.has('command'))
    refuse(node, 'notify', 'a group with webhook or command', 'such as webhook: ${NOTIFY_URL}')
  const lateAfterMs = lateAfterOf(members, refuse)
  const on = occasionsOf(members, refuse) ?? occasions.filter((name) => name !== 'late')
  const isLateMissing = on.includes('late') && !members.has('late_after')
  if (isLateMissing)
    refuse(
      members.get('on') ?? node,
      'notify.on',
      'without late, or late_after be set',
      'such as late_after: 30 minutes',
    )
  // To set it is to ask for it.
  const isLateMeant = !members.has('on') && lateAfterMs !== null
  return { on: isLateMeant ? occasions : on, lateAfterMs, webhook, command }
}

function occasionsOf(
  members: ReadonlyMap<string, Node>,
  refuse: Refuse,
): readonly Occasion[] | null {
  if (!members.has('on')) return null
  return textsMember(members, 'on', 'notify', EXPECTED.on, refuse).flatMap(({ text, node }) => {
    const found = occasions.find((name) => name === text)
    if (found !== undefined) return [found]
    refuse(node, 'notify.on', EXPECTED.on, didYouMean(text, occasions))
    return []
  })
}

function lateAfterOf(members: ReadonlyMap<string, Node>, refuse: Refuse): number | null {
  const text = textMember(members, 'late_after', 'notify', EXPECTED.lateAfter, refuse)
  if (text === null) return null
  const ms = parseTime(text)
  if (ms !== null && ms >= limits.shortestScheduleMs && ms <= limits.longestLateMs) return ms
  refuse(members.get('late_after')!, 'notify.late_after', EXPECTED.lateAfter)
  return null
}

function webhookOf(
  members: ReadonlyMap<string, Node>,
  source: SourceFile,
  refuse: Refuse,
): WrittenUrl | null {
  const node = members.get('webhook')
  const text = textMember(members, 'webhook', 'notify', EXPECTED.webhook, refuse)
  if (node === undefined || text === null) return null
  const { start } = spanOf(node)
  const problem = malformedReference(text) ?? (isPerhapsUrl(text) ? null : EXPECTED.webhook)
  if (problem !== null) refuse(node, 'notify.webhook', problem)
  return { text, source, span: { start, end: start } }
}

/** The webhook with its values; null: there is none. Throws DiagnosticsError for a variable that is not set. */
export function webhookUrl(notify: Notify | null, environments: Project['secrets']): string | null {
  if (notify?.webhook == null) return null
  const { text, source, span } = notify.webhook
  const url = valueInForce(text, environments, { key: 'notify.webhook', source, span })
  if (isWebUrl(url)) return url
  const parameters = { key: 'notify.webhook', expected: EXPECTED.webhook }
  const hint = 'with the values of its variables it is not such a URL'
  throw new DiagnosticsError([
    diagnostic('config-invalid-value', parameters, { source, span }, { hint }),
  ])
}

/** Where a variable may hold the beginning, the URL is checked when its value is known. */
const isPerhapsUrl = (text: string) =>
  text.startsWith('${') || isWebUrl(text.replaceAll(/\$\{[^}]*\}/g, '1'))

const isWebUrl = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
