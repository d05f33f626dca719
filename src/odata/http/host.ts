// How a client has reached the service: by which name, and whether it is a person in a browser.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { answersTo, hostName } from '../../http/auth.ts'
import { odataError } from '../protocol/errors.ts'
import { ROOT_PATH } from '../protocol/service-root.ts'

/** The Host header, from which next links and context URLs are built. */
export function requireHost(request: IncomingMessage, listeningOn: string): string {
  const { localAddress = '', localPort } = request.socket
  const address = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  const host = request.headers.host ?? `${address}:${localPort}`
  const name = hostName(host)
  if (name === null)
    throw odataError('invalid-header', 'the Host header is not a host name', 'Host')
  if (!answersTo(name, listeningOn))
    throw odataError(
      'host-not-allowed',
      `this service answers to loopback names only, not to "${name.slice(0, 60)}"; set odata.host, or let the proxy send Host: ${listeningOn}`,
      'Host',
    )
  return host
}

/** A browser that goes to the root shows the page; what a program asks there is answered as ever. */
export function isNavigationToRoot({ method, url = '', headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-mode'] !== 'navigate') return false
  const [path, query = ''] = url.split('?', 2)
  const isRoot = path === ROOT_PATH || path === `${ROOT_PATH}/`
  return (
    isRoot && (method === 'GET' || method === 'HEAD') && !/(?:^|&)(?:\$|%24)format=/i.test(query)
  )
}

/** `location` is relative, so that it is right with a proxy in between too. */
export function sendSeeOther(response: ServerResponse, location: string): void {
  const headers = { Location: location, 'Cache-Control': 'no-store', Vary: 'Sec-Fetch-Mode' }
  response.writeHead(303, { ...headers, 'Content-Length': 0 }).end()
}
