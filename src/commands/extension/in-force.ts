// The extensions of a project, for commands that need not be in one.

import type { NeededExtension } from '../../project/extensions.ts'
import type { Project } from '../../project/project.ts'

export interface ExtensionsInForce {
  /** Absolute. */
  readonly directory: string
  readonly needed: readonly NeededExtension[]
}

/** `open` loads the project of the command line. An image may be prepared before there is a project in it. */
export async function extensionsInForce(
  open: () => Promise<Project>,
  project: string | undefined,
): Promise<ExtensionsInForce> {
  const { findProjectDir } = await import('../../project/load.ts')
  const { extensionDirectory, neededExtensions } = await import('../../project/extensions.ts')
  if (project === undefined && (await findProjectDir(process.cwd())) === null) {
    const directory = process.env['EIDER_EXTENSIONS'] || null
    return { directory: extensionDirectory(process.cwd(), directory), needed: [] }
  }
  const { settings, paths, files } = await open()
  const directory = extensionDirectory(paths.dir, settings['extensions.directory'])
  return { directory, needed: neededExtensions(settings, files.sources ?? [], paths.lake) }
}
