import { useState } from 'preact/hooks'
import { readOptions } from '../address/options.ts'
import { groupDigits } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { ColumnRow } from '../profile/column-row.tsx'
import { FilterBar } from '../rows/filter-bar.tsx'
import { useRowsContext } from '../rows/rows-context.ts'
import type { ServiceError } from '../service/client.ts'
import '../profile/profile.css'

/** Above that a count takes seconds for each column, and nobody has asked for it yet. */
const MOST_ROWS_UNASKED = 20_000_000

const HEADINGS = ['Column', 'Values', 'Type', 'Nulls', 'Different', 'Least', 'Greatest', 'Mean']
const NUMBERS = new Set(['Nulls', 'Different', 'Mean'])

export function ColumnsView({ route }: ViewProps<'columns'>) {
  const page = usePage()
  const set = page.schema.set(route.set)!
  const published = page.catalog?.sets.find(({ name }) => name === set.name)
  const types = new Map(published?.columns.map(({ name, type }) => [name, type]))
  const [isAsked, ask] = useState(false)
  const [fault, say] = useState<{ filter: string; error: ServiceError } | null>(null)
  const filter = readOptions(route.query).get('$filter') || null
  const names = [...set.properties, ...set.navigations].map(({ name }) => name)
  const isSmall = (published?.rows ?? 0) <= MOST_ROWS_UNASKED
  return (
    <>
      <FilterBar
        context={useRowsContext(set, route.query, 'columns')}
        error={fault !== null && fault.filter === filter ? fault.error : undefined}
      />
      {!isSmall && (
        <p class="profile-filter">
          {groupDigits(published!.rows)} rows: to count a column takes a while.
          <button type="button" class="button" disabled={isAsked} onClick={() => ask(true)}>
            Count all that come into view
          </button>
        </p>
      )}
      <div class="data-table profiles" role="region" aria-label="Columns" tabIndex={0}>
        <table aria-label="Columns">
          <thead>
            <tr>
              {HEADINGS.map((heading) => (
                <th key={heading} scope="col" class={NUMBERS.has(heading) ? 'number' : ''}>
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {set.properties.map((column) => (
              <ColumnRow
                key={column.name}
                set={set}
                column={column}
                engineType={types.get(column.name)}
                names={names}
                filter={filter}
                isCounted={isSmall || isAsked}
                onFault={(error) => filter !== null && say({ filter, error })}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}
