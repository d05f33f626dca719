// Who may send events to which target: holders of a token, and services that sign their requests.

import { isInScope, type NamedToken } from '../core/named-tokens.ts'
import type { Webhook } from '../core/webhooks.ts'
import { logSender } from '../http/access-log.ts'
import { identify } from '../http/auth.ts'
import type { RequestHead } from '../http/head.ts'
import { refusal } from './errors.ts'

export interface Senders {
  /** One without a name, for all targets. */
  readonly token: string | null
  readonly named: readonly NamedToken[]
  readonly webhooks: readonly Webhook[]
}

/** The token, if it has a name. Throws 401 and 403. What a token is not for is refused whether it exists or not. */
export function requireSender(
  senders: Senders,
  request: RequestHead,
  target: string,
): NamedToken | null {
  const token = identify(request, senders)
  if (token === null) return null
  logSender(request, { token: token.name })
  if (isInScope(token.scope, target)) return token
  throw refusal('not-for-token', `the token "${token.name}" is not for "${target}"`, { target })
}

/** The webhook whose signature a request must have; null where a token is to be shown, if anything. */
export function webhookOf(
  { webhooks, token, named }: Senders,
  { headers }: RequestHead,
  target: string,
): Webhook | null {
  const found = webhooks.find((webhook) => webhook.target === target)
  if (found === undefined) return null
  const hasTokens = token !== null || named.length > 0
  return headers.authorization === undefined || !hasTokens ? found : null
}

/** Whether a request shows a token for all targets, or none is needed. */
export function seesAll(senders: Senders, request: RequestHead): boolean {
  try {
    return (identify(request, senders)?.scope ?? null) === null
  } catch {
    return false
  }
}
