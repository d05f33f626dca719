// The explorer as a service has it beside its own resources.

import type { SidePages } from '../http/side-pages.ts'
import { findPage, readPage } from './serve-page.ts'

export interface ExplorerOptions {
  /** Where the bundled page lies. */
  readonly pageDir: string
}

export async function openExplorer({ pageDir }: ExplorerOptions): Promise<SidePages> {
  const page = await readPage(pageDir)
  return {
    async find(path, snapshot) {
      return findPage(page, path, snapshot)
    },
  }
}
