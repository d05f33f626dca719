// `${NAME}` in a value of eider.yml stands for a variable of the environment or of .env. The values are secrets: they are
// in no message and no file.

import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** A text of eider.yml, or several, with the place of the setting. */
export interface SettingReference {
  readonly text: string | readonly string[]
  readonly key: string
  readonly source: SourceFile
  readonly span: Span
}

const REFERENCE = /\$\{([^}]*)\}/g
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** What is wrong with a reference, for "must be …"; null: each of them names a variable. */
export function malformedReference(text: string): string | null {
  const rest = text.replaceAll(REFERENCE, (whole, name: string) => (NAME.test(name) ? '' : whole))
  return rest.includes('${') ? 'written with variables of the environment as ${NAME}' : null
}

/** Nothing but the name of a variable. Where it is a value already, somebody expects that it is replaced, and it is not. */
export const isReference = (text: string): boolean => /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)

/** The text with its values, the first environment that has one counts; or the first name that none has. */
function withEnvironment(
  text: string,
  environments: readonly Environment[],
): { readonly value: string } | { readonly missing: string } {
  let missing: string | undefined
  const value = text.replaceAll(REFERENCE, (_whole, name: string) => {
    const found = environments.map((all) => all[name]).find((one) => one)
    if (found === undefined) missing ??= name
    return found ?? ''
  })
  return missing === undefined ? { value } : { missing }
}

/** The text with its values, of the setting at a place. Throws DiagnosticsError `secret-not-set`. */
export function valueInForce(
  text: string,
  environments: readonly Environment[],
  { key, source, span }: { readonly key: string; readonly source: SourceFile; readonly span: Span },
): string {
  const found = withEnvironment(text, environments)
  if ('value' in found) {
    if (!isReference(found.value)) return found.value
    const expected = 'the value of a variable, and what that holds names another one'
    throw new DiagnosticsError([
      diagnostic('config-invalid-value', { key, expected }, { source, span }),
    ])
  }
  const parameters = { key, name: found.missing }
  const hint = missingHint(found.missing, environments)
  throw new DiagnosticsError([diagnostic('secret-not-set', parameters, { source, span }, { hint })])
}

/** Where a variable that is not set is to be set. */
export function missingHint(name: string, environments: readonly Environment[]): string {
  const known = environments.flatMap((all) => Object.keys(all))
  return didYouMean(name, known) ?? `set ${name} in the environment or in .env`
}
