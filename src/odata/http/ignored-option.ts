// What the access log says of an option that counts for nothing.

import { meantOption } from '../syntax/option-names.ts'
import { decodeAscii } from '../syntax/parse-request.ts'

/** Options without a `$` that OData does not know count for nothing; `limit` was most likely meant for something. */
export function ignoredOption(url: string): string | null {
  const [, query = ''] = url.split('?', 2)
  for (const pair of query.split('&')) {
    const name = decodeAscii(pair.split('=', 1)[0]!)
    const meant = name.length > 30 ? null : meantOption(name)
    if (meant !== null) return `${name}: ${meant}`
  }
  return null
}
