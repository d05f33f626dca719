// The JSON around the rows of a collection, which DuckDB writes.

import type { JsonFormat } from '../protocol/negotiate.ts'

export interface CollectionEnvelope {
  readonly contextUrl: string
  /** Decimal digits; null when the request has no $count. */
  readonly count: string | null
}

/** Everything before the first row. */
export function collectionHead(
  { contextUrl, count }: CollectionEnvelope,
  { metadata, ieee754 }: JsonFormat,
): string {
  const context = metadata === 'none' ? '' : `"@odata.context":${JSON.stringify(contextUrl)},`
  const total = count === null ? '' : `"@odata.count":${ieee754 ? `"${count}"` : count},`
  return `{${context}${total}"value":[`
}

/** Everything after the last row. */
export function collectionTail(link: Link | null): string {
  return link === null ? ']}' : `],"@odata.${link.name}":${JSON.stringify(link.url)}}`
}

export interface Link {
  readonly name: 'nextLink' | 'deltaLink'
  readonly url: string
}
