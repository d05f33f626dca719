// A checkout of a project whose tables are in a lake: one machine of those that share it.

import { type Workspace, workspace } from '../workspace.ts'
import type { TestLake } from './with-lake.ts'

/** Its commands have the environment of the lake. Several of one lake are several machines. */
export async function lakeProject(
  lake: TestLake,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = lake.env,
): Promise<Workspace> {
  const settings = Object.entries(lake.settings).map(([name, value]) => `  ${name}: '${value}'\n`)
  const space = await workspace({
    'eider.yml': `name: shop\nlake:\n${settings.join('')}`,
    ...files,
  })
  const eider: Workspace['eider'] = (args, options = {}) =>
    space.eider(args, { ...options, env: { ...env, ...options.env } })
  return {
    ...space,
    eider,
    ok: (args, options = {}) => space.ok(args, { ...options, env: { ...env, ...options.env } }),
    start: (args, options = {}) =>
      space.start(args, { ...options, env: { ...env, ...options.env } }),
  }
}
