import { useValue } from '../parts/use-value.ts'
import { useEffect } from 'preact/hooks'
import type { DocsData } from '../../../core/docs-data.ts'
import type { Route } from '../address/route.ts'
import { ProjectLinks } from '../frame/project-links.tsx'
import { Search } from '../frame/search.tsx'
import { showTime } from '../model/show.ts'
import type { Page, View } from '../page.ts'
import { Link } from '../parts/link.tsx'
import { ThemeButton } from '../parts/theme.tsx'
import { LineageView } from '../views/lineage.tsx'
import { LostView } from '../views/lost.tsx'
import { RunView } from '../views/run.tsx'
import { RunsView } from '../views/runs.tsx'
import { ChangedModels } from './changed-models.tsx'
import type { DocsPlace } from './docs-page.ts'
import { ModelTable } from './model-table.tsx'

export function DocsApp({ place, data }: { place: DocsPlace; data: DocsData }) {
  const { page } = place
  const route = useValue(place.route)
  const { project } = data.catalog
  useEffect(() => {
    document.title = route.view === 'home' ? project : `${route.view} · ${project}`
  }, [route.view, project])
  return (
    <div class="frame docs">
      <a class="skip" href="#main">
        To the content
      </a>
      <DocsHeader page={page} route={route} data={data} />
      <ModelNavigation page={page} route={route} />
      <main id="main" class={`main main-${route.view}`}>
        {route.view === 'home' ? (
          <DocsHome page={page} data={data} />
        ) : (
          <ViewOf page={page} route={route} />
        )}
      </main>
    </div>
  )
}

function DocsHeader({ page, route, data }: { page: Page; route: Route; data: DocsData }) {
  return (
    <header class="header">
      <Link page={page} to={{ view: 'home' }} class="project" current={route.view === 'home'}>
        {data.catalog.project}
      </Link>
      <Search page={page} />
      <nav class="header-links" aria-label="Pages">
        <ProjectLinks page={page} route={route} />
      </nav>
      <span class="freshness">
        written <time dateTime={data.written_at}>{toMinutes(data.written_at)}</time>
      </span>
      <ThemeButton />
    </header>
  )
}

/** Those that need nothing but a catalog. */
const views = { lineage: LineageView, runs: RunsView, run: RunView, lost: LostView }

function ViewOf({ page, route }: { page: Page; route: Route }) {
  const Shown = (route.view in views ? views[route.view as keyof typeof views] : LostView) as View
  return <Shown key={route.view} page={page} route={route} />
}

function ModelNavigation({ page, route }: { page: Page; route: Route }) {
  const schemas = new Map<string, string[]>()
  for (const { name } of page.catalog?.models ?? []) {
    const schema = name.slice(0, name.indexOf('.'))
    schemas.set(schema, [...(schemas.get(schema) ?? []), name])
  }
  const current = route.view === 'lineage' ? new URLSearchParams(route.query).get('model') : null
  return (
    <nav id="sets" class="sets" aria-label="Models">
      {[...schemas].map(([schema, names]) => (
        <section key={schema}>
          <h2>{schema}</h2>
          <ul>
            {names.map((name) => (
              <li key={name}>
                <Link
                  page={page}
                  to={{ view: 'lineage', query: `model=${encodeURIComponent(name)}` }}
                  class="set"
                  current={name === current}
                >
                  <bdi class="set-name">{name}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

function DocsHome({ page, data }: { page: Page; data: DocsData }) {
  const { catalog, changes } = data
  const [last] = catalog.runs
  return (
    <>
      <h1 tabIndex={-1}>{catalog.project}</h1>
      <p class="soft">
        {catalog.models.length} models, {catalog.sets.length} of them published
        {catalog.published_at !== '' && <> at {toMinutes(catalog.published_at)}</>}
        {last !== undefined && (
          <>
            ; the last run, at {toMinutes(last.started_at)}, {last.ok ? 'was well' : 'failed'}
          </>
        )}
      </p>
      {changes !== null && <ChangedModels page={page} changes={changes} />}
      <ModelTable page={page} catalog={catalog} />
    </>
  )
}

const toMinutes = (iso: string) => showTime(iso).replace(/:\d\d(?:\.\d+)?Z$/, 'Z')
