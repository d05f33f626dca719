// Aggregated paths through navigation properties (Data Aggregation 4.0, section 3.2.1.1).

import { asIs, bindPath, findTarget, follow, memberOf, type Step } from '../expression/path.ts'
import { type Expression, propertyOf, type RowSource } from '../bound.ts'
import { findNavigation, type Scope } from '../scope.ts'
import type { ExpressionSyntax } from '../../syntax/syntax.ts'
import { isCastTo } from '../../edm/type-names.ts'

/**
 * What an aggregated path leads to through navigation properties, which may each lead to many; null when it begins with
 * none. The key tells apart the entities that several rows lead to. `ofEntities`: whether the path may end at entities.
 * `end` of the result: what it ends at.
 */
export function bindGathered(syntax: ExpressionSyntax, scope: Scope, ofEntities: boolean) {
  if (syntax.kind !== 'path' || scope.item !== null || syntax.keys.size > 0) return null
  if (scope.computed.has(syntax.names.join('/'))) return null
  const { sources, row, rest, end } = alongNavigation(syntax.names, syntax.at, scope)
  const { key } = row.set.type
  const [part] = key
  if (sources.length === 0 || part === undefined) return null
  const endsAtEntities = rest.length === 0
  if (endsAtEntities && (!ofEntities || key.length > 1)) return null
  const steps = (endsAtEntities ? [part.name] : rest).map((name): Step => ({ name, key: null }))
  const found = follow({ kind: 'row', row, wrap: asIs }, steps, syntax.at, scope)
  if (found.kind !== 'value') return null
  return {
    sources,
    key: key.map((property) => propertyOf(row, property)),
    value: found.value,
    end: endsAtEntities ? end : ('value' as const),
  }
}

/** As far as names are navigation properties: the rows that each leads to, and what is left of the names. */
function alongNavigation(names: readonly string[], at: number, scope: Scope) {
  const sources: RowSource[] = []
  let end: 'one' | 'many' = 'one'
  let { row } = scope
  let rest = names
  for (;;) {
    if (isCastTo(rest[0] ?? '', row.set.type)) rest = rest.slice(1)
    const [name = ''] = rest
    if (findNavigation(row.set.type, name) === undefined) break
    const target = memberOf(row, { name, key: null }, asIs, at, scope)
    if (target.kind !== 'one' && target.kind !== 'many') break
    sources.push(target.source)
    end = target.kind
    row = target.source.row
    rest = rest.slice(1)
  }
  return { sources, row, rest, end }
}

/** The key of the one entity that a path leads to, which stands for it in countdistinct; null for any other path. */
export function bindDistinctKey(syntax: ExpressionSyntax, scope: Scope): Expression | null {
  if (syntax.kind !== 'path' || scope.computed.has(syntax.names.join('/'))) return null
  const target = findTarget(syntax, syntax.at, scope)
  if (target.kind !== 'one' || target.navigation === null) return null
  const { theirs } = target.navigation.on
  return bindPath({ ...syntax, names: [...syntax.names, theirs.name] }, scope)
}
