// The commands for the bundle: each is a file of its own, so that a command line loads one of them, and oclif knows all
// by its manifest, so that help and completion load none. Asks the classes that tsc has made of `src/commands/table.ts`.

import { Config } from '@oclif/core/config'
import { Help } from '@oclif/core/help'
import { stripVTControlCharacters } from 'node:util'
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
  const { plugins } = await configOf(pjson)
  const [{ manifest }] = plugins.values()
  for (const [id, command] of Object.entries(manifest.commands)) {
    command.relativePath = [`${nameOf(files.get(commands[id]))}.cjs`]
    command.isESM = false
  }
  // In the order in which oclif lists them.
  const inOrder = Object.entries(manifest.commands).sort(([a], [b]) => a.localeCompare(b))
  return { ...manifest, commands: Object.fromEntries(inOrder) }
}

/** Of `eider --help`, for bin/first-help.js: in 80 columns, and in as many as it needs. */
export async function helpOf(pjson) {
  const config = await configOf(pjson)
  const text = async (maxWidth) => {
    const lines = []
    class Kept extends Help {
      log(...words) {
        lines.push(`${words.join(' ')}\n`)
      }
    }
    await new Kept(config, { maxWidth }).showHelp([])
    return stripVTControlCharacters(lines.join('')).replace(config.userAgent, 'VERSION_LINE')
  }
  const wide = await text(1_000)
  const width = Math.max(...wide.split('\n').map((line) => line.length))
  return { narrow: await text(80), wide, width }
}

function configOf(pjson) {
  const table = {
    target: './dist/src/commands/table.js',
    strategy: 'explicit',
    identifier: 'commands',
  }
  return Config.load({
    root: repository,
    pjson: { ...pjson, oclif: { ...pjson.oclif, commands: table } },
  })
}
