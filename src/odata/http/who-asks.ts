// Who a request comes from, and what is there for them.

import type { IncomingMessage } from 'node:http'
import type { AccessList, Who } from '../../access/credential.ts'
import { whoAsks } from '../../http/auth.ts'
import type { SidePage, SidePages } from '../../http/side-pages.ts'
import type { ServiceContext } from '../answer/context.ts'
import { odataError } from '../protocol/errors.ts'
import { type Reader, WHOLE } from '../../access/reader.ts'

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

/** A page outside OData. A reader who does not see all gets one that describes what that reader may see. */
export async function pageFor(
  { pages, snapshots }: Pick<ServiceContext, 'snapshots'> & { readonly pages: SidePages | null },
  reader: Reader,
  path: string,
): Promise<SidePage | null> {
  if (pages === null) return null
  if (reader.key === '' || snapshots.published === null)
    return await pages.find({ path, snapshot: snapshots.published, part: '' })
  await using leased = snapshots.lease()
  const { snapshot } = await snapshots.viewOf(leased, reader)
  return await pages.find({ path, snapshot, part: reader.key })
}
