// The paths that rows are grouped by (Data Aggregation 4.0, sections 3.2.3.1 and 3.2.3.2).

import { type RowVariable, typeOf } from '../bound.ts'
import { type ApplyRows, type Input, pathKey, withValues } from './rows.ts'
import { scopeOfRows } from './row-scope.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import type { GroupItem, PathSyntax } from '../../syntax/syntax.ts'
import type { Scope } from '../scope.ts'
import { bindPath, pathTarget } from '../expression/path.ts'
import { malformed, typeMismatch, unsupported } from '../../protocol/errors.ts'
import { ofJoined } from './join.ts'
import { withinLimits } from '../size.ts'

/** What rows are grouped by: a value, or the key of an entity that the rows lead to. */
export type GroupPath = PathSyntax & { readonly entity?: NavigationProperty }

export const groupsWith = ({ groups }: Input, paths: readonly GroupPath[]): readonly string[] => [
  ...new Set([...groups, ...paths.map(({ names }) => pathKey(names))]),
]

export const entitiesWith = ({ entities }: Input, paths: readonly GroupPath[]) =>
  new Map([
    ...(entities ?? []),
    ...paths.flatMap(({ names, entity }) =>
      entity === undefined ? [] : [[pathKey(names), entity] as const],
    ),
  ])

export function groupPath(path: PathSyntax, scope: Scope): GroupPath {
  if (path.names[0] === '$it') throw unsupported('$it in groupby')
  if (path.names.some((name) => name.includes('.'))) throw unsupported('a type cast in groupby')
  if (scope.computed.has(path.names.join('/'))) return path
  const target = pathTarget(path, path.at, scope)
  if (target.kind === 'row') return joinedPath(path, target.row, scope)
  if (target.kind !== 'one') return path
  const { navigation } = target
  if (navigation === null) throw unsupported(`${target.name} in groupby`)
  return { ...path, names: [...path.names, navigation.on.theirs.name], entity: navigation }
}

/** An entity that join has put beside the rows: its key tells it apart, and leads to the rest of it. */
function joinedPath(path: PathSyntax, { set }: RowVariable, { request }: Scope): GroupPath {
  const target = request.sets.get(set.name)!
  const { key, properties } = target.type
  const [theirs, ...more] = key
  const isStored = set.type.properties.every(({ name }) =>
    properties.some((property) => property.name === name),
  )
  if (theirs === undefined || more.length > 0 || !isStored || path.names.length > 1)
    throw unsupported(
      'an entity that join adds, with a key of several columns or with computed values, in groupby',
    )
  const [name] = path.names as readonly [string]
  const ours = set.type.key[0]!
  return {
    ...path,
    names: [name, theirs.name],
    entity: { name, target, many: false, holdsKey: true, on: { ours, theirs }, partner: '' },
  }
}

/** The paths of an item: what a name of a hierarchy stands for. A property or a value with that name comes first. */
export function levelsOf(
  { paths, isRollup, withTotal }: GroupItem,
  { set, joined }: ApplyRows,
): readonly PathSyntax[] {
  const [path, ...more] = paths
  if (!isRollup || path === undefined || more.length > 0) return paths
  const name = path.names.join('/')
  const { levels, properties, navigation } = set.type
  const isTaken =
    [...properties, ...navigation].some((one) => one.name === name) || joined?.has(name) === true
  const hierarchy = isTaken ? undefined : levels.find((one) => one.name === name)
  if (hierarchy !== undefined)
    return hierarchy.columns.map((column) => ({ ...path, names: [column], keys: new Map() }))
  if (withTotal) return paths
  const known = levels.map((one) => one.name).join(', ')
  const or = known === '' ? '' : `, or a hierarchy, which are: ${known}`
  throw malformed(`rollup takes at least two levels${or} (at character ${path.at + 1})`)
}

interface GroupPaths {
  readonly paths: readonly GroupPath[]
  readonly withTotal: boolean
}

/** Each rollup stands for its levels from the finest to the coarsest; several for all combinations. */
export function groupings(items: readonly GroupPaths[]): readonly (readonly GroupPath[])[] {
  let made: readonly (readonly GroupPath[])[] = [[]]
  for (const { paths, withTotal } of items) {
    const isRollup = paths.length > 1 || withTotal
    const count = isRollup ? paths.length + (withTotal ? 1 : 0) : 1
    const levels = Array.from({ length: count }, (_, i) => paths.slice(0, paths.length - i))
    const combined = made.flatMap((start) => levels.map((level) => [...start, ...level]))
    made = combined.map((all) => [
      ...new Map(withoutParts(all).map((path) => [pathKey(path.names), path])).values(),
    ])
  }
  return made
}

/** What an entity that rows are grouped by has itself tells no more of them apart. */
const withoutParts = (paths: readonly GroupPath[]): readonly GroupPath[] =>
  paths.filter(
    (path) =>
      !paths.some(
        ({ names, entity }) =>
          entity !== undefined &&
          !(path.entity !== undefined && path.names.length <= names.length) &&
          path.names.length >= names.length &&
          names.slice(0, -1).every((name, i) => path.names[i] === name),
      ),
  )

/** Properties reached through navigation become values of the rows. */
export function withKeys(input: Input, paths: readonly GroupPath[]): ApplyRows {
  const { rows, context } = input
  const scope = scopeOfRows(rows, context)
  const known = rows.values.map(({ path }) => pathKey(path))
  const added = paths.flatMap((path) => {
    const value = withinLimits(bindPath(path, scope), context)
    const type = typeOf(value)!
    if (type.kind !== 'primitive') throw typeMismatch(`rows cannot be grouped by ${type.name}`)
    if (known.includes(pathKey(path.names))) return []
    return [{ path: path.names, value, type, entity: path.entity, ...ofJoined(rows, path.names) }]
  })
  return added.length === 0 ? rows : withValues(input, added, [])
}
