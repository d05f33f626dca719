// How often the SQL of an expression writes each of its operands, determined by printing it: some functions name an operand
// several times, and its own operands are then written as often.

import { type Expression, typeOf } from '../bind/bound.ts'
import { isFloat } from '../edm/numbers.ts'
import { valueSql } from './expression.ts'

/** As CopiesOf of bind/size.ts. */
export function copiesOf(expression: Expression): readonly number[] {
  const shape = shapeOf(expression)
  if (shape === null) return ONCE
  let copies = counted.get(shape)
  if (copies === undefined) counted.set(shape, (copies = count(expression)))
  return copies
}

const ONCE: readonly number[] = []

/** By shape: there are some hundred of them, however many requests there are. */
const counted = new Map<string, readonly number[]>()

/** What the SQL around the operands depends on; null where each is written once. */
function shapeOf(expression: Expression): string | null {
  switch (expression.kind) {
    case 'call': {
      const { name, operands, type } = expression
      return name === 'cast' ? `cast ${typeOf(operands[0]!)!.name} ${type.name}` : name
    }
    case 'compare':
      return mayBeFloat(expression.left) ? `${expression.operator} of floats` : null
    case 'items':
      return 'items'
    default:
      return null
  }
}

function mayBeFloat(expression: Expression): boolean {
  const type = typeOf(expression)
  return type !== null && isFloat(type)
}

/** Prints it with marks in the place of its operands. */
function count(expression: Expression): readonly number[] {
  switch (expression.kind) {
    case 'call': {
      const operands = expression.operands.map(markOf)
      return marksIn({ ...expression, operands }, operands.length)
    }
    case 'compare': {
      const [left, right] = [markOf(expression.left, 0), markOf(expression.left, 1)]
      return marksIn({ ...expression, left, right }, 2)
    }
    case 'items': {
      const source = { ...expression.source, list: markOf(expression.source.list, 0) }
      return marksIn({ ...expression, source, condition: null, order: [] }, 1)
    }
    default:
      return ONCE
  }
}

/** Of the same type, and with a name that no request can give. */
const markOf = (operand: Expression, place: number): Expression => ({
  kind: 'item',
  type: typeOf(operand)!,
  alias: `operand ${place}`,
})

function marksIn(expression: Expression, operands: number): readonly number[] {
  const text = valueSql(expression).inline()
  return Array.from(
    { length: operands },
    (_, place) => text.split(`"operand ${place}"."item"`).length - 1,
  )
}
