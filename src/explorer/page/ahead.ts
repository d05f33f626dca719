// What the page asks for before it shows anything: the entity model, what the last run says about it, and the first rows.
//
// A script by itself, which is small and first: the service answers while the browser still loads and reads the rest.

import type { Catalog } from '../../core/catalog.ts'
import { routeAt } from './address/route.ts'
import type { Row, Value } from './model/value.ts'
import { FIRST_PAGE, firstPageRequest, MOST_BYTES, readRowsState } from './rows/requests.ts'
import { answerRows, Service, ServiceError, type Rows } from './service/client.ts'
import { HealthWatch } from './service/health.ts'

/** The scripts lie one directory below the root of the server, wherever a proxy has put that. */
export const root = new URL('..', import.meta.url)
export const watch = new HealthWatch(new URL('health', root).href)
export const service = new Service(
  new URL('odata/', root).href,
  fetch.bind(globalThis),
  (isReached) => {
    const isKnownToBeGone = watch.health.value?.status === 'gone'
    if (isReached === isKnownToBeGone) void watch.look()
  },
)

interface Beginning {
  /** The first page of them, where the address is one of rows. */
  readonly rows: Promise<unknown> | undefined
  readonly document: Promise<Row>
  readonly catalog: Promise<Catalog | null>
}

function begin(): Beginning {
  const rows = askForRows()
  const document = service.object('$metadata?$format=json')
  const catalog = fetchCatalog()
  // Those who take them get the failure; nobody may have taken them yet.
  for (const answer of [document, catalog]) answer.catch(() => undefined)
  return { rows, document, catalog }
}

/** A page without a catalog still shows rows; it also shows them when the catalog cannot be read. */
export async function fetchCatalog(): Promise<Catalog | null> {
  const url = new URL('catalog.json', root)
  const response = await fetch(url, { headers: { Accept: 'application/json' } })
  if (response.status === 401)
    throw new ServiceError(401, 'unauthorized', await response.text(), undefined)
  return response.ok ? ((await response.json()) as Catalog) : null
}

/** Rows need nothing but their address, so they do not wait for what the page has to know besides. */
function askForRows(): Beginning['rows'] {
  const [opened] = performance.getEntriesByType('navigation') as { responseStatus?: number }[]
  const route = routeAt(root, new URL(location.href))
  if (route?.view !== 'rows' || opened?.responseStatus === 404) return undefined
  const request = firstPageRequest(readRowsState(route.set, route.query))
  const sent = takeSent(request)
  if (sent !== undefined) return service.given(request, Promise.resolve(sent))
  return service.ahead(request, {
    pageSize: FIRST_PAGE,
    mostBytes: MOST_BYTES,
  })
}

/** The server has put the answer into the page, unless making it would have delayed that. It is good once. */
function takeSent(request: string): Rows | undefined {
  const element = document.getElementById('first-rows-data')
  element?.remove()
  if (element?.dataset['request'] !== request) return undefined
  const body = JSON.parse(element.textContent) as Record<string, Value>
  return answerRows(request, body, element.dataset['snapshot'])
}

let first: Beginning | undefined = begin()

/** What was asked for when this script came; a second call asks again. */
export function beginning(): Beginning {
  const asked = first ?? begin()
  first = undefined
  return asked
}
