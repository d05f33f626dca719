import type { Row, Value } from '../model/value.ts'
import { keyOf } from '../address/key.ts'
import { writeLiteral } from '../address/literal.ts'
import { textOf } from '../model/value.ts'
import type { Route } from '../address/route.ts'
import { cellText } from './cell-text.ts'
import type { RowColumn } from './columns.ts'
import type { RowsContext } from './rows-context.ts'

export interface CellProps {
  readonly context: RowsContext
  readonly column: RowColumn
  readonly row: Row
  readonly value: Value | undefined
}

/** The content of a cell. Whatever came is text here, never markup and never a link of its own. */
export function CellContent({ context, column, row, value }: CellProps) {
  const { text, kind, title } = cellText(value, column.property)
  if (kind !== 'plain') {
    return (
      <span class={`value-${kind}`} title={title}>
        {text}
      </span>
    )
  }
  const target = targetOf(context, column, row, value)
  if (target === undefined) return <bdi title={title}>{text}</bdi>
  // A row of another set can be looked at from here.
  const isElsewhere = target.set !== context.set.name
  // Not a stop of the Tab key: the cell is, and its dialog has the link too.
  return (
    <a
      href={context.page.href(target)}
      tabIndex={-1}
      data-peek-set={isElsewhere ? target.set : undefined}
      data-peek-key={target.key}
    >
      <bdi>{text}</bdi>
    </a>
  )
}

/** Where a value leads: its own row for the key, the row of another set for a key of that. */
export function targetOf(
  { set }: RowsContext,
  column: RowColumn,
  row: Row,
  value: Value | undefined,
): Extract<Route, { view: 'row' }> | undefined {
  if (value === null || value === undefined || typeof value === 'object') return undefined
  if (column.navigation !== undefined && column.property !== undefined) {
    const { target, constraint } = column.navigation
    if (constraint.length !== 1) return undefined
    const key = writeLiteral(textOf(value), column.property.edm)
    return { view: 'row', set: target, key, query: '' }
  }
  if (!column.isKey) return undefined
  const key = keyOf(set, row)
  return key === undefined ? undefined : { view: 'row', set: set.name, key, query: '' }
}
