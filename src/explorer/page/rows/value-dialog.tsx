import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { textOf, type Row } from '../model/value.ts'
import { targetOf } from './cell.tsx'
import { valueAt, type RowColumn } from './columns.ts'
import { Peek } from './peek.tsx'
import type { RowsContext } from './rows-context.ts'
import { conditionOf, filterBy } from './table-actions.ts'
import { WholeValue } from './whole-value.tsx'

export interface ValueDialogProps {
  readonly context: RowsContext
  readonly column: RowColumn
  readonly row: Row
  readonly onClose: () => void
}

/** The whole value of a cell, and what can be done with it. */
export function ValueDialog({ context, column, row, onClose }: ValueDialogProps) {
  const value = valueAt(row, column.name) ?? null
  const target = targetOf(context, column, row, value)
  const { property } = column
  const wanted = property && !property.isList ? conditionOf(column.name, value, true) : undefined
  const unwanted = property && !property.isList ? conditionOf(column.name, value, false) : undefined
  const filter = (condition: typeof wanted) => {
    if (condition === undefined) return
    context.change(filterBy(context.state.options, context.typeOf, condition))
    onClose()
  }
  return (
    <Dialog title={column.name} place="side" onClose={onClose}>
      {property?.description !== undefined && <p class="about">{property.description}</p>}
      <WholeValue value={value} edm={property?.edm} />
      <p class="actions">
        <CopyButton text={textOf(value)} name="Copy the value" />
        {wanted !== undefined && (
          <button type="button" class="button" onClick={() => filter(wanted)}>
            filter by this
          </button>
        )}
        {unwanted !== undefined && (
          <button type="button" class="button" onClick={() => filter(unwanted)}>
            leave this out
          </button>
        )}
      </p>
      {target !== undefined && (
        <section class="leads-to">
          <h3>
            <Link page={context.page} to={target}>
              {target.set}({target.key})
            </Link>
          </h3>
          {target.set !== context.set.name && (
            <Peek page={context.page} set={target.set} keyText={target.key} />
          )}
        </section>
      )}
    </Dialog>
  )
}
