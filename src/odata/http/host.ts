// The name by which a client reached the service.

import type { IncomingMessage } from 'node:http'
import { answersTo, hostName } from '../../http/web-pages.ts'
import { odataError } from '../protocol/errors.ts'

/** The Host header, from which next links and context URLs are built. */
export function requireHost(request: IncomingMessage, listeningOn: string): string {
  const { localAddress = '', localPort } = request.socket
  const address = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  const host = request.headers.host ?? `${address}:${localPort}`
  const name = hostName(host)
  if (name === null)
    throw odataError('invalid-header', 'the Host header is not a host name', { target: 'Host' })
  if (!answersTo(name, listeningOn))
    throw odataError(
      'host-not-allowed',
      `this service answers to loopback names only, not to "${name.slice(0, 60)}"; set odata.host, or let the proxy send Host: ${listeningOn}`,
      {
        target: 'Host',
      },
    )
  return host
}
