// The program as oclif's one plugin, from the manifest that the build makes. oclif would read the same file, look for
// plugins of the user, and compare names by locale, which takes 7 ms of a process.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Command, Interfaces } from '@oclif/core'
import { codeDir } from '../files/package.ts'

type CommandClass = Awaited<ReturnType<Command.Loadable['load']>>

export function ownPlugin(pjson: Interfaces.PJSON): Interfaces.Plugin {
  const { name, version, oclif } = pjson
  const manifest = JSON.parse(
    readFileSync(join(codeDir, 'oclif.manifest.json'), 'utf8'),
  ) as Interfaces.Manifest
  const load = createRequire(import.meta.url)
  const findCommand = async (id: string): Promise<CommandClass> => {
    const { relativePath = [] } = manifest.commands[id]!
    const { default: command } = load(join(codeDir, ...relativePath)) as { default: CommandClass }
    command.id = id
    command.plugin = plugin
    return command
  }
  const plugin: Interfaces.Plugin = {
    _base: name,
    alias: name,
    commandIDs: Object.keys(manifest.commands),
    commands: Object.entries(manifest.commands).map(([id, command]) => ({
      ...command,
      load: () => findCommand(id),
    })),
    commandsDir: codeDir,
    findCommand,
    hasManifest: true,
    hooks: Object.fromEntries(
      Object.entries(oclif.hooks ?? {}).map(([event, target]) => [
        event,
        [{ identifier: 'default', target: target as string }],
      ]),
    ),
    isRoot: true,
    load: async () => {},
    moduleType: 'commonjs',
    name,
    options: { root: codeDir },
    pjson,
    root: codeDir,
    topics: Object.entries(oclif.topics ?? {}).map(([topic, about]) => ({ ...about, name: topic })),
    type: 'core',
    valid: true,
    version,
  }
  return plugin
}
