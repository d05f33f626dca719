// The operands of an expression, for code that walks through it.

import type { Expression, ItemSource, RowSource } from './bound.ts'

/** What most expressions consist of; it has no operands. */
export const isLeaf = ({ kind }: Expression): boolean =>
  kind === 'property' || kind === 'constant' || kind === 'null' || kind === 'item'

/** In the order in which CopiesOf counts them (size.ts). */
export function operandsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'null':
    case 'constant':
    case 'property':
    case 'item':
      return []
    case 'cast':
    case 'not':
      return [expression.operand]
    case 'compare':
      return [expression.left, expression.right]
    case 'in':
      return [expression.operand, ...expression.list]
    case 'logical':
    case 'call':
      return expression.operands
    case 'case':
      return expression.branches.flatMap(({ condition, value }) => [condition, value])
    case 'member':
      return [expression.of]
    case 'array':
      return expression.items
    case 'object':
      return expression.members.map(({ value }) => value)
    case 'items':
      return [
        expression.source.list,
        ...(expression.condition === null ? [] : [expression.condition]),
        ...expression.order.map(({ value }) => value),
      ]
    case 'gathered':
      return [...expression.sources.flatMap(sourceOperands), ...expression.key, expression.value]
    case 'total':
      return [
        ...sourceOperands(expression.source),
        ...(expression.value === null ? [] : [expression.value]),
      ]
    case 'rowNumber':
      return expression.order.map(({ value }) => value)
    case 'nth':
      return [
        ...sourceOperands(expression.source),
        ...expression.order.map(({ value }) => value),
        expression.value,
      ]
    case 'related':
      return [...sourceOperands(expression.source), expression.value]
    case 'reached':
      return [expression.theirs, expression.ours, expression.condition]
    case 'exists':
    case 'count':
      return [
        ...sourceOperands(expression.source),
        ...(expression.condition === null ? [] : [expression.condition]),
      ]
  }
}

function sourceOperands(source: RowSource | ItemSource): readonly Expression[] {
  if (source.kind === 'items') return [source.list]
  const { link, key } = source
  return [...(link === null ? [] : [link.ours]), ...(key === null ? [] : [key])]
}
