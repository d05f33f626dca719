// Paths of the collect service: segments, percent-decoded after they are split, so that %2F does not make a new one.

import { refusal } from './errors.ts'

/** Decoded segments of the path, without the query. A segment that cannot be decoded makes the path unknown. */
export function splitPath(url: string): readonly string[] {
  const [path = ''] = url.split('?', 1)
  const segments = path.split('/').slice(1)
  if (!path.includes('%')) return segments
  try {
    return segments.map(decodeURIComponent)
  } catch {
    throw notFound(url)
  }
}

export function notFound(url: string, hint?: string): Error {
  const problem = `there is nothing at ${url.split('?', 1)[0]} on this port`
  return refusal('not-found', hint === undefined ? problem : `${problem}; ${hint}`)
}

/** Throws 405 unless the method is one of `allowed`. */
export function requireMethod(method: string | undefined, allowed: readonly string[]): void {
  if (method !== undefined && allowed.includes(method)) return
  const Allow = allowed.join(', ')
  throw refusal('method-not-allowed', `the method is ${method}; this path takes ${Allow}`, {
    headers: { Allow },
  })
}
