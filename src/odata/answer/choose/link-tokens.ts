// Pages of a collection. A next link is the request again with a $skiptoken, which says where to read on, how large a
// page is, and which snapshot the rows come from. A delta link is the request with a $deltatoken, which says since which
// snapshot changes are requested.
//
// A token is `<base64url of a JSON array>.<signature>`. The signature covers the path and the options that the token was
// made for, so it is good for no other request; how they are encoded, $format and custom options are free, as some
// clients rewrite links. A token is valid if and only if its signature is.

import type { LinkSigner } from '../../protocol/link-signature.ts'
import { decode, decodePair, splitTarget } from '../../syntax/parse-request.ts'
import type { Position } from '../../bind/keyset.ts'
import { optionName } from '../../syntax/option-names.ts'
import { invalidOption } from '../../protocol/errors.ts'

export interface SkipToken {
  readonly snapshotId: string
  readonly pageSize: number
  /** Rows returned so far, counted after $skip. */
  readonly given: number
  /** What the rows are ordered by, in the first row to come; null where the rows returned are counted instead. */
  readonly from: Position | null
  /** The value of @odata.count, so that it is computed once. */
  readonly count: string | null
  /** The time of the first page, where the request asks for the time: all pages see the same. */
  readonly now: string | null
  /** Whether the last page carries a delta link. */
  readonly isTracked: boolean
}

/** Throws RequestError 400 for a token that this service did not issue for this request. */
export function parseSkipToken(text: string, target: string, links: LinkSigner): SkipToken {
  const members = openToken('$skiptoken', text, target, links) as Members
  const [snapshotId, pageSize, given, from, count, now, isTracked] = members
  return { snapshotId, pageSize, given, from, count, now, isTracked: isTracked === 1 }
}

type Members = readonly [
  string,
  number,
  number,
  Position | null,
  string | null,
  string | null,
  0 | 1,
]

interface Linked {
  readonly root: string
  /** Path below the service root and query, as it was sent. */
  readonly target: string
}

export function nextLink(request: Linked, token: SkipToken, links: LinkSigner): string {
  const { snapshotId, pageSize, given, from, count, now, isTracked } = token
  const members: Members = [snapshotId, pageSize, given, from, count, now, isTracked ? 1 : 0]
  return linkWith('$skiptoken', request, members, links)
}

export interface DeltaToken {
  /** The request is for changes since this one. */
  readonly snapshotId: string
  readonly pageSize: number
}

/** Throws RequestError 400 as parseSkipToken does. */
export function parseDeltaToken(text: string, target: string, links: LinkSigner): DeltaToken {
  const [snapshotId, pageSize] = openToken('$deltatoken', text, target, links) as [string, number]
  return { snapshotId, pageSize }
}

export const deltaLink = (request: Linked, token: DeltaToken, links: LinkSigner): string =>
  linkWith('$deltatoken', request, [token.snapshotId, token.pageSize], links)

/** The request again with a token of that name instead of the one that it came with. */
function linkWith(
  name: TokenName,
  { root, target }: Linked,
  members: readonly unknown[],
  links: LinkSigner,
): string {
  const [path, query] = splitTarget(target)
  const options = query
    .split('&')
    .filter((option) => option !== '' && !REPLACED[name].includes(nameOf(option)))
  const payload = Buffer.from(JSON.stringify(members)).toString('base64url')
  const signature = links.sign(signedText(name, payload, [path, options.join('&')].join('?')))
  return `${root}${path.replace(/^\//, '')}?${[...options, `${name}=${payload}.${signature}`].join('&')}`
}

function openToken(name: TokenName, text: string, target: string, links: LinkSigner) {
  const [payload = '', signature = '', ...more] = text.split('.')
  if (more.length > 0 || !links.isSigned(signedText(name, payload, target), signature))
    throw invalidOption(`this ${name} was not issued by this service for this request`, name)
  return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as readonly unknown[]
}

type TokenName = '$skiptoken' | '$deltatoken'

/** A delta link starts over; a next link within changes keeps where they begin. */
const REPLACED: Readonly<Record<TokenName, readonly (string | null)[]>> = {
  $skiptoken: ['skiptoken'],
  $deltatoken: ['skiptoken', 'deltatoken'],
}

const nameOf = (pair: string) => {
  const [name] = decodePair(pair)
  return name.startsWith('@') ? null : optionName(name)
}

function signedText(name: TokenName, payload: string, target: string): string {
  const [path, query] = splitTarget(target)
  const own = [...REPLACED[name], 'format']
  const options = query.split('&').flatMap((pair) => {
    const [option, value] = decodePair(pair)
    if (option.startsWith('@')) return [[option, value]]
    const known = pair === '' ? null : optionName(option)
    return known === null || own.includes(known) ? [] : [[known, value]]
  })
  return JSON.stringify([
    name,
    payload,
    decode(path.replace(/^\/|\/$/g, '')),
    options.toSorted(byName),
  ])
}

const byName = (a: readonly string[], b: readonly string[]) => (a[0]! < b[0]! ? -1 : 1)
