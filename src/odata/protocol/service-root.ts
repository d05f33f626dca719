// Where the service lies, and what a URL of a client asks below it.

import { hostName } from '../../http/auth.ts'
import { odataError, unknownResource } from './errors.ts'
import { header, type RequestHeaders } from './negotiate.ts'

export const ROOT_PATH = '/odata'

/** Also of a URL that leaves its scheme out, `//host/path`. */
const HOST = /^(?:https?:)?\/\/([^/?#]*)/i
const OTHER_SCHEME = /^(?!https?:)[a-z][a-z\d+.-]*:/i

/**
 * Path below the service root and query, of a URL that is absolute, an absolute path, or relative to the root; also with
 * a leading slash, as some clients write it. `root` is as rootUrl() gives it, where a proxy may have put it elsewhere.
 * Throws 400 for a URL of another host, 404 for one of another service on this host.
 */
export function targetBelowRoot(url: string, root: string): string {
  if (OTHER_SCHEME.test(url))
    throw odataError('invalid-url', 'a URL of this service begins with http: or https:')
  const host = HOST.exec(url)?.[1]
  if (host !== undefined) requireOwnHost(host, root)
  const path = url.replace(HOST, '')
  const ownPath = root.replace(HOST, '')
  if (path.startsWith(ownPath)) return path.slice(ownPath.length)
  if (path.startsWith(`${ROOT_PATH}/`)) return path.slice(ROOT_PATH.length + 1)
  if (path === url) return path.replace(/^\//, '')
  throw unknownResource('this URL does not belong to this service')
}

/** The scheme is not compared: a proxy that is not trusted may have taken https off. Throws 400. */
export function requireOwnHost(host: string, root: string): void {
  const own = HOST.exec(root)?.[1] ?? ''
  if (withoutPort(host) === withoutPort(own)) return
  throw odataError(
    'invalid-url',
    `the URL belongs to the host "${host.slice(0, 60)}"; this service is reached as "${own}"`,
  )
}

const withoutPort = (host: string) => host.toLowerCase().replace(/:(?:80|443)$/, '')

/**
 * The root as the client reaches it, with a slash at the end. `forwarded` are the headers of a proxy that is trusted:
 * Forwarded (RFC 7239), else X-Forwarded-Proto, -Host, -Port and -Prefix; of several proxies the first speaks. What is
 * no host, scheme or path in them is as if it were not there.
 */
export function rootUrl(host: string, forwarded: RequestHeaders): string {
  const said = header(forwarded, 'forwarded')
  const of = (name: string) =>
    said === null
      ? firstOf(header(forwarded, `x-forwarded-${name}`))
      : parameterOf(firstOf(said) ?? '', name)
  const scheme = of('proto')?.toLowerCase() === 'https' ? 'https' : 'http'
  const asked = of('host')
  const name = asked !== null && hostName(asked) !== null ? asked : host
  const port = said === null && asked !== null ? of('port') : null
  const prefix = firstOf(header(forwarded, 'x-forwarded-prefix'))
  return `${scheme}://${withPort(name, port, scheme)}${pathOf(prefix)}${ROOT_PATH}/`
}

const firstOf = (list: string | null) => list?.split(',', 1)[0]!.trim() ?? null

function parameterOf(element: string, name: string): string | null {
  for (const pair of element.split(';')) {
    const [key = '', value = ''] = pair.split('=', 2).map((side) => side.trim())
    if (key.toLowerCase() === name) return value.replace(/^"(.*)"$/, '$1')
  }
  return null
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: '80', https: '443' }

function withPort(host: string, port: string | null, scheme: string): string {
  const isPort = port !== null && /^\d{1,5}$/.test(port) && port !== DEFAULT_PORTS[scheme]
  return isPort && !/:\d+$/.test(host) ? `${host}:${port}` : host
}

const pathOf = (prefix: string | null) =>
  prefix !== null && /^(\/[\w.~%-]+)+\/?$/.test(prefix) ? prefix.replace(/\/$/, '') : ''
