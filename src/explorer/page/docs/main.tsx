// The page of `eider docs`: the views of the explorer that need nothing but a catalog, which lies in the file itself.

import { state } from '../parts/state.ts'
import type {
  Catalog,
  CatalogModel,
  Changes,
  ColumnChange,
  DocsData,
  ModelChange,
} from '../../../core/catalog.ts'
import { readRoute, type Route, writeRoute } from '../address/route.ts'
import type { EntitySet, Schema } from '../model/schema.ts'
import { type Page, PageProvider, usePage, type View } from '../page.ts'
import { Semaphore, Service } from '../service/client.ts'
import { useEffect, useState } from 'preact/hooks'
import { useValue } from '../parts/use-value.ts'
import { ProjectLinks } from '../frame/header.tsx'
import { Search } from '../frame/search.tsx'
import { groupDigits, showTime } from '../model/show.ts'
import { Link, ModelLink } from '../parts/link.tsx'
import { bySchema, modelsWith } from '../model/groups.ts'
import { StatusOf } from '../runs/build-history.tsx'
import '../runs/runs.css'
import { applyTheme, ThemeButton } from '../parts/theme.tsx'
import { LineageView } from '../views/lineage.tsx'
import { LostView } from '../views/lost.tsx'
import { RunsView, RunView } from '../views/runs.tsx'
import { DataTable } from '../parts/data-table.tsx'
import { CHANGE_SIGNS as SIGNS } from '../lineage/lineage-picture.tsx'
import { render } from 'preact'
import '../page.css'
import '../parts/parts.css'
import '../frame/frame.css'
import './docs.css'

const route = state(routeOf(location.hash))

/** What views ask a service for is not there. Addresses stand after the # of the file. */
function docsPage({ catalog, changes }: DocsData): Page {
  const noService = () => Promise.reject(new Error('this file has no service'))
  const href = (to: Route) => `#${writeRoute(shownAs(catalog, to))}`
  return {
    schema: schemaOf(catalog),
    ...(changes === null ? {} : { changes }),
    catalog,
    boards: state([]),
    omittedBoards: state(0),
    readers: () => Promise.resolve({}),
    service: new Service('', noService, () => {}),
    semaphore: new Semaphore(1),
    health: state(null),
    returns: state(0),
    href,
    navigate(to, how = 'push') {
      if (how === 'replace') location.replace(href(to))
      else location.hash = href(to)
    },
  }
}

function routeOf(hash: string): Route {
  const [path = '', ...query] = hash.replace(/^#/, '').split('?')
  return readRoute(path === '' ? '/' : path, query.join('?'))
}

/** What is about the rows of a set leads to its model. `set` may be the name of a model too. */
function shownAs({ models }: Catalog, to: Route): Route {
  if (!('set' in to)) return to
  const model = models.find(({ name, set }) => name === to.set || set === to.set)
  const query = `model=${encodeURIComponent(model?.name ?? to.set)}`
  return { view: 'lineage', query }
}

/** All models, so that the search finds those that are not exposed too. */
function schemaOf({ models }: Catalog): Schema {
  const sets = models.map(({ name, description, columns }): EntitySet => ({
    name,
    description: description ?? undefined,
    key: [],
    properties: columns.map((column) => ({
      name: column.name,
      description: column.description,
      edm: column.type,
      isList: false,
      precision: undefined,
      scale: undefined,
      fields: undefined,
    })),
    navigations: [],
    measures: [],
  }))
  const byName = new Map(sets.map((set) => [set.name, set]))
  return { sets, hasParquet: false, set: (name) => byName.get(name) }
}

function DocsApp({ page, data }: { page: Page; data: DocsData }) {
  const shown = useValue(route)
  const { project } = data.catalog
  useEffect(() => {
    document.title = shown.view === 'home' ? project : `${shown.view} · ${project}`
  }, [shown.view, project])
  return (
    <PageProvider value={page}>
      <div class="frame docs">
        <a class="skip" href="#main">
          To the content
        </a>
        <DocsHeader route={shown} data={data} />
        <ModelNavigation route={shown} />
        <main id="main" class={`main main-${shown.view}`}>
          {shown.view === 'home' ? <DocsHome data={data} /> : <ViewOf route={shown} />}
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
        <ProjectLinks view={route.view} />
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
  const schemas = bySchema(usePage().catalog?.models ?? [])
  const current = route.view === 'lineage' ? new URLSearchParams(route.query).get('model') : null
  return (
    <nav id="sets" class="sets" aria-label="Models">
      {schemas.map(([schema, models]) => (
        <section key={schema}>
          <h2>{schema}</h2>
          <ul>
            {models.map(({ name }) => (
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
      <ModelTables catalog={catalog} />
    </>
  )
}

const toMinutes = (iso: string) => showTime(iso).replace(/:\d\d(?:\.\d+)?Z$/, 'Z')

const ORDER = ['removed', 'changed', 'added', 'affected'] as const

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
          { name: 'model', cell: ([name]) => <ModelLink model={name} /> },
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

/** By schema, and of many only those with the words that somebody looks for. */
function ModelTables({ catalog }: { catalog: Catalog }) {
  const [wanted, setWanted] = useState('')
  const found = modelsWith(catalog, wanted)
  return (
    <section class="model-tables">
      <h2>Models</h2>
      <input
        type="search"
        class="field"
        aria-label="Filter models"
        placeholder="name, owner, tag, check, status"
        value={wanted}
        onInput={(event) => setWanted(event.currentTarget.value)}
      />
      {found.length === 0 && <p>No model has this.</p>}
      {bySchema(found).map(([schema, models]) => (
        <section key={schema}>
          <h3>
            {schema} <span class="soft">{models.length}</span>
          </h3>
          <ModelTable catalog={catalog} name={`Models of ${schema}`} models={models} />
        </section>
      ))}
    </section>
  )
}

interface ModelTableProps {
  readonly catalog: Catalog
  readonly name: string
  readonly models: readonly CatalogModel[]
}

function ModelTable({ catalog, name, models }: ModelTableProps) {
  const published = new Map(catalog.sets.map((set) => [set.model, set]))
  const rowsOf = (model: CatalogModel) => published.get(model.name)?.rows
  return (
    <DataTable
      name={name}
      rows={models}
      keyOf={({ name }) => name}
      columns={[
        { name: 'model', cell: ({ name }) => <ModelLink model={name} /> },
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
        {
          name: 'last run',
          cell: (model) => <LastRun catalog={catalog} name={model.name} />,
        },
      ]}
    />
  )
}

function LastRun({ catalog, name }: { catalog: Catalog; name: string }) {
  const state = catalog.states[name]
  if (state === undefined) return null
  return (
    <>
      <StatusOf status={state.status} />
      {state.warned > 0 && (
        <span role="img" aria-label="A check warned">
          {' '}
          ⚠
        </span>
      )}
    </>
  )
}

const container = document.getElementById('page')
const text = document.getElementById('data')?.textContent ?? ''
applyTheme()
if (container !== null) {
  const data = JSON.parse(text) as DocsData
  addEventListener('hashchange', () => (route.value = routeOf(location.hash)))
  render(<DocsApp page={docsPage(data)} data={data} />, container)
}
