import { keyOf } from '../address/key.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { textOf, type Row } from '../model/value.ts'
import { ProblemNote } from '../parts/problem.tsx'
import { askObject, useAnswer } from '../parts/use-answer.ts'
import { targetOf } from './cell.ts'
import { columnValue, type RowColumn } from './columns.ts'
import { Peek } from './peek.tsx'
import { rowRequest } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { isPart } from './short-rows.ts'
import { conditionOf, filterBy } from './table-actions.ts'
import { WholeValue } from './whole-value.tsx'

interface ValueDialogProps {
  readonly context: RowsContext
  readonly column: RowColumn
  readonly row: Row
  /** The row may have only a part of the value. */
  readonly isShort: boolean
  readonly onClose: () => void
}

/** The whole value of a cell, and what can be done with it. */
export function ValueDialog(props: ValueDialogProps) {
  const { context, column, row, onClose } = props
  const { answer, value, isCut } = useWholeValue(props)
  const target = targetOf(context.set, column, row, value)
  const { property } = column
  const isFilter = !isCut && property !== undefined && !property.isList
  const wanted = isFilter ? conditionOf(column.name, value, true) : undefined
  const unwanted = isFilter ? conditionOf(column.name, value, false) : undefined
  const filter = (condition: typeof wanted) => {
    if (condition === undefined) return
    context.change(filterBy(context.state.options, context.typeOf, condition))
    onClose()
  }
  return (
    <Dialog title={column.name} place="side" onClose={onClose}>
      {property?.description !== undefined && <p class="about">{property.description}</p>}
      {answer?.state === 'failed' && <ProblemNote error={answer.error} again={answer.again} />}
      {isCut && (
        <p class="about">
          {answer === undefined
            ? 'This is its beginning. A set without a key cannot be asked for one value.'
            : 'The whole value is coming …'}
        </p>
      )}
      {(!isCut || value !== null) && <WholeValue value={value} edm={property?.edm} />}
      <p class="actions">
        {!isCut && <CopyButton text={textOf(value)} name="Copy the value" />}
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
            <Link to={target}>
              {target.set}({target.key})
            </Link>
          </h3>
          {target.set !== context.set.name && <Peek set={target.set} keyText={target.key} />}
        </section>
      )}
    </Dialog>
  )
}

/** What the row has, or, where that is only a part, what the service answers for this value alone. */
function useWholeValue({ context, column, row, isShort }: ValueDialogProps) {
  const { set } = context
  const { name, property } = column
  const here = columnValue(row, name)
  const isCut = isShort && isPart(property, here)
  const key = isCut ? keyOf(set, row) : undefined
  const request = key === undefined ? null : rowRequest(set.name, key, new Map([['$select', name]]))
  const answer = useAnswer(request, askObject)
  if (answer.state === 'here') return { answer, value: answer.value[name] ?? null, isCut: false }
  return { answer: request === null ? undefined : answer, value: here ?? null, isCut }
}
