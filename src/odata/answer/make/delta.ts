// Change tracking: a client that asked to track changes follows the delta link of its last page, and gets what was
// added, changed or removed since, with a delta link for the next time.

import { Resources } from '../../../core/resources.ts'
import { isSameShape, type TableName } from '../../../core/snapshot.ts'
import { RequestError } from '../../../http/request-error.ts'
import { type ResultPage, pageOf, pageText } from './page.ts'
import type { BoundQuery, RowsRequest } from '../../bind/bound-request.ts'
import { deltaCountSql, type DeltaQuery, deltaTextsSql } from '../../sql/delta.ts'
import { entityIdOutput } from '../../bind/control-information.ts'
import { changesGone } from '../../protocol/errors.ts'
import { type Content, contextUrl, type Exchange } from '../context.ts'
import { keysetWindow } from '../../sql/keyset.ts'
import type { Effort } from '../../engine/admission.ts'
import { ClientGone, Query } from '../../engine/query.ts'
import { storedKeyset } from '../../bind/keyset.ts'
import type { ChosenExchange } from '../choose/representation.ts'
import { modeFor, onlyText } from './found.ts'

/**
 * `addressed` is the request that the delta link belongs to. All changes are spooled before the first is sent:
 * there are few engines that compare, and a slow client must not keep one from others.
 */
export async function answerDelta(exchange: ChosenExchange, { query }: RowsRequest) {
  await using resources = new Resources()
  const { body, rows } = await changes({ ...exchange, resources }, query)
  if (body === null || Buffer.isBuffer(body)) return { body, rows }
  const spooled = exchange.resources.use(await exchange.service.spooledBodies.spool(body))
  return { body: spooled.body, rows }
}

async function changes(exchange: ChosenExchange, query: BoundQuery): Promise<Content> {
  const { request, resources, token, chosen } = exchange
  const page = pageOf(exchange, query)
  const context = contextUrl(request, `${query.contextFragment}/$delta`)
  const write = (found: Query | null, count: string | null) =>
    pageText(exchange, page, { context, count, found, isTracked: true })
  const comparison = await openComparison(exchange, query)
  if (comparison === null) return write(null, query.withCount ? '0' : null)
  const engine = { ...exchange.engine, snapshot: resources.use(comparison) }
  await comparison.compare(engine)
  const asked = deltaQuery(exchange, query, { page, tableBefore: comparison.tableBefore })
  // As many rows of both states as differ.
  const effort: Effort = 'large'
  const all = deltaCountSql({ ...asked, window: { ...asked.window, from: null } })
  const count = query.withCount ? (token?.count ?? (await onlyText(engine, all, effort))) : null
  const texts = deltaTextsSql(asked, page.limit, chosen.json)
  const options = { effort, maxRows: page.limit, mode: modeFor(page.limit) }
  return write(resources.use(await Query.open(engine, texts, options)), count)
}

function deltaQuery(
  { request, token }: Exchange,
  query: BoundQuery,
  { page, tableBefore }: { readonly page: ResultPage; readonly tableBefore: TableName },
): DeltaQuery {
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
    tableBefore,
    keyset,
    window: keysetWindow(keyset, from, page.limit),
    offset: from === null ? page.offset : 0,
    version,
    removedContext: contextUrl(request, `${query.set.name}/$deletedEntity`),
  }
}

/** null when nothing has changed: an unchanged model keeps its file. Throws 410. */
async function openComparison({ service, since, engine }: Exchange, { set, row }: BoundQuery) {
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
