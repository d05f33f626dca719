// What is counted and logged of a request when its answer has gone out.

import type { Logger } from '../../core/logger.ts'
import type { Reader } from '../../access/reader.ts'
import type { RequestEnd } from '../../http/request-end.ts'
import { meantOption } from '../syntax/option-names.ts'
import { decodeAscii } from '../syntax/parse-request.ts'
import type { MetricSources } from './metrics.ts'

export interface Noting extends Pick<MetricSources, 'traffic'> {
  readonly accessLog: boolean
  readonly logger: Logger
}

/** What is known of a request before its end. */
interface Noted {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly rows: () => number
  readonly refusedAs: string | null
  readonly reader: Reader | null
}

/** Counts and logs the request. The path alone: a query may hold what nobody wants in a log. */
export function noteEnd(
  { traffic, accessLog, logger }: Noting,
  { method, url, rows: rowsOf, refusedAs, reader }: Noted,
  { status, ms, isCut }: RequestEnd,
): void {
  const rows = rowsOf()
  traffic.end({ status, ms, rows })
  if (!accessLog) return
  const path = url?.split('?', 1)[0]
  const code = refusedAs === null ? {} : { code: refusedAs }
  const hint = ignoredOption(url ?? '')
  const ignored = hint === null ? {} : { ignored: hint }
  const aborted = isCut ? { aborted: true } : {}
  const token = reader?.name == null ? {} : { token: reader.name }
  const sent = { method, path, status, ...code, ms, rows, ...token }
  logger.info('request', { ...sent, ...ignored, ...aborted })
}

/** Options without a `$` that OData does not know count for nothing; `limit` was most likely meant for something. */
function ignoredOption(url: string): string | null {
  const [, query] = url.split('?', 2)
  for (const pair of query?.split('&') ?? []) {
    const name = decodeAscii(pair.split('=', 1)[0]!)
    const meant = name.startsWith('$') || name.length > 30 ? null : meantOption(name)
    if (meant !== null) return `${name}: ${meant}`
  }
  return null
}
