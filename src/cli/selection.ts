// The models of a run or a plan. Selectors: arguments and --select add up, --exclude takes away.

import * as Flags from '@oclif/core/flags'

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

/** Of commands that know `state:modified`. */
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
    summary: 'For append models: replace the rows from this watermark on',
    dependsOn: ['end'],
  }),
  end: Flags.string({
    summary: 'End of the range, exclusive',
    dependsOn: ['start'],
  }),
}

interface RangeFlags {
  readonly start?: string | undefined
  readonly end?: string | undefined
}

/** Rows of append models that are replaced; null: new rows are added. */
export const rangeOf = ({ start, end }: RangeFlags) =>
  start === undefined || end === undefined ? null : { start, end }

/** Naming the models counts as consent to what a full refresh ends. */
export const keepsHistory = (
  { include }: { readonly include: readonly string[] },
  flags: { readonly 'full-refresh': boolean; readonly 'drop-history': boolean },
): boolean => flags['full-refresh'] && !flags['drop-history'] && include.length === 0
