// Who a request comes from, and what is there for them.

import type { IncomingMessage } from 'node:http'
import type { ReaderToken } from '../../core/named-tokens.ts'
import { type Accepted, identify } from '../../http/auth.ts'
import type { AskedPage, SidePage, SidePages } from '../../http/side-pages.ts'
import type { ServiceContext } from '../answer/context.ts'
import { odataError } from '../protocol/errors.ts'
import { type Reader, WHOLE } from '../protocol/reader.ts'

export interface KnownReaders {
  readonly accepted: Accepted<ReaderToken>
  /** What the holder of a token may see, by its name. */
  readonly readers: ReadonlyMap<string, Reader>
}

interface Asked {
  readonly known: () => KnownReaders
  readonly now: () => Date
}

/** Throws 401. */
export function whoAsks({ known, now }: Asked, request: IncomingMessage): Reader {
  const { accepted, readers } = known()
  const token = identify(request, accepted, now)
  if (token === null) return WHOLE
  const reader = readers.get(token.name)
  if (reader === undefined) throw new Error(`nothing is known of the token "${token.name}"`)
  return reader
}

/** null: nobody who may ask. */
export function whoAsksIfKnown(asked: Asked, request: IncomingMessage): Reader | null {
  try {
    return whoAsks(asked, request)
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

/** A page beside OData. To a reader who does not see all, it tells of what is there for that reader. */
export async function pageFor(
  { pages, snapshots }: Pick<ServiceContext, 'snapshots'> & { readonly pages: SidePages | null },
  reader: Reader,
  asked: Omit<AskedPage, 'snapshot' | 'part'>,
): Promise<SidePage | null> {
  if (pages === null) return null
  if (reader.key === '' || snapshots.published === null)
    return await pages.find({ ...asked, snapshot: snapshots.published, part: '' })
  await using leased = snapshots.lease()
  const { snapshot } = await snapshots.viewOf(leased, reader)
  return await pages.find({ ...asked, snapshot, part: reader.key })
}
