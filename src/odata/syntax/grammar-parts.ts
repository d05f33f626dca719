// The rules of a grammar as ohm holds them, for the files that read text by them in another way than ohm does.

import type { Grammar, PExpr } from 'ohm-js'

/** What the types of ohm-js leave out: the parts of a parsing expression, and how it is evaluated. */
export interface Part {
  obj: string
  readonly from: string
  readonly to: string
  factors: readonly Part[]
  terms: readonly Part[]
  expr: Part | undefined
  readonly minNumMatches: number
  readonly maxNumMatches: number
  readonly ruleName: string
  /** Of a character of Unicode: its categories, with `|` between them. */
  readonly pattern: RegExp
  readonly args: readonly Part[]
  /** Where token-rules.ts has put one. */
  readonly token?: Token
  eval(state: State): boolean
  substituteParams(args: readonly Part[]): Part
}

/** What is read in one step: as a regular expression, and as it is written in the grammar. */
export interface Token {
  readonly pattern: RegExp
  readonly written: Part
}

export interface State {
  readonly input: string
  /** The result of the rule that is being read is not kept: reading a token again is cheaper than remembering it. */
  doNotMemoize: boolean
  readonly inputStream: { pos: number }
  /** Leaves the position as it was when the part does not match. */
  eval(part: Part): boolean
  processFailure(position: number, expected: Part): void
}

export interface Rule {
  body: Part
  readonly description?: string
}

export const ruleOf = (grammar: Grammar, name: string) => grammar.rules[name] as unknown as Rule

export const is = (part: Part, kind: new (...any: never) => PExpr) =>
  (part as unknown) instanceof kind
