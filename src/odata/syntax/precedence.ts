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

/** An expression with the number of nodes on its longest way from root to leaf. */
export interface SyntaxWithDepth {
  readonly syntax: ExpressionSyntax
  readonly depth: number
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
  first: SyntaxWithDepth,
  operators: readonly OperatorAt[],
  more: readonly SyntaxWithDepth[],
): SyntaxWithDepth {
  const operands: SyntaxWithDepth[] = [first]
  const pending: OperatorAt[] = []
  const reduce = () => {
    const { name, at } = pending.pop()!
    const right = operands.pop()!
    const left = operands.pop()!
    operands.push(combine(name, at, left, right))
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

function combine(
  operator: BinaryOperator,
  at: number,
  left: SyntaxWithDepth,
  right: SyntaxWithDepth,
): SyntaxWithDepth {
  const isRun = operator === 'and' || operator === 'or'
  if (isRun && left.syntax.kind === 'operator' && left.syntax.operator === operator) {
    // The run was made by this function and nobody else holds it yet.
    ;(left.syntax.operands as ExpressionSyntax[]).push(right.syntax)
    return { syntax: left.syntax, depth: Math.max(left.depth, right.depth + 1) }
  }
  const operands = [left.syntax, right.syntax]
  const depth = Math.max(left.depth, right.depth) + 1
  if (depth > limits.expressionDepth) throw tooDeep()
  return { syntax: { kind: 'operator', operator, operands, at }, depth }
}

export function tooDeep(target?: string) {
  return odataError(
    'expression-too-deep',
    `an expression may be nested at most ${limits.expressionDepth} levels deep`,
    target,
  )
}

/** A node above these operands. Throws expression-too-deep. */
export function syntaxNode(
  syntax: ExpressionSyntax,
  operands: readonly SyntaxWithDepth[] = [],
): SyntaxWithDepth {
  const depth = Math.max(0, ...operands.map((operand) => operand.depth)) + 1
  if (depth > limits.expressionDepth) throw tooDeep()
  return { syntax, depth }
}
