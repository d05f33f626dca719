// Change tracking: a client that asked to track changes follows the delta link of its last page, and gets what was
// added, changed or removed since, with a delta link for the next time.

import { limits } from '../../../core/limits.ts'
import { Resources } from '../../../core/resources.ts'
import { RequestError } from '../../../http/request-error.ts'
import { type ResultPage, pageOf, pageText } from './page.ts'
import type { RowsRequest, BoundQuery } from '../../bind/bound.ts'
import { isSameShape, type ComparisonLease } from '../../engine/comparisons.ts'
import { deltaCountSql, type DeltaQuery, deltaTextsSql } from '../../sql/delta.ts'
import { entityIdOutput } from '../../bind/control-information.ts'
import { changesGone } from '../../protocol/errors.ts'
import { type Content, contextUrl, type Exchange } from '../context.ts'
import { keysetWindow } from '../../sql/keyset.ts'
import type { JsonFormat, Preferences } from '../../protocol/negotiate.ts'
import { ClientGone, type EngineAccess, Query } from '../../engine/query.ts'
import { storedKeyset } from '../../bind/keyset.ts'

/**
 * `addressed` is the request that the delta link belongs to. All changes are spooled before the first is sent:
 * there are few engines that compare, and a slow client must not keep one from others.
 */
export async function answerDelta(
  exchange: Exchange,
  { query }: RowsRequest,
  format: JsonFormat,
  preferences: Preferences,
): Promise<Content> {
  await using resources = new Resources()
  const { body, rows } = await changes({ ...exchange, resources }, query, format, preferences)
  if (body === null || Buffer.isBuffer(body)) return { body, rows }
  const spooled = exchange.resources.use(await exchange.service.spooledBodies.spool(body))
  return { body: spooled.body, rows }
}

async function changes(
  exchange: Exchange,
  query: BoundQuery,
  format: JsonFormat,
  preferences: Preferences,
): Promise<Content> {
  const { request, resources, token } = exchange
  const page = pageOf(exchange, query, preferences)
  const context = contextUrl(request, `${query.contextFragment}/$delta`)
  const write = (found: Query | null, count: string | null) =>
    pageText(exchange, page, { context, count, format, found, isTracked: true })
  const comparison = await openComparison(exchange, query)
  if (comparison === null) return write(null, query.withCount ? '0' : null)
  const engine = { ...exchange.engine, snapshot: resources.use(comparison) }
  const asked = deltaQuery(exchange, query, page)
  const count = query.withCount ? (token?.count ?? (await countOf(engine, asked))) : null
  const mode = page.limit <= limits.wholeResultRows ? 'whole' : 'streamed'
  const texts = deltaTextsSql(asked, page.limit, format)
  const options = { ...LARGE, maxRows: page.limit, mode } as const
  return write(resources.use(await Query.open(engine, texts, options)), count)
}

/** Every row of both states is read. */
const LARGE = { isSmall: false } as const

async function countOf(engine: EngineAccess, asked: DeltaQuery): Promise<string> {
  const from = { ...asked, window: { ...asked.window, from: null } }
  const options = { ...LARGE, maxRows: 1, mode: 'whole' } as const
  await using counted = await Query.open(engine, deltaCountSql(from), options)
  return String(counted.whole)
}

function deltaQuery({ request, token }: Exchange, query: BoundQuery, page: ResultPage): DeltaQuery {
  const keyset = storedKeyset(query.set, query.row)!
  const from = token?.from ?? null
  const { version } = request
  const written = new Set(query.output.map(({ name }) => name))
  // A row without its whole key is identified by its id.
  const hasKey = query.set.type.key.every(({ name }) => written.has(name))
  const needsId = !hasKey && !written.has('@odata.id')
  const output = needsId ? [entityIdOutput(query.row), ...query.output] : query.output
  return {
    query: { ...query, output },
    keyset,
    window: keysetWindow(keyset, from, page.limit),
    offset: from === null ? page.offset : 0,
    version,
    removedContext: contextUrl(request, `${query.set.name}/$deletedEntity`),
  }
}

/** null when nothing has changed: an unchanged model keeps its file. Throws 410. */
async function openComparison(
  { service, since, engine }: Exchange,
  { set, row }: BoundQuery,
): Promise<ComparisonLease | null> {
  const { snapshots, comparisons } = service
  // The key may now be of a type whose values cannot be distinguished.
  if (storedKeyset(set, row) === null) throw changesGone()
  const then = await snapshots.manifestOf(since!.snapshotId)
  const before = then?.relations.find(({ model }) => model === set.relation.model)
  if (before === undefined || !isSameShape(set.relation, before)) throw changesGone()
  if (before.file === set.relation.file) return null
  try {
    return await comparisons.lease(set, before, engine)
  } catch (error) {
    if (error instanceof RequestError || error instanceof ClientGone) throw error
    snapshots.reportRetained(since!.snapshotId, error)
    throw changesGone()
  }
}
