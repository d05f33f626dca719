// `${NAME}` in a value of eider.yml stands for a variable of the environment or of .env. The values are secrets: they are
// in no message and no file.

import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { FilePlace } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The first that has a variable counts. */
export type Environments = readonly Environment[]

interface SettingPlace extends FilePlace {
  readonly key: string
}

/** A text of eider.yml, or several, with the place of the setting. */
export interface SettingReference extends SettingPlace {
  readonly text: string | readonly string[]
}

const REFERENCE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** null: it is not set, or to nothing. */
export const variableOf = (name: string, environments: Environments): string | null =>
  environments.map((all) => all[name]).find((value) => value) ?? null

/** What is wrong with a reference, for "must be …"; null: each of them names a variable. */
export function malformedReference(text: string): string | null {
  const rest = text.replaceAll(REFERENCE, (whole, name: string) => (NAME.test(name) ? '' : whole))
  return rest.includes('${') ? 'written with variables of the environment as ${NAME}' : null
}

/** Nothing but the name of a variable. Where it is a value already, somebody expects that it is replaced, and it is not. */
export const isReference = (text: string): boolean => /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)

/** The text with its values. `onValue` is called for each of its variables; null: it is not set. */
export const filled = (
  text: string,
  environments: Environments,
  onValue: (name: string, value: string | null) => void,
): string =>
  text.replaceAll(REFERENCE, (_whole, name: string) => {
    const value = variableOf(name, environments)
    onValue(name, value)
    return value ?? ''
  })

/** The text with its values, of the setting at a place. Throws DiagnosticsError `secret-not-set`. */
export function valueInForce(
  text: string,
  environments: Environments,
  { key, source, span }: SettingPlace,
): string {
  const value = filled(text, environments, (name, found) => {
    const hint = missingHint(name, environments)
    if (found === null)
      throw new DiagnosticsError([
        diagnostic('secret-not-set', { key, name }, { source, span }, hint),
      ])
  })
  if (!isReference(value)) return value
  const expected = 'the value of a variable, and what that holds names another one'
  throw new DiagnosticsError([
    diagnostic('config-invalid-value', { key, expected }, { source, span }),
  ])
}

/** Where a variable that is not set is to be set. */
export function missingHint(name: string, environments: Environments): string {
  if (environments.some((all) => all[name] === ''))
    return `${name} is there and empty: give it a value in the environment or in .env`
  const known = environments.flatMap((all) => Object.keys(all))
  return didYouMean(name, known) ?? `set ${name} in the environment or in .env`
}
