import { readSelect } from '../address/order.ts'
import type { RowsContext } from './rows-context.ts'
import { show } from './table-actions.ts'

/** Which columns are asked for. Those that are hidden come back at their own place. */
export function ColumnChooser({ context }: { context: RowsContext }) {
  const { state, allColumns, change } = context
  const shown = readSelect(state.options.get('$select')) ?? allColumns
  const set = (columns: readonly string[]) => change(show(state.options, columns, allColumns))
  const toggle = (name: string, isWanted: boolean) => {
    if (!isWanted) return set(shown.filter((one) => one !== name))
    const before = allColumns
      .slice(0, allColumns.indexOf(name))
      .findLast((one) => shown.includes(one))
    const at = before === undefined ? 0 : shown.indexOf(before) + 1
    set([...shown.slice(0, at), name, ...shown.slice(at)])
  }
  return (
    <details class="popover">
      <summary class="button">
        Columns {shown.length < allColumns.length && `${shown.length} of ${allColumns.length}`}
      </summary>
      <div class="popover-inside" role="group" aria-label="Columns">
        <p>
          <button type="button" class="button" onClick={() => set(allColumns)}>
            Show all
          </button>
        </p>
        {allColumns.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={shown.includes(name)}
              disabled={shown.length === 1 && shown[0] === name}
              onChange={(event) => toggle(name, event.currentTarget.checked)}
            />
            <bdi>{name}</bdi>
          </label>
        ))}
      </div>
    </details>
  )
}
