// The page as views are given it, and what comes to be known of it after its start.

import { beginning, fetchCatalog, service, watch } from './ahead.ts'
import { readSchema } from './model/schema.ts'
import type { Page } from './page.ts'
import type { AddressBar } from './place.ts'
import { Semaphore } from './service/semaphore.ts'

const PROFILES_AT_A_TIME = 2

/** The catalog of hundreds of wide sets is larger than all the rest, so rows that are there are shown before it is. */
export async function startPage(place: AddressBar): Promise<Page> {
  const asked = beginning()
  const document = await asked.document
  const known = await (asked.rows === undefined
    ? asked.catalog
    : Promise.race([asked.catalog, settled(asked.rows)]))
  void watch.look()
  return {
    schema: readSchema(document),
    catalog: known ?? null,
    ...(known === undefined ? { coming: asked.catalog } : {}),
    service,
    semaphore: new Semaphore(PROFILES_AT_A_TIME),
    health: watch.health,
    returns: watch.returns,
    href: (route) => place.href(route),
    navigate: (route, how) => place.navigate(route, how),
  }
}

/** Resolves when the work has ended, also when it failed. */
function settled(work: Promise<unknown>): Promise<undefined> {
  return work.then(
    () => undefined,
    () => undefined,
  )
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
  const { coming, ...here } = page
  coming?.then(
    (catalog) => hasLeft || changed({ ...here, catalog }),
    () => undefined,
  )
  if (page.catalog?.is_whole === false) wait(FIRST_WAIT_MS)
  return () => {
    clearTimeout(timer)
    hasLeft = true
  }
}
