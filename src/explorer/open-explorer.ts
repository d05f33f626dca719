// The explorer, which a service serves in addition to its own resources.

import type { Boards } from '../core/boards.ts'
import type { SidePage, SidePages } from '../http/side-pages.ts'
import { boardsPage } from './boards.ts'
import { type CatalogOptions, createCatalogs } from './catalog.ts'
import { readersPage } from './readers.ts'
import { findPage, PAGE_HEADERS, readPage } from './serve-page.ts'

interface ExplorerOptions extends CatalogOptions {
  readonly pageDir: string
  /** As they are now; none when absent. */
  readonly boards?: () => Promise<Boards>
}

export async function openExplorer(options: ExplorerOptions): Promise<SidePages> {
  const page = await readPage(options.pageDir)
  const catalogOf = createCatalogs(options)
  const { boards = async () => ({ boards: [], omitted: 0 }) } = options
  return {
    async find({ path, snapshot, part, readers }) {
      if (path === '/boards.json') return asPage(boardsPage(await boards(), snapshot, part === ''))
      if (path === '/readers.json') {
        const isTold = options.shows === 'project' && part === ''
        return asPage(readersPage(isTold ? readers : [], snapshot))
      }
      if (path !== '/catalog.json') return findPage(page, path, snapshot)
      // Nothing is published yet, which /health says.
      if (snapshot === null) return null
      return asPage(await catalogOf(snapshot, part))
    },
  }
}

const asPage = (found: SidePage): SidePage => ({
  ...found,
  headers: { ...PAGE_HEADERS, ...found.headers },
})
