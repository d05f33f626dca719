import type { Changes, ColumnChange, ModelChange } from '../../../core/docs-data.ts'
import type { Page } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { CHANGE_SIGNS as SIGNS } from '../lineage/change-signs.ts'
import { Link } from '../parts/link.tsx'

const ORDER = ['removed', 'changed', 'added', 'affected'] as const

/** What this state of the project changes against another. */
export function ChangedModels({ page, changes }: { page: Page; changes: Changes }) {
  const rank = ({ is }: ModelChange) => ORDER.indexOf(is)
  const models = Object.entries(changes.models).toSorted(([, a], [, b]) => rank(a) - rank(b))
  if (models.length === 0)
    return (
      <p>
        All models are as in <code>{changes.against}</code>.
      </p>
    )
  return (
    <section>
      <h2>
        Changes against <code>{changes.against}</code>
      </h2>
      <DataTable
        name="Changes"
        rows={models}
        keyOf={([name]) => name}
        columns={[
          {
            name: 'change',
            cell: ([, { is }]) => (
              <span class={`change change-${is}`}>
                <span aria-hidden="true">{SIGNS[is]}</span> {is}
              </span>
            ),
          },
          {
            name: 'model',
            cell: ([name]) => (
              <Link
                page={page}
                to={{ view: 'lineage', query: `model=${encodeURIComponent(name)}` }}
              >
                <bdi>{name}</bdi>
              </Link>
            ),
          },
          { name: 'columns', cell: ([, { columns }]) => <Columns columns={columns} /> },
        ]}
      />
    </section>
  )
}

function Columns({ columns }: { columns: readonly ColumnChange[] }) {
  if (columns.length === 0) return null
  return (
    <ul>
      {columns.map(({ name, is, before, after }) => (
        <li key={name}>
          <span aria-hidden="true">{SIGNS[is]}</span> <bdi>{name}</bdi>{' '}
          <span class="soft">
            {is} <code>{[before, after].filter((type) => type !== null).join(' → ')}</code>
          </span>
        </li>
      ))}
    </ul>
  )
}
