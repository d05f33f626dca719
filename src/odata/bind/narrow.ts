// Types with those properties alone that $select names.

import { odataError } from '../protocol/errors.ts'
import { findPart } from './scope.ts'
import type { SelectItem } from '../syntax/syntax.ts'
import type { EdmType } from '../edm/types.ts'

/** Whether `$select` can choose among the properties of the value. */
export const hasParts = (type: EdmType) =>
  type.kind === 'complex' || (type.kind === 'collection' && type.item.kind === 'complex')

/** `type` with those properties alone that `items` name, inside of collections too. An empty path means all of them. */
export function narrowed(type: EdmType, items: readonly SelectItem[] | undefined): EdmType {
  if (items === undefined || items.some(({ path }) => path.length === 0 || path[0] === '*'))
    return type
  switch (type.kind) {
    case 'collection': {
      const item = narrowed(type.item, items)
      return item.kind === 'collection' ? type : { ...type, item }
    }
    case 'complex': {
      const byName = new Map<string, SelectItem[]>()
      for (const { path, at } of items) {
        const [name, ...rest] = path as readonly [string, ...string[]]
        findPart(type, name, at)
        byName.set(name, [...(byName.get(name) ?? []), { path: rest, at }])
      }
      const properties = Array.from(byName, ([name, inner]) => ({
        name,
        type: narrowed(findPart(type, name, 0).type, inner),
      }))
      return { ...type, properties }
    }
    case 'primitive':
      throw odataError(
        'unknown-property',
        `${type.name} has no property "${items[0]!.path[0]}" (at character ${items[0]!.at + 1})`,
      )
  }
}
