// The explorer, which a service serves in addition to its own resources.

import type { SidePages } from '../http/side-pages.ts'
import { type CatalogOptions, createCatalogs } from './catalog.ts'
import { findPage, PAGE_HEADERS, readPage } from './serve-page.ts'

interface ExplorerOptions extends CatalogOptions {
  readonly pageDir: string
}

export async function openExplorer(options: ExplorerOptions): Promise<SidePages> {
  const page = await readPage(options.pageDir)
  const catalogOf = createCatalogs(options)
  return {
    async find({ path, snapshot, part }) {
      if (path !== '/catalog.json') return findPage(page, path, snapshot)
      // Nothing is published yet, which /health says.
      if (snapshot === null) return null
      const catalog = await catalogOf(snapshot, part)
      return { ...catalog, headers: { ...PAGE_HEADERS, ...catalog.headers } }
    },
  }
}
