// The extensions of a project, for commands that need not be in one.

import type { ExtensionLock } from '../core/extensions.ts'
import type { NeededExtension } from '../project/extensions.ts'
import type { Project } from '../project/project.ts'

export interface ExtensionsInForce {
  /** Absolute. */
  readonly directory: string
  readonly needed: readonly NeededExtension[]
  /** Of the project that has the lock; null: there is none. */
  readonly dir: string | null
  readonly lock: ExtensionLock | null
}

/** `open` loads the project of the command line. An image may be prepared before there is a project in it. */
export async function extensionsInForce(
  open: () => Promise<Project>,
  project: string | undefined,
): Promise<ExtensionsInForce> {
  const { findProjectDir } = await import('../project/load.ts')
  const { extensionDirectory, neededExtensions } = await import('../project/extensions.ts')
  if (project === undefined && (await findProjectDir(process.cwd())) === null) {
    const directory = process.env['EIDER_EXTENSIONS'] || null
    return {
      directory: extensionDirectory(process.cwd(), directory),
      needed: [],
      dir: null,
      lock: null,
    }
  }
  const { settings, paths, files } = await open()
  const directory = extensionDirectory(paths.dir, settings['extensions.directory'])
  const needed = neededExtensions(settings, files.sources ?? [], paths)
  return { directory, needed, dir: paths.dir, lock: files.extensions?.lock ?? null }
}
