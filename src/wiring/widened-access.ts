// What an edit of eider.yml lets somebody do who could not do it before. A service that takes it up says so in its log.

import type { ReaderToken } from '../access/hashed-tokens.ts'
import type { ScopeName } from '../access/reader.ts'
import type { Logger } from '../core/logger.ts'
import { isLoopback } from '../http/auth.ts'
import type { Project } from '../project/project.ts'
import type { Settings } from '../project/settings.ts'

type Side = 'collect' | 'odata'

/** `at_restart`: settings that are read when a service starts. `followsTokens`: it takes up tokens before that. */
export function warnOfWiderAccess(
  side: Side,
  before: Project,
  after: Project,
  logger: Logger,
  followsTokens = true,
): void {
  const named = [...widerTokens(side, before, after), ...widerSenders(side, before, after)]
  const settings = widerSettings(side, before, after)
  const [now, later] = followsTokens ? [named, settings] : [[], [...named, ...settings]]
  if (now.length > 0) logger.warn('access-widened', { settings: now })
  if (later.length > 0) logger.warn('access-widened', { settings: later, at_restart: true })
}

const tokensOf = (side: Side, { readers, senders }: Project) =>
  (side === 'odata' ? readers : senders).tokens

const isOpen = (side: Side, project: Project): boolean =>
  project.settings[`${side}.token`] === null && tokensOf(side, project).length === 0

function widerTokens(side: Side, before: Project, after: Project): readonly string[] {
  if (isOpen(side, before)) return []
  return tokensOf(side, after).flatMap((token) => {
    const name = `${side}.tokens.${token.name}`
    const old = tokensOf(side, before).find((one) => one.name === token.name)
    if (old === undefined) return [name]
    const scopeKey = side === 'odata' ? 'sets' : 'targets'
    return [
      ...(old.hash === token.hash ? [] : [`${name}.hash`]),
      ...(isWiderScope(old.scope, token.scope) ? [`${name}.${scopeKey}`] : []),
      ...(isLater(old.expiresAt, token.expiresAt) ? [`${name}.expires`] : []),
      ...(hasOtherRows(old, token) ? [`${name}.rows`] : []),
    ]
  })
}

/** With a pattern that covers less than it did, it may be said of an edit that it widens although it does not. */
function isWiderScope(
  before: readonly ScopeName[] | null,
  after: readonly ScopeName[] | null,
): boolean {
  if (before === null) return false
  return after === null || after.some(({ text }) => !before.some((one) => one.text === text))
}

const isLater = (before: Date | null, after: Date | null): boolean =>
  before !== null && (after === null || after > before)

/** A condition that is new takes rows away; one that is gone or has changed may give some. */
function hasOtherRows(before: ReaderToken, after: ReaderToken): boolean {
  return before.rows.some(
    ({ set, text }) => !after.rows.some((one) => one.set === set && one.text === text),
  )
}

function widerSenders(side: Side, before: Project, after: Project): readonly string[] {
  if (side === 'odata') return []
  return after.signedSenders.flatMap((sender) => {
    const name = `collect.webhooks.${sender.name}`
    const old = before.signedSenders.find((one) => one.name === sender.name)
    if (old === undefined || old.target !== sender.target) return [name]
    const isNew = sender.secrets.some((secret) => !old.secrets.includes(secret))
    return [
      ...(isNew ? [`${name}.secret`] : []),
      ...(sender.toleranceMs > old.toleranceMs ? [`${name}.tolerance_seconds`] : []),
    ]
  })
}

function widerSettings(side: Side, old: Project, edited: Project): readonly string[] {
  const { settings: before } = old
  const { settings: after } = edited
  const isWider = {
    host: isLoopback(before[`${side}.host`]) && !isLoopback(after[`${side}.host`]),
    token: !isOpen(side, old) && isOpen(side, edited),
    cors_origins: after[`${side}.cors_origins`].some(
      (origin) => !before[`${side}.cors_origins`].includes(origin),
    ),
    accept_text_plain: side === 'collect' && isTurnedOn('collect.accept_text_plain', before, after),
    trust_proxy: side === 'odata' && isTurnedOn('odata.trust_proxy', before, after),
    explorer: side === 'odata' && showsMore(before['odata.explorer'], after['odata.explorer']),
  }
  return Object.entries(isWider).flatMap(([name, wider]) => (wider ? [`${side}.${name}`] : []))
}

const isTurnedOn = (
  name: 'collect.accept_text_plain' | 'odata.trust_proxy',
  before: Settings,
  after: Settings,
): boolean => after[name] && !before[name]

/** What the page shows by default depends on the host. */
const showsMore = (before: string | null, after: string | null): boolean =>
  before !== after && before !== 'project' && after !== 'off'
