// The headers of one request of a batch, by the rules of a request of its own.

import { singleHeaders } from '../../http/head.ts'
import { odataError } from '../protocol/errors.ts'

/** By their names in lower case. */
const ONCE: ReadonlyMap<string, string> = new Map(
  [...singleHeaders, 'Content-ID'].map((name) => [name.toLowerCase(), name]),
)

/**
 * By their names in lower case; of a list, the values of several lines are one list. Throws RequestError 400 for two of a
 * header with one value, of which others may read the other one.
 */
export function joinedHeaders(
  lines: Iterable<readonly [name: string, value: string]>,
): Readonly<Record<string, string>> {
  const headers = new Map<string, string>()
  for (const [written, value] of lines) {
    const name = written.toLowerCase()
    const before = headers.get(name)
    const single = ONCE.get(name)
    if (before !== undefined && single !== undefined)
      throw odataError('invalid-batch', `the request has more than one ${single} header`, single)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  return Object.fromEntries(headers)
}
