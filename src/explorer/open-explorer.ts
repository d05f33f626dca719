// The explorer, which a service serves in addition to its own resources.

import type { SidePages } from '../http/side-pages.ts'
import { type CatalogOptions, createCatalogs } from './catalog.ts'
import { firstRows } from './first-rows/first-rows.ts'
import { findPage, PAGE_HEADERS, readPage } from './serve-page.ts'

interface ExplorerOptions extends CatalogOptions {
  /** Where the bundled page lies. */
  readonly pageDir: string
  /** How long a page waits for its first rows; as the limit says unless given. */
  readonly firstRowsMs?: number
}

export async function openExplorer(options: ExplorerOptions): Promise<SidePages> {
  const page = {
    ...(await readPage(options.pageDir)),
    fill: firstRows(options),
  }
  const catalogOf = createCatalogs(options)
  return {
    async find(asked) {
      const { path, snapshot, part } = asked
      if (path !== '/catalog.json') return await findPage(page, asked)
      // Nothing is published yet, which /health says.
      if (snapshot === null) return null
      const catalog = await catalogOf(snapshot, part)
      return { ...catalog, headers: { ...PAGE_HEADERS, ...catalog.headers } }
    },
  }
}
