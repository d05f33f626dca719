// Who may send events to which target: holders of a token, and services that sign their requests.

import type { AccessList, Who, SignedSender } from '../access/credential.ts'
import { isInScope } from '../access/reader.ts'
import { logSender } from '../http/access-log.ts'
import { whoAsks, answersTo, hostName, takesOrigin } from '../http/auth.ts'
import type { RequestHead } from '../http/head.ts'
import { refusal } from './errors.ts'

export interface Senders extends Omit<AccessList, 'signer'> {
  readonly signed: readonly SignedSender[]
}

/** Signed senders that are gone and leave their targets to everybody, with no secret: nobody's signature is right. */
export function closedTargets(before: Senders, after: Senders): readonly SignedSender[] {
  if (after.token !== null || after.named.length > 0) return []
  return before.signed
    .filter(({ target }) => !after.signed.some((one) => one.target === target))
    .map((sender) => ({ ...sender, secrets: [] }))
}

/** Who sends. Throws 401 and 403. What a token is not for is refused whether it exists or not. */
export function requireSender(
  { token, named, signed }: Senders,
  request: RequestHead,
  target: string,
): Who | Promise<Who> {
  const ofTarget = signed.find((sender) => sender.target === target) ?? null
  const who = whoAsks(request, { token, named, signer: ofTarget })
  const scoped = (sender: Who) => requireScope(sender, request, target)
  return who instanceof Promise ? who.then(scoped) : scoped(who)
}

function requireScope(sender: Who, request: RequestHead, target: string): Who {
  // Whose body has to be looked at is not known yet.
  if (sender === null || sender.requireBody !== undefined) return sender
  logSender(request, { token: sender.name })
  if (isInScope(sender.scope, target)) return sender
  throw refusal('not-for-token', `the token "${sender.name}" is not for "${target}"`, { target })
}

/** Whether a request shows a token for all targets, or none is needed. */
export async function seesAll({ token, named }: Senders, request: RequestHead): Promise<boolean> {
  try {
    return ((await whoAsks(request, { token, named }))?.scope ?? null) === null
  } catch {
    return false
  }
}

// Who may send events. Without a token a daemon on a loopback address trusts the programs of its machine, and a web page
// open in a browser there is not one of them.

/** Throws 403 for a request of a web page. `allowedOrigins` are those of pages that may send events. */
export function requireProgram(
  request: RequestHead,
  listeningOn: string,
  allowedOrigins: readonly string[],
): void {
  const { host, origin } = request.headers
  // A client that speaks HTTP/1.0 may leave the header out; a browser does not.
  if (host !== undefined && !answersTo(hostName(host) ?? '', listeningOn))
    throw refusal(
      'host-not-allowed',
      `this daemon answers to loopback names only, not to "${host.slice(0, 60)}"; set collect.host, or let the proxy send Host: ${listeningOn}`,
      { target: 'Host' },
    )
  if (!takesOrigin(origin, listeningOn, allowedOrigins))
    throw refusal(
      'origin-not-allowed',
      `the origin ${origin?.slice(0, 60)} is not in collect.cors_origins of eider.yml`,
      { target: 'Origin' },
    )
}
