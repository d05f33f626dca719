import type { Row, Value } from '../model/value.ts'
import { targetOf } from './cell-target.ts'
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
  const target = targetOf(context.set, column, row, value)
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
