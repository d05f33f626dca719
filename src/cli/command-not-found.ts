// oclif hook: an unknown command is a usage error with the nearest known one.

import type { Hook } from '@oclif/core'
import { UsageError } from '../core/failures.ts'
import { nearest } from '../core/suggest.ts'

const commandNotFound: Hook.CommandNotFound = async ({ id, config }) => {
  const typed = id.replaceAll(':', ' ')
  const known = config.commandIDs.map((command) => command.replaceAll(':', ' '))
  const words = new Set(known.flatMap((command) => [command, ...command.split(' ')]))
  const [first = ''] = typed.split(' ')
  const meant = nearest(typed, known) ?? nearest(first, words)
  throw new UsageError(`there is no command "${typed}"`, {
    hint: meant === null ? 'see "eider --help"' : `did you mean "eider ${meant}"?`,
  })
}

export default commandNotFound
