import { useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Link } from '../parts/link.tsx'
import { groupDigits, localTime, showBytes } from '../model/show.ts'
import { textOf, type Row, type Value } from '../model/value.ts'
import { byteLength } from './cell-text.ts'
import { targetOf } from './cell.tsx'
import { valueAt, type RowColumn } from './columns.ts'
import { Peek } from './peek.tsx'
import type { RowsContext } from './rows-context.ts'
import { conditionOf, filterBy } from './table-actions.ts'
import { Tree } from './tree.tsx'

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

/** So much text is shown without being asked for. */
const FIRST_CHARACTERS = 10_000

export function WholeValue({ value, edm }: { value: Value; edm: string | undefined }) {
  const [isWhole, setIsWhole] = useState(false)
  if (value === null || value === '' || typeof value === 'object') return <Tree value={value} />
  const text = String(value)
  if (edm === 'Edm.Binary')
    return <p>{showBytes(byteLength(text))} of bytes, in base64url when copied</p>
  const local = edm === 'Edm.DateTimeOffset' ? localTime(text) : undefined
  const isCut = !isWhole && text.length > FIRST_CHARACTERS
  return (
    <>
      <pre class="whole-value" dir="auto" tabIndex={0}>
        {isCut ? text.slice(0, FIRST_CHARACTERS) : text}
      </pre>
      {local !== undefined && <p class="about">{local} here</p>}
      {isCut && (
        <button type="button" class="button" onClick={() => setIsWhole(true)}>
          load all ({groupDigits(text.length)} characters)
        </button>
      )}
    </>
  )
}
