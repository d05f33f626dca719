import type { ComponentChildren } from 'preact'

interface DataColumn<R> {
  readonly name: string
  readonly isNumber?: boolean
  readonly isHead?: boolean
  readonly cell: (row: R) => ComponentChildren
}

interface DataTableProps<R> {
  /** What it is, for who does not see it: "Columns". */
  readonly name: string
  readonly columns: readonly DataColumn<R>[]
  readonly rows: readonly R[]
  readonly keyOf: (row: R) => string
}

/** A table of at most some hundred rows; those of a set have one of their own, which holds only what is in view. */
export function DataTable<R>({ name, columns, rows, keyOf }: DataTableProps<R>) {
  return (
    <div class="data-table" role="region" aria-label={name} tabIndex={0}>
      <table aria-label={name}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={column.isNumber ? 'number' : ''}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name: key, isNumber, isHead, cell }) =>
                isHead ? (
                  <th key={key} scope="row">
                    {cell(row)}
                  </th>
                ) : (
                  <td key={key} class={isNumber ? 'number' : ''}>
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
