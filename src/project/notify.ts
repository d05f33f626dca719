// `notify` of eider.yml: who is told when scheduled runs fail, recover or are late.

import { isMap, type Node } from 'yaml'
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
import { didYouMean } from '../core/suggest.ts'
import { type Environments, malformedReference, valueInForce } from './environment-values.ts'
import { groupOf, isAbsent, type Members, type Reader, spanOf, startOf } from './members.ts'

interface WayReader {
  /** What follows "must be" in an error. */
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
const secretWays = wayNames.filter((way) => ways[way].isFilled)

const notifyKeys = ['on', 'late_after', ...wayNames] as const
const EXPECTED_OCCASIONS = `a list of ${occasions.join(', ')}`
const EXPECTED_LATE_AFTER = 'a time from 1 second to 366 days, such as 30 minutes'

/** null where nobody is to be told. */
export function readNotify(node: Node | null, reader: Reader): Notify | null {
  if (isAbsent(node)) return null
  if (!isMap(node))
    return reader.refuse(
      startOf(node),
      'notify',
      `a group of ${notifyKeys.join(', ')}`,
      'such as {webhook: "${NOTIFY_URL}"}, or {command: ./notify.sh}, which can send mail',
    )
  const members = groupOf(node, 'notify', notifyKeys, reader, { hidden: secretWays })
  if (members === null) return null
  const recipients = wayNames.flatMap((way) => recipientOf(way, members) ?? [])
  if (!wayNames.some((way) => members.has(way)))
    members.refuseMember(
      null,
      `a group with ${wayNames.join(' or ')}`,
      'such as webhook: ${NOTIFY_URL}',
    )
  const lateAfterMs = lateAfterOf(members)
  const on = occasionsOf(members) ?? occasions.filter((name) => name !== 'late')
  if (on.includes('late') && !members.has('late_after'))
    members.refuseMember(
      'on',
      'without late, or late_after be set',
      'such as late_after: 30 minutes',
    )
  // To set it is to ask for it.
  const isLateMeant = !members.has('on') && lateAfterMs !== null
  return { on: isLateMeant ? occasions : on, lateAfterMs, recipients }
}

function occasionsOf(members: Members): readonly Occasion[] | null {
  if (!members.has('on')) return null
  return members.texts('on', EXPECTED_OCCASIONS).flatMap(({ text, span }) => {
    const found = occasions.find((name) => name === text)
    if (found !== undefined) return [found]
    members.refuse(span, 'notify.on', EXPECTED_OCCASIONS, didYouMean(text, occasions))
    return []
  })
}

function lateAfterOf(members: Members): number | null {
  const written = members.text('late_after', EXPECTED_LATE_AFTER)
  if (written === null) return null
  const ms = parseTime(written)
  const isRight = ms !== null && ms >= limits.shortestScheduleMs && ms <= limits.longestLateMs
  return isRight ? ms : members.refuseMember('late_after', EXPECTED_LATE_AFTER)
}

function recipientOf(way: NotificationWay, members: Members): Recipient | null {
  const node = members.node(way)
  const { expected, isFilled, mayBe } = ways[way]
  const text = members.text(way, expected)
  if (node === undefined || text === null) return null
  const malformed = isFilled ? malformedReference(text) : null
  const problem = malformed ?? (mayBe(text) ? null : expected)
  if (problem !== null) members.refuseMember(way, problem)
  return { way, text, source: members.source, span: isFilled ? startOf(node) : spanOf(node) }
}

/** Where each recipient is, with the values of the environment. Throws DiagnosticsError for a variable that is not set. */
export function recipientsInForce(
  notify: Notify | null,
  environments: Environments,
): ReadonlyMap<NotificationWay, string> {
  const found = new Map<NotificationWay, string>()
  for (const { way, text: written, source, span } of notify?.recipients ?? []) {
    const { expected, isFilled, accepts } = ways[way]
    const key = `notify.${way}`
    const value = isFilled ? valueInForce(written, environments, { key, source, span }) : written
    const hint = 'with the values of its variables it is not such a URL'
    if (!accepts(value))
      throw new DiagnosticsError([
        diagnostic('config-invalid-value', { key, expected }, { source, span }, hint),
      ])
    found.set(way, value)
  }
  return found
}

function isWebUrl(url: string): boolean {
  return URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol)
}
