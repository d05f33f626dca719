// What a request means and which SQL reads its rows, without reading any.

import type { BoundQuery, BoundRequest } from '../bind/bound.ts'
import { bindRequest } from '../bind/request.ts'
import { plainRequest, showRequest } from '../bind/show.ts'
import type { EntityModel } from '../edm/model.ts'
import { formatsFor } from '../protocol/formats.ts'
import { negotiateData, negotiateMetadata } from '../protocol/negotiate.ts'
import { copiesOf } from '../sql/copies.ts'
import { entityTextsSql } from '../sql/expand.ts'
import { formatSql } from '../sql/format.ts'
import { countSql, rowsSql } from '../sql/query.ts'
import { parseRequest } from '../syntax/parse-request.ts'

export interface Explanation {
  /** For people. */
  readonly bound: string
  /** For other programs. */
  readonly request: unknown
  readonly statements: readonly Statement[]
}

export interface Statement {
  readonly what: 'rows' | 'count' | 'parent'
  /** With its values in it. Each set is the table `<set>.main.rows`. */
  readonly sql: string
}

interface Asked {
  /** Absolute URL of the service, with a slash at the end. */
  readonly root: string
  readonly now: Date
  readonly keyAsSegment: boolean
}

/** `target`: path below the service root and query, as sent. Throws RequestError. */
export function explainTarget(
  target: string,
  model: EntityModel,
  { root, now, keyAsSegment }: Asked,
): Explanation {
  const settings = { now, version: '4.01', keyAsSegment, copiesOf } as const
  const syntax = parseRequest(target, root)
  const bound = bindRequest(syntax, model, settings)
  requireFormat(bound, syntax.options.format)
  return explain(bound)
}

/** As the service asks of `$format` when it answers. */
function requireFormat(bound: BoundRequest, option: string | undefined): void {
  if (option === undefined) return
  if (bound.kind === 'metadata') return void negotiateMetadata({}, option)
  if (bound.kind === 'vocabulary' || bound.kind === 'count') return
  negotiateData({}, option, formatsFor(bound.kind))
}

export function explain(request: BoundRequest): Explanation {
  return {
    bound: showRequest(request),
    request: plainRequest(request),
    statements: statementsOf(request),
  }
}

function statementsOf(request: BoundRequest): readonly Statement[] {
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
