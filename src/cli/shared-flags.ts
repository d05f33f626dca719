// Flags that several commands share. Selectors of models: arguments and --select add up, --exclude takes away.

import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { parseDuration } from '../project/durations.ts'
import { UsageError } from '../core/failures.ts'
import { type ModelName, sameName } from '../core/names.ts'
import { limits } from '../core/limits.ts'

/** An argument that has to be there. Stdin is never read for it. */
export const argument = (description: string) =>
  Args.string({ ignoreStdin: true, description, required: true })

/** The same, where it may be missing. */
export const optionalArgument = (description: string) =>
  Args.string({ ignoreStdin: true, description })

export const selectionFlags = {
  select: Flags.string({
    char: 's',
    summary:
      'Models to include: name, schema.*, +name, name+, tag:x, kind:x, source:x, state:modified',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'SELECTOR',
  }),
  exclude: Flags.string({
    summary: 'Models to exclude, by the same selectors',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'SELECTOR',
  }),
}

export const acceptFlag = (summary: string, exclusive: string[] = []) =>
  Flags.string({
    summary,
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'MODEL',
    exclusive,
  })

/** null: all of them. Throws UsageError for a name that is none of `known`. */
export function acceptedModels(
  asked: readonly string[] = [],
  known: Iterable<ModelName>,
): ReadonlySet<ModelName> | null {
  if (asked.includes('all')) return null
  const names = [...known]
  return new Set(
    asked.map((name) => {
      const found = names.find((one) => sameName(one, name))
      if (found !== undefined) return found
      throw new UsageError(`--accept: the project has no model ${name}`, {
        hint: '"eider ls" lists the models; --accept all means all of them',
      })
    }),
  )
}

/** Commands that know `state:modified` have it. */
export const againstFlag = {
  against: Flags.string({
    summary: 'The manifest.json with which state:modified compares',
    helpValue: 'FILE',
  }),
}

interface SelectionFlags {
  readonly select?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
}

/** `argv` is what oclif leaves of the command line: the arguments. */
export function selectionOf(
  argv: readonly unknown[],
  { select = [], exclude = [] }: SelectionFlags,
) {
  return { include: [...argv.map(String), ...select], exclude }
}

export const rangeFlags = {
  start: Flags.string({
    summary: 'Replace the rows of append, period and incremental merge models from this value on',
    dependsOn: ['end'],
  }),
  end: Flags.string({
    summary: 'End of the range, exclusive',
    dependsOn: ['start'],
  }),
  by: Flags.string({
    summary: 'Replace the range in pieces (hour to year, or a number), each committed by itself',
    helpValue: 'LENGTH',
    dependsOn: ['start'],
  }),
}

interface RangeFlags {
  readonly start?: string | undefined
  readonly end?: string | undefined
}

/** Rows that are replaced in models that read a part of their input; null: none but those that a run is to make anyway. */
export const rangeOf = ({ start, end }: RangeFlags) =>
  start === undefined || end === undefined ? null : { start, end }

/** Naming the models counts as consent to what a full refresh ends. */
export const keepsHistory = (
  { include }: { readonly include: readonly string[] },
  flags: { readonly 'full-refresh': boolean; readonly 'drop-history': boolean },
): boolean => flags['full-refresh'] && !flags['drop-history'] && include.length === 0

/** Its value is in seconds. */
export const waitFlag = (summary: string) =>
  Flags.integer({ summary, min: 0, max: 86_400, default: limits.runLockWaitMs / 1000 })

/** Its value is in milliseconds. */
export const everyFlag = (summary: string) =>
  Flags.custom<number>({
    summary: `${summary}, such as 10s or 5m, until SIGTERM`,
    helpValue: 'DURATION',
    parse: (text) => {
      const ms = parseDuration(text)
      if (ms !== null && ms >= limits.shortestEveryMs && ms <= limits.longestEveryMs)
        return Promise.resolve(ms)
      throw new UsageError(`--every takes a time from 100ms to 1d, not "${text}"`, {
        hint: 'such as 500ms, 10s, 5m or 1h',
      })
    },
  })()

const options = {
  summary: 'Override a variable of eider.yml, as name=value; repeatable',
  multiple: true,
  multipleNonGreedy: true,
  helpValue: 'NAME=VALUE',
} as const

export const variableFlags = { vars: Flags.string(options) }

/** For a command that compiles the project only with --watch. */
export const watchVariableFlags = { vars: Flags.string({ ...options, dependsOn: ['watch'] }) }
