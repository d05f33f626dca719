import type { Route } from '../address/route.ts'
import type { Page } from '../page.ts'
import { Link } from '../parts/link.tsx'

/** To what is about all sets. */
export function ProjectLinks({ page, route }: { page: Page; route: Route }) {
  return (
    <>
      <Link page={page} to={{ view: 'lineage', query: '' }} current={route.view === 'lineage'}>
        Lineage
      </Link>
      <Link
        page={page}
        to={{ view: 'runs' }}
        current={route.view === 'runs' || route.view === 'run'}
      >
        Runs
      </Link>
    </>
  )
}
