// The explorer as a service has it beside its own resources.

import type { SidePages } from '../http/side-pages.ts'
import { type CatalogOptions, createCatalogs } from './catalog.ts'
import { createFirstRows, type FirstRowsOptions } from './first-rows.ts'
import { findPage, PAGE_HEADERS, readPage } from './serve-page.ts'

export interface ExplorerOptions extends CatalogOptions, FirstRowsOptions {
  /** Where the bundled page lies. */
  readonly pageDir: string
}

export async function openExplorer(options: ExplorerOptions): Promise<SidePages> {
  const page = await readPage(options.pageDir)
  const catalogOf = createCatalogs(options)
  const readFirstRows = createFirstRows(options)
  return {
    async find(asked) {
      const { path, snapshot, part } = asked
      if (path !== '/catalog.json') return await findPage(page, asked, readFirstRows)
      // Nothing is published yet, which /health says.
      if (snapshot === null) return null
      const catalog = await catalogOf(snapshot, part)
      return { ...catalog, headers: { ...PAGE_HEADERS, ...catalog.headers } }
    },
  }
}
