// What the page of `eider serve` shows, by the settings of the project.

import { join } from 'node:path'
import { packageDir } from '../files/package.ts'
import { isLoopback } from '../http/auth.ts'
import type { SidePages } from '../http/side-pages.ts'
import type { Project } from '../project/project.ts'
import type { SnapshotReader } from '../store/snapshot-reader.ts'

/** null where there is to be no page. */
export async function explorerOf(
  { name, settings }: Project,
  published: SnapshotReader,
): Promise<SidePages | null> {
  const shown =
    settings['odata.explorer'] ?? (isLoopback(settings['odata.host']) ? 'project' : 'sets')
  if (shown === 'off') return null
  const { openExplorer } = await import('../explorer/open-explorer.ts')
  return await openExplorer({
    project: name,
    shows: shown,
    find: (id) => published.catalog(id),
    pageDir: join(packageDir, 'dist', 'explorer'),
  })
}
