// What the page asks for before it shows anything: the entity model, and what the last run says about it.

import type { Catalog } from '../../core/catalog.ts'
import { readSchema } from './model/schema.ts'
import type { Page } from './page.ts'
import type { Place } from './place.ts'
import type { Route } from './address/route.ts'
import { FIRST_PAGE, firstPageRequest, readRowsState } from './rows/requests.ts'
import { MOST_BYTES } from './rows/short-rows.ts'
import { Service, ServiceError } from './service/client.ts'
import { HealthWatch } from './service/health.ts'
import { Turns } from './service/turns.ts'

const PROFILES_AT_A_TIME = 2

export async function startPage(root: URL, place: Place): Promise<Page> {
  const watch = new HealthWatch(new URL('health', root).href)
  const service = new Service(new URL('odata/', root).href, fetch.bind(globalThis), (isReached) => {
    const isKnownToBeGone = watch.health.value?.status === 'gone'
    if (isReached === isKnownToBeGone) void watch.look()
  })
  askAhead(service, place.route.value)
  const [document, catalog] = await Promise.all([
    service.object('$metadata?$format=json'),
    readCatalog(new URL('catalog.json', root)),
    watch.look(),
  ])
  return {
    schema: readSchema(document),
    catalog,
    service,
    turns: new Turns(PROFILES_AT_A_TIME),
    health: watch.health,
    returns: watch.returns,
    href: (route) => place.href(route),
    navigate: (route, how) => place.navigate(route, how),
  }
}

/** Rows need nothing but their address, so they do not wait for what the page has to know besides. */
function askAhead(service: Service, route: Route): void {
  const [opened] = performance.getEntriesByType('navigation') as { responseStatus?: number }[]
  if (route.view !== 'rows' || opened?.responseStatus === 404) return
  service.ahead(firstPageRequest(readRowsState(route.set, route.query)), {
    pageSize: FIRST_PAGE,
    mostBytes: MOST_BYTES,
  })
}

/** A page without a catalog still shows rows; one that cannot be read is no reason to show nothing. */
async function readCatalog(url: URL): Promise<Catalog | null> {
  const response = await fetch(url, { headers: { Accept: 'application/json' } })
  if (response.status === 401)
    throw new ServiceError(401, 'unauthorized', await response.text(), undefined)
  return response.ok ? ((await response.json()) as Catalog) : null
}

const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 20_000

/**
 * A run writes the catalog just after it has published, and until then the service knows the sets alone. Of a state that
 * an older version has published that is all there will ever be, so this ends.
 */
export function awaitCatalog(root: URL, page: Page, changed: (page: Page) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const wait = (waitMs: number) => {
    if (waitMs > LONGEST_WAIT_MS) return
    timer = setTimeout(() => void look(waitMs), waitMs)
  }
  const look = async (waitedMs: number) => {
    const catalog = await readCatalog(new URL('catalog.json', root)).catch(() => null)
    if (timer === undefined) return
    if (catalog?.is_whole === true) changed({ ...page, catalog })
    else wait(waitedMs * 2)
  }
  if (page.catalog?.is_whole === false) wait(FIRST_WAIT_MS)
  return () => {
    clearTimeout(timer)
    timer = undefined
  }
}
