// A checkout of a project whose tables are in a lake: one machine of those that share it.

import { type RunOptions, type Workspace, workspace } from '../workspace.ts'
import type { TestLake } from './with-lake.ts'

/** A commit asks PostgreSQL a dozen times, and waits for a processor each time where many tests run at once. */
const COMMAND_TIMEOUT_MS = 180_000

/** Its commands have the environment of the lake. Several of one lake are several machines. `changed`: other settings. */
export async function lakeProject(
  lake: TestLake,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = lake.env,
  changed: Readonly<Record<string, string>> = {},
): Promise<Workspace> {
  const settings = settingLines({ ...lake.settings, ...changed })
  const space = await workspace({
    'eider.yml': `name: shop\nlake:\n${settings}`,
    ...files,
  })
  return onLake(space, env)
}

/** What eider.yml says of a lake. */
export const settingLines = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `  ${name}: ${/^\d+$/.test(value) ? value : `'${value}'`}\n`)
    .join('')

/** Its commands have the environment of a lake, and more time. */
export function onLake(space: Workspace, env: Readonly<Record<string, string>>): Workspace {
  const given = (options: RunOptions = {}) => ({
    timeoutMs: COMMAND_TIMEOUT_MS,
    ...options,
    env: { ...env, ...options.env },
  })
  return {
    ...space,
    eider: (args, options) => space.eider(args, given(options)),
    ok: (args, options) => space.ok(args, { ...options, ...given(options) }),
    start: (args, options) => space.start(args, { ...options, ...given(options) }),
  }
}
