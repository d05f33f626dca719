// A person who opens the service in a browser is shown the page.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { ROOT_PATH } from '../protocol/service-root.ts'

/** A browser that goes to the root shows the page; what a program asks there is answered as ever. */
export function isNavigationToRoot({ method, url = '', headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-mode'] !== 'navigate') return false
  const [path, query = ''] = url.split('?', 2)
  const isRoot = path === ROOT_PATH || path === `${ROOT_PATH}/`
  return (
    isRoot && (method === 'GET' || method === 'HEAD') && !/(?:^|&)(?:\$|%24)format=/i.test(query)
  )
}

/** Relative, so that it is right behind a proxy too. */
export function sendSeeOther(response: ServerResponse, location: string): void {
  const headers = { Location: location, 'Cache-Control': 'no-store', Vary: 'Sec-Fetch-Mode' }
  response.writeHead(303, { ...headers, 'Content-Length': 0 }).end()
}
