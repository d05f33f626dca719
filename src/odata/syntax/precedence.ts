// Turns the flat list of operands and operators of an expression into a tree (URL conventions 5.1.1.17).

import { limits } from '../../core/limits.ts'
import { odataError } from '../protocol/errors.ts'
import type { BinaryOperator, ExpressionSyntax } from './syntax.ts'

/** A higher number binds tighter. Operators of the same number group from the left. */
export const precedenceOf: Readonly<Record<BinaryOperator, number>> = {
  has: 7,
  in: 7,
  mul: 6,
  div: 6,
  divby: 6,
  mod: 6,
  add: 5,
  sub: 5,
  gt: 4,
  ge: 4,
  lt: 4,
  le: 4,
  eq: 3,
  ne: 3,
  and: 2,
  or: 1,
}

export interface OperatorAt {
  readonly name: BinaryOperator
  readonly at: number
}

/**
 * The operator at an index stands before the operand of `more` at the same index. Runs of `and` and of `or` become one
 * node with many operands, so that a thousand clauses are not a thousand levels.
 */
export function applyPrecedence(
  first: ExpressionSyntax,
  operators: readonly OperatorAt[],
  more: readonly ExpressionSyntax[],
): ExpressionSyntax {
  const operands = [first]
  const pending: OperatorAt[] = []
  const reduce = () => {
    const right = operands.pop()!
    const left = operands.pop()!
    operands.push(combine(pending.pop()!, left, right))
  }
  for (const [i, operator] of operators.entries()) {
    const precedence = precedenceOf[operator.name]
    while (pending.length > 0 && precedenceOf[pending.at(-1)!.name] >= precedence) reduce()
    pending.push(operator)
    operands.push(more[i]!)
  }
  while (pending.length > 0) reduce()
  return operands[0]!
}

function combine({ name, at }: OperatorAt, left: ExpressionSyntax, right: ExpressionSyntax) {
  const isRun = name === 'and' || name === 'or'
  if (!isRun || left.kind !== 'operator' || left.operator !== name)
    return above([left, right], { kind: 'operator', operator: name, operands: [left, right], at })
  // The run was made by this function and nobody else holds it yet.
  ;(left.operands as ExpressionSyntax[]).push(right)
  depths.set(left, Math.max(depthOf(left), depthOf(right) + 1))
  return left
}

export function tooDeep(target?: string) {
  return odataError(
    'expression-too-deep',
    `an expression may be nested at most ${limits.expressionDepth} levels deep`,
    target,
  )
}

/** The number of nodes on the longest way from an expression to a leaf, for those that are none. */
const depths = new WeakMap<ExpressionSyntax, number>()

const depthOf = (syntax: ExpressionSyntax) => depths.get(syntax) ?? 1

/** A sign or parentheses around an operand. How deep that is, only a node above it asks. */
export function around(operand: ExpressionSyntax, node: ExpressionSyntax) {
  depths.set(node, depthOf(operand) + 1)
  return node
}

/** The node above these operands. Throws expression-too-deep. */
export function above(operands: readonly ExpressionSyntax[], node: ExpressionSyntax) {
  const depth = Math.max(0, ...operands.map(depthOf)) + 1
  if (depth > limits.expressionDepth) throw tooDeep()
  if (depth > 1) depths.set(node, depth)
  return node
}
