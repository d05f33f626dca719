// The page as views are given it, and what comes to be known of it after its start.

import type { ShownBoard } from '../../core/boards.ts'
import type { Catalog } from '../../core/catalog.ts'
import { readSchema } from './model/schema.ts'
import type { Page } from './page.ts'
import { HealthWatch } from './service/health.ts'
import { Semaphore, Service, ServiceError } from './service/client.ts'
import { state } from './parts/state.ts'
import { type Route, routeAt, writeRoute } from './address/route.ts'

const PROFILES_AT_A_TIME = 2

/** The scripts lie one directory below the root of the server, wherever a proxy has put that. */
export const root = new URL('..', import.meta.url)

const watch = new HealthWatch(new URL('health', root).href)
const service = new Service(new URL('odata/', root).href, fetch.bind(globalThis), (isReached) => {
  const isKnownToBeGone = watch.health.value?.status === 'gone'
  if (isReached === isKnownToBeGone) void watch.look()
})

export async function startPage(place: AddressBar): Promise<Page> {
  const [document, catalog] = await Promise.all([
    service.object('$metadata?$format=json'),
    fetchCatalog(),
  ])
  void watch.look()
  void fetchBoards().then((found) => {
    boards.value = found?.boards ?? []
    omittedBoards.value = found?.omitted ?? 0
  })
  return {
    schema: readSchema(document),
    catalog,
    boards,
    omittedBoards,
    readers: fetchReaders,
    service,
    semaphore: new Semaphore(PROFILES_AT_A_TIME),
    health: watch.health,
    returns: watch.returns,
    href: (route) => place.href(route),
    navigate: (route, how) => place.navigate(route, how),
  }
}

const boards = state<readonly ShownBoard[] | null>(null)
const omittedBoards = state(0)

/** None where they cannot be had: nothing else of the page needs them. */
const fetchBoards = () =>
  besideRows<{ readonly boards: readonly ShownBoard[]; readonly omitted: number }>('boards.json')

async function fetchReaders(): Promise<Readonly<Record<string, readonly string[]>>> {
  type Answer = { readonly sets: Readonly<Record<string, readonly string[]>> }
  return (await besideRows<Answer>('readers.json'))?.sets ?? {}
}

async function besideRows<T>(name: string): Promise<T | null> {
  try {
    const response = await fetch(new URL(name, root))
    return response.ok ? ((await response.json()) as T) : null
  } catch {
    return null
  }
}

/** A page without a catalog still shows rows. */
async function fetchCatalog(): Promise<Catalog | null> {
  const url = new URL('catalog.json', root)
  const response = await fetch(url, { headers: { Accept: 'application/json' } })
  if (response.status === 401) throw await refusalOf(response)
  return response.ok ? ((await response.json()) as Catalog) : null
}

async function refusalOf(response: Response): Promise<ServiceError> {
  const text = await response.text()
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } }
    return new ServiceError(401, error.code, error.message)
  } catch {
    return new ServiceError(401, 'unauthorized', text)
  }
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 20_000

/**
 * A run writes the catalog just after it has published, and until then the service knows the sets alone. Of a state that
 * an older version has published that is all there will ever be, so this ends.
 */
export function awaitCatalog(page: Page, changed: (page: Page) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasLeft = false
  const wait = (waitMs: number) => {
    if (waitMs > LONGEST_WAIT_MS) return
    timer = setTimeout(() => void look(waitMs), waitMs)
  }
  const look = async (waitedMs: number) => {
    const catalog = await fetchCatalog().catch(() => null)
    if (hasLeft) return
    if (catalog?.is_whole === true) changed({ ...page, catalog })
    else wait(waitedMs * 2)
  }
  if (page.catalog?.is_whole === false) wait(FIRST_WAIT_MS)
  return () => {
    clearTimeout(timer)
    hasLeft = true
  }
}

// The address of the page as a value that changes, without a library: History API, and clicks on its own links.

export class AddressBar {
  readonly route = state<Route>({ view: 'home' })
  /** Ends with a slash: what the server is reached by, with the prefix of a proxy before it. */
  readonly #root: URL

  constructor(root: URL) {
    this.#root = root
    this.#read()
    addEventListener('popstate', () => this.#read())
    document.addEventListener('click', (event) => this.#follow(event))
  }

  href(route: Route): string {
    return this.#root.pathname.replace(/\/$/, '') + writeRoute(route)
  }

  navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
    const href = this.href(route)
    if (how === 'replace') history.replaceState(null, '', href)
    else if (href !== location.pathname + location.search) history.pushState(null, '', href)
    this.#read()
  }

  #read(): void {
    this.route.value = routeAt(this.#root, new URL(location.href)) ?? { view: 'home' }
  }

  /** A plain click on a link of the page. With a modifier, or to be saved, it is the browser's. */
  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.hasAttribute('target') || link.hasAttribute('download')) return
    // Links in drawings have no `href` that is a text.
    const href = link.getAttribute('href')
    if (href === null || href.startsWith('#')) return
    const route = routeAt(this.#root, new URL(href, location.href))
    if (route === undefined) return
    event.preventDefault()
    this.navigate(route)
  }
}
