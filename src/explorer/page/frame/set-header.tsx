import { readOptions, type Options, writeOptions } from '../address/options.ts'
import type { SetRoute } from '../address/route.ts'
import { Link, ModelLink } from '../parts/link.tsx'
import type { Page } from '../page.ts'
import { useValue } from '../parts/use-value.ts'
import { connectRoute, requestOfChart } from '../recipes/connect-route.ts'
import { readRowsState } from '../rows/requests.ts'

const TABS = [
  { view: 'rows', name: 'Rows' },
  { view: 'columns', name: 'Columns' },
  { view: 'chart', name: 'Chart' },
] as const

/** The head of all views of a set: what it is, and the other ways to look at it. */
export function SetHeader({ page, route }: { page: Page; route: SetRoute }) {
  const { set } = route
  const model = page.catalog?.sets.find(({ name }) => name === set)?.model
  const ofChart = useValue(requestOfChart)
  const filter = filterOf(route)
  const description = page.schema.set(set)?.description
  return (
    <header class="set-header">
      <h1 tabIndex={-1}>
        <bdi>{set}</bdi>
      </h1>
      <p class="print-only">
        published {page.health.value?.published_at}, printed {new Date().toISOString()}
      </p>
      {description !== undefined && <p class="set-description">{description}</p>}
      <nav class="tabs" aria-label="Views of the set" data-keeps-focus>
        {TABS.map(({ view, name }) => (
          <Link
            key={view}
            page={page}
            to={{ view, set, query: writeOptions(filter) }}
            current={route.view === view}
          >
            {name}
          </Link>
        ))}
        {model !== undefined && (
          <ModelLink page={page} model={model}>
            Lineage
          </ModelLink>
        )}
        <Link
          page={page}
          to={connectRoute(
            route.view === 'rows'
              ? readRowsState(set, route.query)
              : (ofChart ?? { set, options: filter }),
          )}
        >
          Connect
        </Link>
      </nav>
    </header>
  )
}

/** A filter means the same in each view of the set; all else of an address only in its own. */
function filterOf({ query }: SetRoute): Options {
  const filter = readOptions(query).get('$filter')
  return new Map(filter === undefined ? [] : [['$filter', filter]])
}
