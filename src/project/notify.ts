// `notify` of eider.yml: who is told when scheduled runs fail, recover or are late.

import type { Node } from 'yaml'
import { parseTime } from './durations.ts'
import { limits } from '../core/limits.ts'
import {
  type NotificationWay,
  type Notify,
  type Occasion,
  occasions,
  type Recipient,
} from '../core/notifications.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { SourceFile } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { malformedReference, valueInForce } from './environment-values.ts'
import type { Project } from './project.ts'
import { groupOf, isAbsent, type Refuse, spanOf, textMember, textsMember } from './members.ts'

interface WayReader {
  /** For "must be …". */
  readonly expected: string
  /** Whether `${NAME}` stands for a value of the environment. No message then shows the line: it may be a secret. */
  readonly isFilled: boolean
  /** Whether a text can be right, also while values of the environment are missing. */
  readonly mayBe: (text: string) => boolean
  /** Whether a text with all its values is right. */
  readonly accepts: (text: string) => boolean
}

/** How each way of notifying is written. One that is missing here does not compile. */
const ways: Readonly<Record<NotificationWay, WayReader>> = {
  webhook: {
    expected: 'an http or https URL, such as ${NOTIFY_URL}',
    isFilled: true,
    // Where a variable may hold the beginning, the URL is checked when its value is known.
    mayBe: (url) => url.startsWith('${') || isWebUrl(url.replaceAll(/\$\{[^}]*\}/g, '1')),
    accepts: isWebUrl,
  },
  command: {
    expected: 'a command line, such as ./notify.sh',
    isFilled: false,
    mayBe: () => true,
    accepts: () => true,
  },
}

const wayNames = Object.keys(ways) as readonly NotificationWay[]
export const secretNotifyKeys: readonly string[] = wayNames
  .filter((way) => ways[way].isFilled)
  .map((way) => `notify.${way}`)

const notifyKeys = ['on', 'late_after', ...wayNames] as const
const EXPECTED_OCCASIONS = `a list of ${occasions.join(', ')}`
const EXPECTED_LATE_AFTER = 'a time from 1 second to 366 days, such as 30 minutes'

/** null where nobody is to be told. */
export function readNotify(node: Node | null, source: SourceFile, refuse: Refuse): Notify | null {
  if (isAbsent(node)) return null
  const members = groupOf(node, 'notify', notifyKeys, refuse)
  if (members === null) return null
  const recipients = wayNames.flatMap((way) => recipientOf(way, members, source, refuse) ?? [])
  if (!wayNames.some((way) => members.has(way)))
    refuse(
      node,
      'notify',
      `a group with ${wayNames.join(' or ')}`,
      'such as webhook: ${NOTIFY_URL}',
    )
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
  return { on: isLateMeant ? occasions : on, lateAfterMs, recipients }
}

function occasionsOf(
  members: ReadonlyMap<string, Node>,
  refuse: Refuse,
): readonly Occasion[] | null {
  if (!members.has('on')) return null
  return textsMember(members, 'on', 'notify', EXPECTED_OCCASIONS, refuse).flatMap(
    ({ text: written, node }) => {
      const found = occasions.find((name) => name === written)
      if (found !== undefined) return [found]
      refuse(node, 'notify.on', EXPECTED_OCCASIONS, didYouMean(written, occasions))
      return []
    },
  )
}

function lateAfterOf(members: ReadonlyMap<string, Node>, refuse: Refuse): number | null {
  const written = textMember(members, 'late_after', 'notify', EXPECTED_LATE_AFTER, refuse)
  if (written === null) return null
  const ms = parseTime(written)
  if (ms !== null && ms >= limits.shortestScheduleMs && ms <= limits.longestLateMs) return ms
  refuse(members.get('late_after')!, 'notify.late_after', EXPECTED_LATE_AFTER)
  return null
}

function recipientOf(
  way: NotificationWay,
  members: ReadonlyMap<string, Node>,
  source: SourceFile,
  refuse: Refuse,
): Recipient | null {
  const node = members.get(way)
  const { expected, isFilled, mayBe } = ways[way]
  const written = textMember(members, way, 'notify', expected, refuse)
  if (node === undefined || written === null) return null
  const malformed = isFilled ? malformedReference(written) : null
  const problem = malformed ?? (mayBe(written) ? null : expected)
  if (problem !== null) refuse(node, `notify.${way}`, problem)
  const { start, end } = spanOf(node)
  return { way, text: written, source, span: { start, end: isFilled ? start : end } }
}

/** Where each recipient is, with the values of the environment. Throws DiagnosticsError for a variable that is not set. */
export function recipientsInForce(
  notify: Notify | null,
  environments: Project['secrets'],
): ReadonlyMap<NotificationWay, string> {
  const found = new Map<NotificationWay, string>()
  for (const { way, text: written, source, span } of notify?.recipients ?? []) {
    const { expected, isFilled, accepts } = ways[way]
    const key = `notify.${way}`
    const value = isFilled ? valueInForce(written, environments, { key, source, span }) : written
    const hint = 'with the values of its variables it is not such a URL'
    if (!accepts(value))
      throw new DiagnosticsError([
        diagnostic('config-invalid-value', { key, expected }, { source, span }, { hint }),
      ])
    found.set(way, value)
  }
  return found
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
}
