// Who a request comes from, and what is there for them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AccessList, Who } from '../../access/credential.ts'
import { whoAsks, answersTo, hostName } from '../../http/auth.ts'
import type { SidePage, SidePages } from '../../http/side-pages.ts'
import type { ServiceContext } from '../answer/context.ts'
import { odataError } from '../protocol/errors.ts'
import { type Reader, WHOLE, matches } from '../../access/reader.ts'
import { type Diagnostic, diagnostic, throwIfErrors } from '../../core/diagnostics.ts'
import { hasExpired, type ReaderToken } from '../../access/hashed-tokens.ts'
import { didYouMean } from '../../core/suggest.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'
import { ROOT_PATH } from '../protocol/service-root.ts'

export interface KnownReaders {
  readonly accepted: AccessList
  /** What the holder of a token may see, by its name. */
  readonly readers: ReadonlyMap<string, Reader>
}

interface ReaderSource {
  readonly known: () => KnownReaders
  readonly now: () => Date
}

/** Throws 401. A promise where it takes longer to know, and then it may reject with 401. */
export function readerFor(
  { known, now }: ReaderSource,
  request: IncomingMessage,
): Reader | Promise<Reader> {
  const { accepted, readers } = known()
  const who = whoAsks(request, accepted, now)
  return who instanceof Promise
    ? who.then((principal) => seenByPrincipal(principal, readers))
    : seenByPrincipal(who, readers)
}

function seenByPrincipal(who: Who, readers: KnownReaders['readers']): Reader {
  if (who === null) return WHOLE
  const reader = readers.get(who.name)
  if (reader === undefined) throw new Error(`nothing is known of the token "${who.name}"`)
  return reader
}

/**
 * Whether the reader of the request is that of a later one with the same headers: as long as the service knows the same
 * tokens and the one that it shows has not expired. null where it takes longer to know.
 */
export function readerStays(
  { known, now }: ReaderSource,
  request: IncomingMessage,
): (() => boolean) | null {
  const before = known()
  const who = whoAsks(request, before.accepted, now)
  if (who instanceof Promise) {
    who.catch(() => undefined)
    return null
  }
  return () => known() === before && (who === null || !hasExpired(who, now()))
}

/** null: nobody who may ask, or it takes longer to know. */
export function readerAtOnce(asked: ReaderSource, request: IncomingMessage): Reader | null {
  try {
    const reader = readerFor(asked, request)
    if (!(reader instanceof Promise)) return reader
    reader.catch(() => undefined)
    return null
  } catch {
    return null
  }
}

/** The service as a reader sees it. Links of one reader are not good for another. */
export function seenBy<T extends ServiceContext>(context: T, reader: Reader): T {
  return reader.key === '' ? context : { ...context, reader, links: context.links.of(reader.key) }
}

/** Throws 403: metrics are those of all. */
export function requireAll({ key, name }: Reader): void {
  if (key === '') return
  throw odataError('not-for-token', `the token "${name}" is for some sets, not for metrics`)
}

interface PageSource extends Pick<ServiceContext, 'snapshots'>, Pick<ReaderSource, 'known'> {
  readonly pages: SidePages | null
}

/** A page outside OData. A reader who does not see all gets one that describes what that reader may see. */
export async function pageFor(
  { pages, snapshots, known }: PageSource,
  reader: Reader,
  path: string,
): Promise<SidePage | null> {
  if (pages === null) return null
  const asked = { path, readers: [...known().readers.values()] }
  if (reader.key === '' || snapshots.published === null)
    return await pages.find({ ...asked, snapshot: snapshots.published, part: '' })
  await using leased = snapshots.lease()
  const { snapshot } = await snapshots.viewOf(leased, reader)
  return await pages.find({ ...asked, snapshot, part: reader.key })
}

// The tokens of a service that have names, and whether their row filters fit what is published.

export interface ServiceToken {
  readonly token: ReaderToken
  readonly reader: Reader
}

export function knownReaders(token: string | null, tokens: readonly ServiceToken[]): KnownReaders {
  return {
    accepted: { token, named: tokens.map((one) => one.token) },
    readers: new Map(tokens.map((one) => [one.token.name, one.reader])),
  }
}

const FILTER_HINT =
  'write a condition over the published columns of the set, such as "country_id = \'NO\'"'

/** Throws DiagnosticsError, with the places in eider.yml, for filters that do not fit what is published. */
export async function requireBound(
  snapshots: Snapshots,
  tokens: readonly ServiceToken[],
): Promise<void> {
  if (snapshots.published === null) return
  await using snapshot = snapshots.lease()
  const names = [...snapshot.model.sets.keys()]
  const wrong: Diagnostic[] = []
  for (const { reader, token } of tokens) {
    const { problems } = await snapshot.viewFor(reader)
    for (const { filter, set, problem } of problems) {
      const isKnown = names.some((name) => matches(set, name))
      const hint = isKnown ? FILTER_HINT : (didYouMean(set, names) ?? 'eider ls lists the sets')
      const expected = `a condition that fits ${set} (token "${token.name}"): ${problem}`
      const parameters = { key: 'odata.tokens.rows', expected }
      const { source, span } = filter
      wrong.push(diagnostic('config-invalid-value', parameters, { source, span }, hint))
    }
  }
  throwIfErrors(wrong)
}

// How a client has reached the service: by which name, and whether it is a person in a browser.

/** The Host header, from which next links and context URLs are built. */
export function requireHost(request: IncomingMessage, listeningOn: string): string {
  const { localAddress = '', localPort } = request.socket
  const address = localAddress.includes(':') ? `[${localAddress}]` : localAddress
  const host = request.headers.host ?? `${address}:${localPort}`
  const name = hostName(host)
  if (name === null)
    throw odataError('invalid-header', 'the Host header is not a host name', 'Host')
  if (!answersTo(name, listeningOn))
    throw odataError(
      'host-not-allowed',
      `this service answers to loopback names only, not to "${name.slice(0, 60)}"; set odata.host, or let the proxy send Host: ${listeningOn}`,
      'Host',
    )
  return host
}

/** A browser that goes to the root shows the page; what a program asks there is answered as ever. */
export function isNavigationToRoot({ method, url = '', headers }: IncomingMessage): boolean {
  if (headers['sec-fetch-mode'] !== 'navigate') return false
  const [path, query = ''] = url.split('?', 2)
  const isRoot = path === ROOT_PATH || path === `${ROOT_PATH}/`
  return (
    isRoot && (method === 'GET' || method === 'HEAD') && !/(?:^|&)(?:\$|%24)format=/i.test(query)
  )
}

/** `location` is relative, so that it is right with a proxy in between too. */
export function sendSeeOther(response: ServerResponse, location: string): void {
  const headers = { Location: location, 'Cache-Control': 'no-store', Vary: 'Sec-Fetch-Mode' }
  response.writeHead(303, { ...headers, 'Content-Length': 0 }).end()
}
