// Entities that rows of $apply are grouped by, or that have their nodes: they are expanded by default, each in the objects
// that are around it.

import { optionNotAllowed, unknownProperty, unsupported } from '../../protocol/errors.ts'
import type { NavigationProperty } from '../../edm/model.ts'
import type { ExpandItem, OptionSyntax } from '../../syntax/syntax.ts'
import { propertyOf } from '../bound.ts'
import type { Expansion, OutputProperty } from '../bound-request.ts'
import { bindExpand } from '../expand.ts'
import { findNavigation, type Scope } from '../scope.ts'
import { type ApplyRows, pathKey, type ValueColumn } from './rows.ts'

type EntityKey = ValueColumn & { readonly entity: NavigationProperty }

const isKey = (value: ValueColumn): value is EntityKey => value.entity !== undefined

/** Whether a path of names leads to the entity, or to an object around it. */
export const leadsToEntity = (names: readonly string[], { path, entity }: ValueColumn): boolean =>
  entity !== undefined && names.length < path.length && names.every((name, i) => path[i] === name)

/** Whether the path of an annotation is one of the entity. */
export const isOfEntity = (annotation: readonly string[], value: ValueColumn): boolean =>
  leadsToEntity(annotation.slice(0, -1), value) && annotation.length === value.path.length

/** Throws RequestError 400 or 501. */
export function expandedEntities(
  rows: ApplyRows,
  scope: Scope,
  { expand }: OptionSyntax,
): readonly Expansion[] {
  const keys = rows.values.filter(isKey)
  requireWhole(rows, keys)
  if (rows.added === null && keys.length === 0 && (expand?.length ?? 0) > 0)
    throw optionNotAllowed('the result of $apply has no entities')
  const near = keys.filter(({ path }) => path.length === 2)
  // What entities lead to themselves is theirs.
  const far = keys.filter(
    ({ path: [first = ''], path }) =>
      path.length > 2 &&
      (expand === undefined || findNavigation(rows.set.type, first) === undefined),
  )
  const isObject = ({ path: [name = ''] }: ExpandItem) => far.some((key) => key.path[0] === name)
  const asked = expand?.filter((item) => !isObject(item)) ?? near.map(({ path }) => all(path[0]!))
  const found = [
    ...bindExpand(asked, scope).map((each) => {
      const key = near.find(({ path }) => path[0] === each.name)
      return key === undefined ? each : { ...each, ...saidOf(key, rows, scope) }
    }),
    ...itemsBelow([], expand?.filter(isObject), far).map(([key, item]) =>
      expansionOf(key, item, rows, scope),
    ),
  ]
  // Rows that are entities are whole without them.
  const isImplied = expand === undefined && rows.added !== null
  return isImplied ? found.map((each) => ({ ...each, isImplied })) : found
}

const EXPANDED = { form: 'entities', options: {}, aliases: new Map(), levels: 1, at: 0 } as const

const all = (name: string): ExpandItem => ({ ...EXPANDED, path: [name] })

type Asked = readonly [EntityKey, ExpandItem]

/** What is expanded of the entities below an object; undefined: all of them, as they are. */
function itemsBelow(
  within: readonly string[],
  items: readonly ExpandItem[] | undefined,
  keys: readonly EntityKey[],
): readonly Asked[] {
  const depth = within.length
  if (items === undefined) return keys.map((key) => [key, all(key.path.at(-2)!)])
  return items.flatMap((item): readonly Asked[] => {
    const [name = ''] = item.path
    const below = keys.filter(({ path }) => path[depth] === name)
    const own = below.find(({ path }) => path.length === depth + 2)
    if (own !== undefined) return [[own, item]]
    if (below.length === 0)
      throw unknownProperty(
        `${pathKey(within)} has no entity "${name}" (at character ${item.at + 1}): there are ${keys.map(({ path }) => path[depth]).join(', ')}`,
      )
    const other = Object.keys(item.options).find((option) => option !== 'expand')
    if (other !== undefined || item.form !== 'entities' || item.levels > 1)
      throw optionNotAllowed(
        `${pathKey([...within, name])} is an object here, which takes nothing but $expand`,
      )
    return itemsBelow([...within, name], item.options.expand, below)
  })
}

function expansionOf(key: EntityKey, item: ExpandItem, rows: ApplyRows, scope: Scope): Expansion {
  const { path, entity, property } = key
  const { set } = rows
  const own = { ...entity, on: { ...entity.on, ours: property } }
  const others = set.type.navigation.filter(({ name }) => name !== entity.name)
  const type = { ...set.type, navigation: [own, ...others] }
  const row = { ...scope.row, set: { ...set, type } }
  const [made] = bindExpand([{ ...item, path: [entity.name] }], { ...scope, row })
  return { ...made!, ...saidOf(key, rows, scope), within: path.slice(0, -2) }
}

function saidOf(key: EntityKey, { annotations = [] }: ApplyRows, { row }: Scope) {
  const { mark, isNullObject, path } = key
  // Where there is nothing, one that is in no object is null itself.
  const isNull = isNullObject === true && path.length === 2
  const own = annotations.filter((each) => isOfEntity(each.path, key))
  return {
    mark: mark && !isNull ? propertyOf(row, mark) : undefined,
    isNullObject,
    ...(own.length > 0 && {
      annotations: own.map(({ path: at, property }): OutputProperty => ({
        name: at.at(-1)!,
        type: property.type,
        value: propertyOf(row, property),
      })),
    }),
  }
}

/** An entity is written as it is, so nothing else may stand where it does. */
function requireWhole({ values }: ApplyRows, keys: readonly EntityKey[]): void {
  const isIn = ({ path }: ValueColumn, key: EntityKey) =>
    path.length >= key.path.length && key.path.slice(0, -1).every((name, i) => path[i] === name)
  if (values.some((value) => keys.some((key) => key !== value && isIn(value, key))))
    throw unsupported(
      'an entity combined with its own properties in groupby',
      'leave the entity out, and add its key',
    )
}
