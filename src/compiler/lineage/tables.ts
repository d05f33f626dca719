// What FROM brings into the scope of a query. It and query.ts call each other, as queries and tables hold each other.

import type { Trail } from '../../core/addresses.ts'
import { foldCase, sameName } from '../../core/names.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { columnsOfQuery, type Inside, originsOf, type QueryPlace } from './query.ts'
import { afterJoin, areOne, loose } from './exact.ts'
import { withEqualities, withMore } from './trails.ts'
import {
  type Columns,
  emptyScope,
  nodeOf,
  renamed,
  resolveName,
  type Scope,
  scopeColumn,
  type ScopeRelation,
  type ScopeValue,
  textOf,
  union,
} from './scope.ts'

/** The scope of `place` with what FROM adds to it; each table may refer to those before it. */
export function scopeOfFrom(table: SyntaxNode, place: Inside): Scope {
  const { scope } = place
  const withOne = (relation: Omit<ScopeRelation, 'schema'> & { schema?: string | null }): Scope => {
    const columns = renamed(relation.columns, table['column_name_alias'] as string[] | undefined)
    const alias = foldCase(textOf(table['alias']) || relation.alias)
    const schema = textOf(table['alias']) === '' ? (relation.schema ?? null) : null
    return { ...scope, relations: [...scope.relations, { alias, schema, columns }] }
  }
  switch (table['type']) {
    case 'EMPTY':
    case 'EMPTY_FROM':
      return scope
    case 'BASE_TABLE':
      return withOne(baseTable(table, place))
    case 'SUBQUERY': {
      const query = nodeOf(table['subquery'] as SyntaxNode)
      return withOne({ alias: '', columns: columnsOfQuery(query, place) })
    }
    case 'EXPRESSION_LIST':
      return withOne({ alias: '', columns: columnsOfValues(table, place) })
    case 'TABLE_FUNCTION':
      return withOne(tableFunction(table['function'] as SyntaxNode, place))
    case 'JOIN':
      return scopeOfJoin(table, place)
    default:
      return withOne({ alias: '', columns: null })
  }
}

function baseTable(table: SyntaxNode, { ctes, context }: QueryPlace) {
  const [schema, alias] = [textOf(table['schema_name']), textOf(table['table_name'])]
  const unknown = { alias, schema, columns: null }
  if (textOf(table['catalog_name']) !== '') return unknown
  const model = schema === '' ? null : context.findModel(`${schema}.${alias}`)
  if (model === null) {
    const name = schema === '' ? alias : `${schema}.${alias}`
    const own = ctes.get(foldCase(name))
    if (own !== undefined) return { ...unknown, columns: context.uses?.again(own, table) ?? own }
    context.observer?.table(table, name)
    const columns = context.columnsOfSource(name)
    return { ...unknown, columns: context.uses?.of(table, name, columns) ?? columns }
  }
  context.observer?.table(table, model)
  const columns = context.columnsOf(model)
  return { alias, schema, columns: context.uses?.of(table, model, columns) ?? columns }
}

function columnsOfValues(table: SyntaxNode, place: Inside): Columns {
  const rows = table['values'] as readonly (readonly SyntaxNode[])[]
  return (rows[0] ?? []).map((_, i) =>
    scopeColumn(`col${i}`, union(rows.map((row) => originsOf(row[i], place)))),
  )
}

function tableFunction(call: SyntaxNode, place: Inside): Omit<ScopeRelation, 'schema'> {
  const name = foldCase(String(call['function_name']))
  const isOne = name === 'unnest' ? (call['children'] as unknown[]).length === 1 : isSeries(name)
  if (!isOne) {
    if (place.context.observer !== undefined) originsOf(call['children'], place)
    return { alias: name, columns: null }
  }
  return { alias: name, columns: [scopeColumn(name, originsOf(call, place))] }
}

const isSeries = (name: string) => name === 'generate_series' || name === 'range'

function scopeOfJoin(table: SyntaxNode, place: Inside): Scope {
  const left = scopeOfFrom(table['left'] as SyntaxNode, place)
  const type = String(table['join_type'])
  const isAlone = leavesRowsAlone(type)
  const both = scopeOfFrom(table['right'] as SyntaxNode, { ...place, scope: left })
  const sides = isAlone
    ? [
        left.relations.slice(place.scope.relations.length),
        both.relations.slice(left.relations.length),
      ]
    : null
  const whole = withEqualities(both, table['condition'], place, sides)
  if (place.context.observer !== undefined)
    originsOf(table['condition'], { ...place, scope: whole })
  const exact = place.context.uses?.exact ?? null
  const done = (scope: Scope) =>
    exact === null ? scope : afterJoin(table, exact, scope, { before: place.scope, left })
  if (type === 'SEMI' || type === 'ANTI') {
    if (exact === null) return left
    const relations = done(whole).relations.slice(0, left.relations.length)
    return { ...left, relations }
  }
  // Tables that stand before this join in FROM do not take part in it.
  const before = left.relations.slice(place.scope.relations.length)
  const after = whole.relations.slice(left.relations.length)
  const mergedBefore = new Map(
    [...left.merged].filter(([name, column]) => place.scope.merged.get(name) !== column),
  )
  const names = usingOf(table, before, after)
  if (names === null) {
    // NATURAL over columns that are not known: any name may mean one of two.
    const unknown = whole.relations.map((relation) => ({ ...relation, columns: null }))
    return done({ ...whole, relations: unknown, merged: new Map() })
  }
  const merged = new Map(whole.merged)
  let relations = whole.relations
  // Of an ASOF join the last one is an inequality.
  const equal = table['ref_type'] === 'ASOF' ? names.slice(0, -1) : names
  for (const name of names) {
    const side = (relations: readonly ScopeRelation[], merged: Scope['merged']) =>
      resolveName([name], { ...emptyScope(null), relations, merged })
    const [l, r] = [side(before, mergedBefore), side(after, new Map())]
    const given = ({ trails = [] }: ScopeValue, isOther: boolean) =>
      isOther && exact !== null ? trails.map(loose) : trails
    const isCompared = equal.includes(name)
    if (isCompared) place.context.observer?.equality?.(l, r)
    const isEqual = isCompared && (exact === null || areOne(l, r))
    const taken = type === 'RIGHT' ? r : type === 'FULL' ? null : l
    const origins = taken === null ? union([l.origins, r.origins]) : taken.origins
    // Whatever the join, both sides have this value in a row to which both have come.
    const trails = isEqual ? [...given(l, type === 'RIGHT'), ...given(r, type === 'LEFT')] : []
    // With the name of its table before it, a column stands for one side; of several on the left none is sure.
    const key = foldCase(name)
    const owners = before.filter(({ columns }) => columns?.some((one) => one.key === key))
    const [start, middle] = [place.scope.relations.length, left.relations.length]
    if (isEqual && owners.length === 1 && !mergedBefore.has(key))
      relations = withTrailsOf(relations, [start, middle], key, given(r, isAlone))
    if (isEqual)
      relations = withTrailsOf(relations, [middle, relations.length], key, given(l, isAlone))
    const column = scopeColumn(name, origins, null, undefined, taken?.same, trails)
    merged.set(foldCase(name), { ...column, by: taken?.by })
  }
  return done({ ...whole, relations, merged })
}

/** With what else gives the column its values, in those of the tables that are in the range. */
const withTrailsOf = (
  relations: readonly ScopeRelation[],
  [start, end]: readonly [number, number],
  key: string,
  trails: readonly Trail[],
): readonly ScopeRelation[] =>
  relations.map((one, i) =>
    i >= start && i < end ? { ...one, columns: withMore(one.columns, key, trails) } : one,
  )

/** Whether a row may be in the result though the condition is not true of it. */
const leavesRowsAlone = (type: string) => type !== 'INNER' && type !== 'SEMI'

function usingOf(
  table: SyntaxNode,
  left: readonly ScopeRelation[],
  right: readonly ScopeRelation[],
): readonly string[] | null {
  if (table['ref_type'] !== 'NATURAL') return (table['using_columns'] ?? []) as readonly string[]
  if ([...left, ...right].some(({ columns }) => columns === null)) return null
  const namesOf = (relations: readonly ScopeRelation[]) =>
    relations.flatMap(({ columns }) => (columns ?? []).map(({ name }) => name))
  const others = namesOf(right)
  return namesOf(left).filter((name) => others.some((other) => sameName(other, name)))
}
