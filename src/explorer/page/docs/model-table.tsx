import type { Catalog, CatalogModel } from '../../../core/catalog.ts'
import { groupDigits } from '../model/show.ts'
import type { Page } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Link } from '../parts/link.tsx'

/** All models: what they are, what is published of them, and how the last run went. */
export function ModelTable({ page, catalog }: { page: Page; catalog: Catalog }) {
  const published = new Map(catalog.sets.map((set) => [set.model, set]))
  const rowsOf = ({ name }: CatalogModel) => published.get(name)?.rows
  return (
    <section>
      <h2>Models</h2>
      <DataTable
        name="Models"
        rows={catalog.models}
        keyOf={({ name }) => name}
        columns={[
          {
            name: 'model',
            cell: ({ name }) => (
              <Link
                page={page}
                to={{ view: 'lineage', query: `model=${encodeURIComponent(name)}` }}
              >
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          { name: 'kind', cell: ({ kind }) => kind ?? '' },
          { name: 'description', cell: ({ description }) => <bdi>{description}</bdi> },
          { name: 'owner', cell: ({ owner }) => <bdi>{owner}</bdi> },
          { name: 'set', cell: ({ set }) => set !== null && <code>{set}</code> },
          {
            name: 'rows',
            isNumber: true,
            cell: (model) => {
              const rows = rowsOf(model)
              return rows === undefined ? '' : groupDigits(rows)
            },
          },
          { name: 'columns', isNumber: true, cell: ({ columns }) => columns.length },
          { name: 'last run', cell: ({ name }) => <LastRun catalog={catalog} name={name} /> },
        ]}
      />
    </section>
  )
}

function LastRun({ catalog, name }: { catalog: Catalog; name: string }) {
  const state = catalog.states[name]
  if (state === undefined) return null
  return (
    <>
      {state.status}
      {state.warned > 0 && (
        <span role="img" aria-label="A check warned">
          {' '}
          ⚠
        </span>
      )}
    </>
  )
}
