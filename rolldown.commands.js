// The commands for the bundle: each is a file of its own, so that a command line loads one of them, and oclif knows all
// by its manifest, so that help and completion load none. Asks the classes that tsc has made of `src/commands/table.ts`.

import { Config } from '@oclif/core/config'
import { commands } from './dist/src/commands/table.js'

const repository = import.meta.dirname

/** By class: `pipeline:run` is in src/commands/pipeline/run.ts, and `run` is its short name. */
const files = new Map(
  Object.entries(commands).map(([id, command]) => [command, id.replaceAll(':', '/')]),
)

const nameOf = (file) => `command-${file.replaceAll('/', '-')}`

export const commandEntries = Object.fromEntries(
  Array.from(files.values(), (file) => [nameOf(file), `src/commands/${file}.ts`]),
)

/** What `oclif manifest` would write of a package with a file for each command. */
export async function manifestOf(pjson) {
  const table = {
    target: './dist/src/commands/table.js',
    strategy: 'explicit',
    identifier: 'commands',
  }
  const { plugins } = await Config.load({
    root: repository,
    pjson: { ...pjson, oclif: { ...pjson.oclif, commands: table } },
  })
  const [{ manifest }] = plugins.values()
  for (const [id, command] of Object.entries(manifest.commands)) {
    command.relativePath = [`${nameOf(files.get(commands[id]))}.cjs`]
    command.isESM = false
  }
  return manifest
}
