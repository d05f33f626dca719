// Where a project lies in its repository: code hosts name files from the root of the repository on.

import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'

/**
 * Path of the directory from the root of its repository, with a slash at its end; empty where they are one. Without
 * `.git` the root is GITHUB_WORKSPACE, and without that the working directory, where the project lies in it.
 */
export function repositoryPrefix(dir: string): string {
  const project = resolve(dir)
  const roots = [
    repositoryOf(project),
    process.env['GITHUB_WORKSPACE'] ?? null,
    process.cwd(),
  ].filter((root) => root !== null)
  const paths = roots.map((root) => relative(resolve(root), project).split(sep))
  const [inside] = paths.filter(([first]) => first !== '..')
  return inside === undefined || inside[0] === '' ? '' : `${inside.join('/')}/`
}

function repositoryOf(dir: string): string | null {
  if (existsSync(join(dir, '.git'))) return dir
  return dir === dirname(dir) ? null : repositoryOf(dirname(dir))
}
