// The name of the file that an answer is saved as: the set, its filter in words where it is short, and the day on which the
// rows were published, as in `mart_revenue, year from 2025, 2026-11-24.csv`.

import { conjunctsOf, type Constant, type Expression } from '../../bind/bound.ts'
import type { ComparisonOperator } from '../../syntax/syntax.ts'

interface Named {
  readonly set: string
  readonly filter: Expression | null
  readonly publishedAt: Date
  /** Without the dot. */
  readonly extension: string
}

/** Characters of a filter that is told; a name of 255 bytes is the longest that file systems take. */
const LONGEST_WORDS = 60
const LONGEST_NAME = 60

export function fileNameFor({ set, filter, publishedAt, extension }: Named): string {
  const words = conjunctsOf(filter).map(wordsOf)
  const told = words.some((word) => word === null) ? '' : words.join(', ')
  const parts = [
    set.slice(0, LONGEST_NAME),
    ...(told === '' || told.length > LONGEST_WORDS ? [] : [told]),
    publishedAt.toISOString().slice(0, 10),
  ]
  return `${parts.join(', ').replaceAll(UNUSABLE, '-')}.${extension}`
}

/** What the file systems of common machines refuse, and what is not seen. */
const UNUSABLE = /[\p{C}\p{Zl}\p{Zp}\\/:*?"<>|]/gu

const operators: Readonly<Record<ComparisonOperator, string>> = {
  eq: '',
  ne: 'not',
  gt: 'above',
  ge: 'from',
  lt: 'below',
  le: 'up to',
}

/** A number that was compared with a decimal has as many places as that. */
const shown = ({ type, value }: Constant) =>
  type.name === 'Edm.Decimal' && value.includes('.') ? value.replace(/\.?0+$/, '') : value

/** null: it has no short words. */
function wordsOf(condition: Expression): string | null {
  switch (condition.kind) {
    case 'compare': {
      const { left, right, operator } = condition
      if (left.kind !== 'property') return null
      const value = right.kind === 'null' ? 'null' : right.kind === 'constant' ? shown(right) : null
      return value === null
        ? null
        : [left.property.name, operators[operator], value].filter(Boolean).join(' ')
    }
    case 'in': {
      const { operand, list } = condition
      if (operand.kind !== 'property') return null
      return `${operand.property.name} ${list.map(shown).join(' or ')}`
    }
    case 'call': {
      const [value, part] = condition.operands
      const isPart = condition.name === 'contains' && value?.kind === 'property'
      return isPart && part?.kind === 'constant'
        ? `${value.property.name} with ${shown(part)}`
        : null
    }
    default:
      return null
  }
}
