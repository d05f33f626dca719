// What a request means and which SQL reads its rows, without reading any: for `eider odata explain`.

import { Resources } from '../../core/resources.ts'
import type { BoundQuery, BoundRequest } from '../bind/bound-request.ts'
import { bindRequest } from '../bind/request.ts'
import { plainRequest, showRequest } from '../bind/show.ts'
import { openGeo } from '../engine/geo-support.ts'
import { Snapshots, type SnapshotsOptions } from '../engine/current-snapshot.ts'
import { formatsFor, negotiateData, negotiateMetadata } from '../protocol/negotiate.ts'
import { copiesOf } from '../sql/expression.ts'
import { entityTextsSql } from '../sql/expand.ts'
import { formatSql } from '../sql/line-breaks.ts'
import { countSql, rowsSql } from '../sql/query.ts'
import { parseRequest } from '../syntax/parse-request.ts'
import { type Conventions, usualConventions } from '../protocol/conventions.ts'

interface ExplainOptions extends Omit<SnapshotsOptions, 'threads' | 'memoryLimit'> {
  readonly host: string
  readonly port: number
  readonly conventions?: Conventions
  readonly memoryLimit?: string | null
}

/**
 * What a request would mean on the published snapshot, which is opened as by the service. `target`: path below the service
 * root and query, as it would be sent. Throws RequestError as a request would.
 */
export async function explainRequest(
  target: string,
  { host, port, memoryLimit = null, ...options }: ExplainOptions,
) {
  await using resources = new Resources()
  const { geo, extensions } = await openGeo(options.extensions, options.logger)
  const conventions = { ...(options.conventions ?? usualConventions), geo }
  const engine = { ...options, memoryLimit, threads: 1, extensions }
  const snapshots = resources.use(await Snapshots.open(engine))
  const { model } = resources.use(snapshots.lease())
  const syntax = parseRequest(target, `http://${host}:${port}/odata/`)
  const settings = { now: new Date(), version: '4.01', conventions, copiesOf } as const
  const bound = bindRequest(syntax, model, settings)
  requireFormat(bound, syntax.options.format)
  return explainBound(bound)
}

/** Makes the demands on `$format` that the service makes when it answers. */
function requireFormat(bound: BoundRequest, option: string | undefined): void {
  if (option === undefined) return
  if (bound.kind === 'metadata') return void negotiateMetadata({}, option)
  if (bound.kind === 'vocabulary' || bound.kind === 'openapi' || bound.kind === 'count') return
  negotiateData({}, option, formatsFor(bound.kind))
}

export const explainBound = (request: BoundRequest) => ({
  bound: showRequest(request),
  /** For other programs. */
  request: plainRequest(request),
  statements: statementsOf(request),
})

/** Each with its values in it. Each set is the table `<set>.main.rows`. */
function statementsOf(request: BoundRequest) {
  if (!('query' in request)) return []
  const { kind, query, parent } = request
  const count = { what: 'count', sql: formatSql(countSql(query).inline()) } as const
  const rows = { what: 'rows', sql: rowsText(query) } as const
  return [
    ...(kind === 'count' ? [count] : query.withCount ? [count, rows] : [rows]),
    ...(parent === null ? [] : [{ what: 'parent', sql: rowsText(parent) } as const]),
  ]
}

/** Related rows are written as JSON by the statement that reads them; all others come as columns. */
function rowsText(query: BoundQuery): string {
  const texts =
    query.expand.length === 0
      ? rowsSql(query, ALL)
      : entityTextsSql(query, ALL, { metadata: 'none', ieee754: false })
  return formatSql(texts.inline())
}

const ALL = { offset: 0, limit: null }
