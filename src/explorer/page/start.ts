// The page as views are given it, and what comes to be known of it after its start.

import type { Catalog } from '../../core/catalog.ts'
import { readSchema } from './model/schema.ts'
import type { Page } from './page.ts'
import type { AddressBar } from './place.ts'
import { Service, ServiceError } from './service/client.ts'
import { HealthWatch } from './service/health.ts'
import { Semaphore } from './service/semaphore.ts'

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
  return {
    schema: readSchema(document),
    catalog,
    service,
    semaphore: new Semaphore(PROFILES_AT_A_TIME),
    health: watch.health,
    returns: watch.returns,
    href: (route) => place.href(route),
    navigate: (route, how) => place.navigate(route, how),
  }
}

/** A page without a catalog still shows rows. */
async function fetchCatalog(): Promise<Catalog | null> {
  const url = new URL('catalog.json', root)
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
