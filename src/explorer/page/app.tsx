// The frame of all views: what is published at the left, what is new above, the view itself at the right.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Route, setOf, type SetRoute, type ViewName } from './address/route.ts'
import { Banners, Header, SetHeader, SetsNavigation } from './frame/header.tsx'
import { Keys } from './frame/keys.tsx'
import { useValue } from './parts/use-value.ts'
import { ProblemNote } from './parts/problem.tsx'
import { type Page, PageProvider, usePage, type View } from './page.ts'
import { type AddressBar, awaitCatalog, startPage } from './start.ts'
import { asServiceError, ServiceError } from './service/client.ts'
import { BoardView } from './views/board.tsx'
import { ChartView } from './views/chart.tsx'
import { ColumnsView } from './views/columns.tsx'
import { ConnectView } from './recipes/recipe-text.tsx'
import { HomeView } from './views/home.tsx'
import { LineageView } from './views/lineage.tsx'
import { LostView } from './views/lost.tsx'
import { RowView } from './views/row.tsx'
import { RowsView } from './views/rows.tsx'
import { RunsView, RunView } from './views/runs.tsx'

export function App({ place }: { place: AddressBar }) {
  const [page, setPage] = useState<Page | ServiceError | null>(null)
  const begin = () => {
    setPage(null)
    startPage(place).then(setPage, (error: unknown) => setPage(asServiceError(error)))
  }
  // Before anything is painted: what is asked for takes longer than all that the page does meanwhile.
  useLayoutEffect(begin, [])
  useEffect(() => {
    if (page === null || page instanceof ServiceError) return undefined
    return awaitCatalog(page, setPage)
  }, [page])
  if (page === null) return null
  if (page instanceof ServiceError) return <ProblemNote error={page} again={begin} />
  return (
    <PageProvider value={page}>
      <Frame place={place} />
    </PageProvider>
  )
}

function Frame({ place }: { place: AddressBar }) {
  const page = usePage()
  const route = knownRoute(page, useValue(place.route))
  const set = setOf(route)
  useTitle(page, route)
  useFocusOnNewView(route)
  if (page.schema.sets.length === 0) return <NoSets />
  return (
    <div class="frame">
      <a class="skip" href="#main">
        To the content
      </a>
      <Header route={route} />
      <Banners />
      <SetsNavigation current={set} />
      <main id="main" class={`main main-${route.view}`}>
        {hasTabs(route) && <SetHeader route={route} />}
        <ViewOf route={route} />
      </main>
      <Keys route={route} />
    </div>
  )
}

/** A new view for another set, so that nothing of the one before is left in it. */
function ViewOf({ route }: { route: Route }) {
  const Shown = views[route.view] as View
  return <Shown key={aboutOf(route)} route={route} />
}

/** What a view is about: another one begins from nothing. */
const aboutOf = (route: Route) =>
  `${route.view} ${route.view === 'board' ? route.name : (setOf(route) ?? '')}`

function hasTabs(route: Route): route is SetRoute {
  return route.view === 'rows' || route.view === 'columns' || route.view === 'chart'
}

function knownRoute(page: Page, route: Route): Route {
  const set = setOf(route)
  if (set === undefined || page.schema.set(set) !== undefined) return route
  return { view: 'lost', path: `/sets/${set}` }
}

function useTitle(page: Page, route: Route): void {
  const project = page.catalog?.project ?? 'eider'
  const own = route.view === 'board' ? route.name : route.view
  const about = setOf(route) ?? (route.view === 'home' ? undefined : own)
  const title = about === undefined ? project : `${about} · ${project}`
  useEffect(() => {
    document.title = title
  }, [title])
}

/** Who follows a link by keyboard or hears the page is put at its beginning, as by a page that loads. */
function useFocusOnNewView(route: Route): void {
  const about = aboutOf(route)
  const last = useRef(about)
  useEffect(() => {
    if (about === last.current) return
    last.current = about
    if (document.activeElement?.closest('[data-keeps-focus]')) return
    document.querySelector<HTMLElement>('#main h1')?.focus()
    scrollTo(0, 0)
  }, [about])
}

/** Before anything is there to be seen. */
function NoSets() {
  const page = usePage()
  const isEmpty = useValue(page.health)?.snapshot === null
  return (
    <main class="no-sets" id="main">
      <h1>{page.catalog?.project ?? 'eider'}</h1>
      {isEmpty ? (
        <p>
          Nothing is published yet: run <code>eider run</code> first.
        </p>
      ) : (
        <p>
          No model is exposed. Put <code>-- @expose</code> with the name of its key at the head of a
          model, and run <code>eider run</code>.
        </p>
      )}
    </main>
  )
}

const views: { readonly [V in ViewName]: View<V> } = {
  home: HomeView,
  rows: RowsView,
  columns: ColumnsView,
  chart: ChartView,
  row: RowView,
  lineage: LineageView,
  runs: RunsView,
  run: RunView,
  connect: ConnectView,
  board: BoardView,
  lost: LostView,
}
