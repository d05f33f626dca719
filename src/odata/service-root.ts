// Where the service lies, and what a URL of a client asks below it.

import { odataError } from './errors.ts'

export const ROOT_PATH = '/odata'

/**
 * Path below the service root and query, of a URL that is absolute, an absolute path, or relative to the root; also with
 * a slash in front, as some clients write it. Throws 404 for a URL of another service.
 */
export function targetBelowRoot(url: string): string {
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '')
  if (path.startsWith(`${ROOT_PATH}/`)) return path.slice(ROOT_PATH.length + 1)
  if (path === url) return path.replace(/^\//, '')
  throw odataError('unknown-resource', 'the URL is not one of this service')
}
