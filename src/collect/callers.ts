// Who may send events. Without a token a daemon on a loopback address trusts the programs of its machine, and a web page
// open in a browser there is not one of them.

import type { RequestHead } from '../http/head.ts'
import { answersTo, hostName, takesOrigin } from '../http/auth.ts'
import { refusal } from './errors.ts'

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
