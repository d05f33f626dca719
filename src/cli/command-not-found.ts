// oclif hook: an unknown command is a usage error with the nearest known one.

import type { Hook } from '@oclif/core'
import { UsageError } from '../core/failures.ts'
import { nearest } from '../core/suggest.ts'

const commandNotFound: Hook.CommandNotFound = async ({ id, config }) => {
  const typed = id.replaceAll(':', ' ')
  if (typed.startsWith('-'))
    throw new UsageError(`"${typed}" is not a command`, {
      hint: 'flags come after the command; "eider --help" lists the commands',
    })
  const known = config.commandIDs.map((command) => command.replaceAll(':', ' '))
  // oclif takes the words after a command without arguments for a part of its name.
  const command = known.find((name) => typed.startsWith(`${name} `))
  if (command !== undefined)
    throw new UsageError(
      `eider ${command} takes no argument "${typed.slice(command.length + 1)}"`,
      {
        hint: `see "eider ${command} --help"`,
      },
    )
  throw new UsageError(`there is no command "${typed}"`, {
    hint: ofOtherTools.get(typed.split(' ')[0]!) ?? nearHint(typed, known),
  })
}

/** Commands of dbt and SQLMesh, with what does the same here. */
const ofOtherTools = new Map([
  ['build', '"eider run" builds models and seeds and runs their checks'],
  ['seed', '"eider run" loads the seeds as well'],
  ['snapshot', '"eider run" builds models of kind scd2 as well'],
  ['audit', '"eider run" runs the checks of each model that it builds'],
  ['compile', '"eider check" compiles the project; "eider show MODEL" prints its SQL'],
  ['parse', '"eider check" compiles the project'],
  ['lint', '"eider check" lists every mistake'],
  ['list', '"eider ls" lists the models'],
  [
    'clean',
    '"eider drop MODEL" removes what no file defines any more; .eider/ holds everything else',
  ],
  ['source', '"eider plan" shows how old the sources are, and a run checks it'],
  ['debug', '"eider doctor" checks the machine and the project'],
  ['info', '"eider doctor" checks the machine and the project'],
  ['diff', '"eider plan --diff" shows which rows would change'],
  ['apply', '"eider run" carries out what "eider plan" shows'],
  ['retry', 'write "eider run --retry"'],
  ['deps', 'there are no packages to fetch; macros are files in macros/'],
])

function nearHint(typed: string, known: readonly string[]): string {
  const meant = nearestCommand(typed, known)
  return meant === null ? 'see "eider --help"' : `did you mean "eider ${meant}"?`
}

/** The nearest command; else one with a word near the first one typed, as "odata preview" to "preview". */
function nearestCommand(typed: string, known: readonly string[]): string | null {
  const [first = ''] = typed.split(' ')
  const byWord = new Map(known.map((command) => [command.split(' ').at(-1)!, command]))
  for (const command of known) byWord.set(command.split(' ')[0]!, command.split(' ')[0]!)
  const word = nearest(first, byWord.keys())
  return nearest(typed, known) ?? (word === null ? null : byWord.get(word)!)
}

export default commandNotFound
