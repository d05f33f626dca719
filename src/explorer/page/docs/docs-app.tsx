import { useEffect } from 'preact/hooks'
import { useValue } from '../parts/use-value.ts'
import type { DocsData, Changes, ColumnChange, ModelChange } from '../../../core/docs-data.ts'
import type { Route } from '../address/route.ts'
import { ProjectLinks } from '../frame/header.tsx'
import { Search } from '../frame/search.tsx'
import { showTime, groupDigits } from '../model/show.ts'
import { PageProvider, usePage, type View } from '../page.ts'
import { Link, ModelLink } from '../parts/link.tsx'
import { ThemeButton } from '../parts/theme.tsx'
import { LineageView } from '../views/lineage.tsx'
import { LostView } from '../views/lost.tsx'
import { RunView } from '../views/run.tsx'
import { RunsView } from '../views/runs.tsx'
import type { DocsPlace } from './docs-page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { CHANGE_SIGNS as SIGNS } from '../lineage/change-signs.ts'
import type { Catalog, CatalogModel } from '../../../core/catalog.ts'

export function DocsApp({ place, data }: { place: DocsPlace; data: DocsData }) {
  const { page } = place
  const route = useValue(place.route)
  const { project } = data.catalog
  useEffect(() => {
    document.title = route.view === 'home' ? project : `${route.view} · ${project}`
  }, [route.view, project])
  return (
    <PageProvider value={page}>
      <div class="frame docs">
        <a class="skip" href="#main">
          To the content
        </a>
        <DocsHeader route={route} data={data} />
        <ModelNavigation route={route} />
        <main id="main" class={`main main-${route.view}`}>
          {route.view === 'home' ? <DocsHome data={data} /> : <ViewOf route={route} />}
        </main>
      </div>
    </PageProvider>
  )
}

function DocsHeader({ route, data }: { route: Route; data: DocsData }) {
  return (
    <header class="header">
      <Link to={{ view: 'home' }} class="project" current={route.view === 'home'}>
        {data.catalog.project}
      </Link>
      <Search />
      <nav class="header-links" aria-label="Pages">
        <ProjectLinks route={route} />
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

function ViewOf({ route }: { route: Route }) {
  const Shown = (route.view in views ? views[route.view as keyof typeof views] : LostView) as View
  return <Shown key={route.view} route={route} />
}

function ModelNavigation({ route }: { route: Route }) {
  const schemas = new Map<string, string[]>()
  for (const { name } of usePage().catalog?.models ?? []) {
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
                <ModelLink model={name} class="set" current={name === current}>
                  <bdi class="set-name">{name}</bdi>
                </ModelLink>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

function DocsHome({ data }: { data: DocsData }) {
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
      {changes !== null && <ChangedModels changes={changes} />}
      <ModelTable catalog={catalog} />
    </>
  )
}

const toMinutes = (iso: string) => showTime(iso).replace(/:\d\d(?:\.\d+)?Z$/, 'Z')

const ORDER = ['removed', 'changed', 'added', 'affected'] as const

/** What this state of the project changes against another. */
function ChangedModels({ changes }: { changes: Changes }) {
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
              <ModelLink model={name}>
                <bdi>{name}</bdi>
              </ModelLink>
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

/** All models: what they are, what is published of them, and how the last run went. */
function ModelTable({ catalog }: { catalog: Catalog }) {
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
              <ModelLink model={name}>
                <bdi>{name}</bdi>
              </ModelLink>
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
