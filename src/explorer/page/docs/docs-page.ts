// The page that views are given in the file of `eider docs`: what they ask a service for is not there, so only those are
// shown that need nothing but the catalog. Addresses stand after the # of the file.

import { state, type ReadonlyState } from '../parts/state.ts'
import type { Catalog } from '../../../core/catalog.ts'
import type { DocsData } from '../../../core/docs-data.ts'
import { readRoute, writeRoute, type Route } from '../address/route.ts'
import type { EntitySet, Schema } from '../model/schema.ts'
import type { Page } from '../page.ts'
import { Service } from '../service/client.ts'
import { Semaphore } from '../service/semaphore.ts'

export interface DocsPlace {
  readonly page: Page
  readonly route: ReadonlyState<Route>
}

export function docsPlace({ catalog, changes }: DocsData): DocsPlace {
  const route = state(routeOf(location.hash))
  addEventListener('hashchange', () => (route.value = routeOf(location.hash)))
  const noService = () => Promise.reject(new Error('this file has no service'))
  const hasRun = catalog.published_at !== ''
  const page: Page = {
    schema: schemaOf(catalog),
    ...(changes === null ? {} : { changes }),
    catalog,
    service: new Service('', noService, () => {}),
    semaphore: new Semaphore(1),
    health: state(
      hasRun
        ? {
            status: 'ok',
            snapshot: catalog.snapshot,
            published_at: catalog.published_at,
            run_id: catalog.run_id,
          }
        : null,
    ),
    returns: state(0),
    href: (to) => `#${writeRoute(shownAs(catalog, to))}`,
    navigate(to, how = 'push') {
      const hash = `#${writeRoute(shownAs(catalog, to))}`
      if (how === 'replace') location.replace(hash)
      else location.hash = hash
    },
  }
  return { page, route }
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
  }))
  const byName = new Map(sets.map((set) => [set.name, set]))
  return { sets, hasParquet: false, set: (name) => byName.get(name) }
}
