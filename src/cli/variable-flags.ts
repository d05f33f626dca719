// --vars: values for the variables that eider.yml declares.

import * as Flags from '@oclif/core/flags'

const options = {
  summary: 'Override a variable of eider.yml, as name=value; repeatable',
  multiple: true,
  multipleNonGreedy: true,
  helpValue: 'NAME=VALUE',
} as const

export const variableFlags = { vars: Flags.string(options) }

/** Of a command that compiles the project only with --watch. */
export const watchVariableFlags = { vars: Flags.string({ ...options, dependsOn: ['watch'] }) }
