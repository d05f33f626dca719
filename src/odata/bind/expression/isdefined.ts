// isdefined (Data Aggregation 4.0, section 6.5): whether a row has a property at all. Transformations of $apply take
// properties away, and where results are put together, by concat or rollup, some rows have what others lack: null is a
// value there, and the row of a subtotal has none.

import { findTarget } from './path.ts'
import type { Expression } from '../bound.ts'
import { RequestError } from '../../../http/request-error.ts'
import { odataError } from '../../protocol/errors.ts'
import { findNavigation, type Scope } from '../scope.ts'
import type { CallSyntax, PathSyntax } from '../../syntax/syntax.ts'
import { booleanConstant } from './constants.ts'

/** Throws unknown-property for a name that the entities never had. */
export function bindIsDefined({ operands, at }: CallSyntax, scope: Scope): Expression {
  const [path, ...more] = operands
  if (path === undefined || more.length > 0)
    throw odataError('wrong-arguments', `isdefined takes 1 argument, not ${operands.length}`)
  if (path.kind !== 'path')
    throw odataError('type-mismatch', `isdefined takes a path (at character ${at + 1})`)
  return scope.marks.get(path.names.join('/')) ?? booleanConstant(isKnown(path, scope))
}

function isKnown(path: PathSyntax, scope: Scope): boolean {
  if (scope.computed.has(path.names.join('/'))) return true
  try {
    findTarget(path, path.at, scope)
    return true
  } catch (error) {
    const isUnknown = error instanceof RequestError && error.code === 'unknown-property'
    const [name = ''] = path.names
    const { row, request } = scope
    const whole = request.sets.get(row.set.name)?.type
    const wasThere =
      whole !== undefined &&
      whole !== row.set.type &&
      (findNavigation(whole, name) !== undefined ||
        whole.properties.some((property) => property.name === name))
    if (isUnknown && wasThere) return false
    throw error
  }
}
