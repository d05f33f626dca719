// The extensions of a project, for commands that need not be in one.

import type { Project } from '../project/project.ts'

export type ExtensionsInForce = Awaited<ReturnType<typeof extensionsInForce>>

/**
 * `open` loads the project of the command line; `dir` and `lock` are of the project that has the lock. An image may be
 * prepared before there is a project in it.
 */
export async function extensionsInForce(open: () => Promise<Project>, project: string | undefined) {
  const { findProjectDir } = await import('../project/load.ts')
  const { extensionDirectory, neededExtensions } = await import('../project/extensions.ts')
  if (project === undefined && (await findProjectDir(process.cwd())) === null) {
    const directory = extensionDirectory(process.cwd(), process.env['EIDER_EXTENSIONS'] || null)
    return { directory, needed: [], dir: null, lock: null }
  }
  const { settings, paths, files } = await open()
  const directory = extensionDirectory(paths.dir, settings['extensions.directory'])
  const needed = neededExtensions(settings, files.sources ?? [], paths)
  return { directory, needed, dir: paths.dir, lock: files.extensions?.lock ?? null }
}
