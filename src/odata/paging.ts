// Pages of a collection. A next link is the request again with a $skiptoken, which says how many rows have been given,
// how large a page is, and which snapshot they came from: `<rows>.<page size>.<snapshot id>`.

import { odataError } from './errors.ts'

export interface SkipToken {
  /** Rows given so far, counted after $skip. */
  readonly offset: number
  readonly pageSize: number
  readonly snapshotId: string
}

/** Throws RequestError 400. */
export function parseSkipToken(text: string): SkipToken {
  const found = /^(\d{1,15})\.(\d{1,9})\.(.+)$/s.exec(text)
  if (found === null || Number(found[2]) === 0)
    throw odataError('invalid-option-value', 'this $skiptoken was not made by this service', {
      target: '$skiptoken',
    })
  return { offset: Number(found[1]), pageSize: Number(found[2]), snapshotId: found[3]! }
}

/** `target`: path below the service root and query, as it was sent. */
export function nextLink(root: string, target: string, token: SkipToken): string {
  const [path, query] = splitTarget(target)
  const { offset, pageSize, snapshotId } = token
  const value = encodeURIComponent(`${offset}.${pageSize}.${snapshotId}`)
  const options = query.split('&').filter((option) => option !== '' && !isSkipToken(option))
  return `${root}${path}?${[...options, `$skiptoken=${value}`].join('&')}`
}

function splitTarget(target: string): readonly [path: string, query: string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function isSkipToken(option: string): boolean {
  const [name = ''] = option.split('=', 1)
  return /^\$?skiptoken$/i.test(decodeURIComponent(name.replaceAll('+', ' ')))
}
