// groupby and rollup (Data Aggregation 4.0, section 3.2.3), and `from`, which groups in steps (section 3.2.1.5).

import { type ApplyContext, type ApplyRows, pathKey, scopeOfRows, withValues } from './rows.ts'
import { bindAggregate } from './aggregate.ts'
import { bindSequence } from './apply.ts'
import { bindConcat } from './concat.ts'
import { bindPath, pathTarget } from '../expression/path.ts'
import { typeOf } from '../bound.ts'
import { odataError, unsupported } from '../../protocol/errors.ts'
import { withinLimits } from '../size.ts'
import type { Scope } from '../scope.ts'
import type { AggregateItem, PathSyntax, TransformationSyntax } from '../../syntax/syntax.ts'
import type { NavigationProperty } from '../../edm/model.ts'

type GroupBySyntax = TransformationSyntax & { readonly kind: 'groupby' }

export function bindGroupBy(
  { groups: items, sequence }: GroupBySyntax,
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const keyed = items.map((item) => ({
    ...item,
    paths: item.paths.map((path) => groupPath(path, scope)),
  }))
  const [first, ...more] = groupings(keyed).map((paths) => {
    const ready = withKeys(rows, paths, context)
    const all = [...new Set([...groups, ...paths.map(({ names }) => pathKey(names))])]
    return sequence.length === 0
      ? bindAggregate([], ready, all, context)
      : bindSequence(sequence, ready, all, context)
  }) as [ApplyRows, ...ApplyRows[]]
  return more.length === 0 ? first : bindConcat([first, ...more], context)
}

/**
 * `amount with sum from month with average`: the sums of each month first, then the average of these (section 3.2.1.5).
 * The rows are grouped by everything at first, and by one `from` less at each step.
 */
export function bindFrom(
  items: readonly AggregateItem[],
  rows: ApplyRows,
  groups: readonly string[],
  context: ApplyContext,
): ApplyRows {
  const [item, ...others] = items as readonly [AggregateItem, ...AggregateItem[]]
  if (others.length > 0) throw unsupported('"from" combined with other items of aggregate')
  const { name, at } = item
  const scope = scopeOfRows(rows, context)
  const from = item.from.map(({ paths, method }) => ({
    paths: paths.map((path) => groupPath(path, scope)),
    method,
  }))
  const keyed = withKeys(
    rows,
    from.flatMap(({ paths }) => paths),
    context,
  )
  const groupsAfter = (done: number) => [
    ...new Set([
      ...groups,
      ...from.slice(done).flatMap(({ paths }) => paths.map(({ names }) => pathKey(names))),
    ]),
  ]
  const first = bindAggregate([{ ...item, from: [] }], keyed, groupsAfter(0), context)
  return from.reduce((made, { method }, i) => {
    const value = { kind: 'path', names: [name], keys: new Map(), at } as const
    return bindAggregate([{ value, method, from: [], name, at }], made, groupsAfter(i + 1), context)
  }, first)
}

/** What rows are grouped by: a value, or the key of an entity that the rows lead to. */
type GroupPath = PathSyntax & { readonly entity?: NavigationProperty }

interface GroupPaths {
  readonly paths: readonly GroupPath[]
  readonly withTotal: boolean
}

function groupPath(path: PathSyntax, scope: Scope): GroupPath {
  if (path.names[0] === '$it') throw unsupported('$it in groupby')
  if (path.names.some((name) => name.includes('.'))) throw unsupported('a type cast in groupby')
  if (scope.computed.has(path.names.join('/'))) return path
  const target = pathTarget(path, path.at, scope)
  if (target.kind !== 'one') return path
  const { navigation } = target
  if (navigation === null || path.names.length > 1)
    throw unsupported('an entity reached through another in groupby')
  return { ...path, names: [...path.names, navigation.on.theirs.name], entity: navigation }
}

/** Each rollup stands for its levels from the finest to the coarsest; several for all combinations. */
function groupings(items: readonly GroupPaths[]): readonly (readonly GroupPath[])[] {
  return items.reduce<readonly (readonly GroupPath[])[]>(
    (before, { paths, withTotal }) => {
      const isRollup = paths.length > 1 || withTotal
      const levels = isRollup
        ? Array.from({ length: paths.length + (withTotal ? 1 : 0) }, (_, i) =>
            paths.slice(0, paths.length - i),
          )
        : [paths]
      const combined = before.flatMap((start) => levels.map((level) => [...start, ...level]))
      return combined.map(withoutRepeats)
    },
    [[]],
  )
}

function withoutRepeats(paths: readonly GroupPath[]): readonly GroupPath[] {
  return [...new Map(paths.map((path) => [pathKey(path.names), path])).values()]
}

/** Properties reached through navigation become values of the rows. */
function withKeys(rows: ApplyRows, paths: readonly GroupPath[], context: ApplyContext): ApplyRows {
  const scope = scopeOfRows(rows, context)
  const known = rows.values.map(({ path }) => pathKey(path))
  const added = paths.flatMap((path) => {
    const value = withinLimits(bindPath(path, scope), context)
    const type = typeOf(value)!
    if (type.kind !== 'primitive')
      throw odataError('type-mismatch', `rows cannot be grouped by ${type.name}`)
    if (known.includes(pathKey(path.names))) return []
    return [{ path: path.names, value, type, entity: path.entity }]
  })
  return added.length === 0 ? rows : withValues(rows, added, [], context)
}
