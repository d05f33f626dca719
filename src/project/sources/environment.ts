// `${NAME}` in `sources` and `secrets`: the value of a variable of the environment, which nothing may repeat.

import { type Node, isScalar } from 'yaml'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { HiddenValue } from '../../core/hidden.ts'
import type { SourceFile } from '../../core/source.ts'
import { missingHint } from '../environment-values.ts'
import { spanOf } from '../members.ts'

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

export type Environments = readonly Readonly<Record<string, string | undefined>>[]

/** null: it is not set, or to nothing. The first environment that has it counts. */
export const variableOf = (name: string, environments: Environments): string | null =>
  environments.map((all) => all[name]).find((value) => value) ?? null

export const hasVariable = (text: string): boolean => text.includes('${')

/** Nothing but one variable, so that the text gives nothing away. */
export const isVariable = (text: string): boolean => /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)

/** What the environment gives to one source, or to one secret. */
export class FromEnvironment {
  readonly #environments: Environments
  readonly #name: string
  readonly #path: string
  readonly #source: SourceFile
  readonly mistakes: Diagnostic[] = []
  readonly hidden: HiddenValue[] = []

  /** `path`: such as `sources.crm`. */
  constructor(name: string, path: string, source: SourceFile, environments: Environments) {
    this.#name = name
    this.#path = path
    this.#source = source
    this.#environments = environments
  }

  /** null when a variable is not set, which is then a mistake. */
  fill(text: string, node: Node): string | null {
    let isWhole = true
    const filled = text.replaceAll(VARIABLE, (shown, name: string) => {
      const value = variableOf(name, this.#environments)
      if (value === null) {
        isWhole = false
        this.#notSet(name, shown, node)
        return ''
      }
      this.hidden.push({ value, shown })
      return value
    })
    return isWhole ? filled : null
  }

  variable(name: string): string | null {
    const value = variableOf(name, this.#environments)
    if (value !== null) this.hidden.push({ value, shown: `\${${name}}` })
    return value
  }

  /** What a variable holds that it must not; the value is not shown. */
  wrong(problem: string, node: Node, hint: string): void {
    const place = { source: this.#source, span: spanOf(node) }
    const name = this.#name
    this.mistakes.push(diagnostic('invalid-source', { name, problem }, place, { hint }))
  }

  #notSet(variable: string, shown: string, node: Node): void {
    const { start, end } = spanOf(node)
    const at = this.#source.text.slice(start, end).indexOf(shown)
    const span = at < 0 ? { start, end } : { start: start + at, end: start + at + shown.length }
    const hint = missingHint(variable, this.#environments)
    this.mistakes.push(
      diagnostic(
        'secret-not-set',
        { key: this.#path, name: variable },
        { source: this.#source, span },
        { hint },
      ),
    )
  }
}

/** As it stands in the file; null for what is no text. */
export const textOfNode = (node: Node): string | null =>
  isScalar(node) && typeof node.value === 'string' && node.value !== '' ? node.value : null
