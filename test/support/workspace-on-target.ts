// A project and the built command line, with its tables where tests are told to have them (test/on-lakes.ts): what is
// seen of it from outside is the same on both kinds of target.

import type { ProjectPaths } from '../../src/core/project.ts'
import { onLake } from './lake/lake-project.ts'
import { newLake } from './lake/project-lake.ts'
import { isOnLake, pathsOf } from './pipeline-project.ts'
import { type Workspace, workspace } from './workspace.ts'

interface TargetWorkspace extends Workspace {
  readonly paths: ProjectPaths
}

export async function workspaceOnTarget({
  name,
}: {
  readonly name: string
}): Promise<TargetWorkspace> {
  if (!isOnLake) {
    const space = await workspace({ 'eider.yml': `name: ${name}\n` })
    return { ...space, paths: pathsOf(space.dir) }
  }
  const { settings, env, lake } = await newLake()
  const lines = Object.entries(settings).map(([setting, value]) => `  ${setting}: '${value}'\n`)
  const space = await workspace({ 'eider.yml': `name: ${name}\nlake:\n${lines.join('')}` })
  const paths = { ...pathsOf(space.dir), lake: { ...lake, project: name } }
  return { ...onLake(space, env), paths }
}
