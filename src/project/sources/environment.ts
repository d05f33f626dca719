// `${NAME}` in `sources` and `secrets`: the value of a variable of the environment, which nothing may repeat.

import type { Node } from 'yaml'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { HiddenValue } from '../../core/hidden.ts'
import type { SourceFile } from '../../core/source-text.ts'
import { type Environments, filled, missingHint, variableOf } from '../environment-values.ts'
import { spanOf } from '../members.ts'

export const hasVariable = (text: string): boolean => text.includes('${')

export type FromEnvironment = ReturnType<typeof fromEnvironment>

/** What the environment gives to one source, or to one secret. `path`: such as `sources.crm`. */
export function fromEnvironment(
  name: string,
  path: string,
  source: SourceFile,
  environments: Environments,
) {
  const mistakes: Diagnostic[] = []
  const hidden: HiddenValue[] = []
  const notSet = (variable: string, shown: string, node: Node) => {
    const { start, end } = spanOf(node)
    const at = source.text.slice(start, end).indexOf(shown)
    const span = at < 0 ? { start, end } : { start: start + at, end: start + at + shown.length }
    const hint = missingHint(variable, environments)
    const parameters = { key: path, name: variable }
    mistakes.push(diagnostic('secret-not-set', parameters, { source, span }, hint))
  }
  return {
    mistakes,
    hidden,
    /** null when a variable is not set, which is then a mistake. */
    fill(text: string, node: Node): string | null {
      let isWhole = true
      const whole = filled(text, environments, (variable, value) => {
        const shown = `\${${variable}}`
        if (value !== null) hidden.push({ value, shown })
        else notSet(variable, shown, node)
        isWhole &&= value !== null
      })
      return isWhole ? whole : null
    },
    variable(variable: string): string | null {
      const value = variableOf(variable, environments)
      if (value !== null) hidden.push({ value, shown: `\${${variable}}` })
      return value
    },
    /** What a variable holds that it must not; the value is not shown. */
    wrong(problem: string, node: Node, hint: string) {
      const place = { source, span: spanOf(node) }
      mistakes.push(diagnostic('invalid-source', { name, problem }, place, hint))
    },
  }
}
