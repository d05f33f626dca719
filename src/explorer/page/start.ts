// What the page asks for before it shows anything: the entity model, and what the last run says about it.

import type { Catalog } from '../../core/catalog.ts'
import { readSchema } from './model/schema.ts'
import type { Page } from './page.ts'
import type { Place } from './place.ts'
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

/** A page without a catalog still shows rows; one that cannot be read is no reason to show nothing. */
async function readCatalog(url: URL): Promise<Catalog | null> {
  const response = await fetch(url, { headers: { Accept: 'application/json' } })
  if (response.status === 401)
    throw new ServiceError(401, 'unauthorized', await response.text(), undefined)
  return response.ok ? ((await response.json()) as Catalog) : null
}
