// The nodes of a match, and what the readers of the URL grammar ask of them.

import type * as ohm from 'ohm-js'
import type { SyntaxWithDepth } from './precedence.ts'
import type { ExpressionSyntax } from './syntax.ts'

/** What actions use of a node of ohm. `children` of a repetition are the matches of one of its parts. */
export class MatchNode {
  readonly ctorName: string
  readonly text: string
  readonly startIdx: number
  readonly endIdx: number
  readonly children: readonly MatchNode[]

  constructor(
    ctorName: string,
    text: string,
    startIdx: number,
    endIdx: number,
    children: readonly MatchNode[],
  ) {
    this.ctorName = ctorName
    this.text = text
    this.startIdx = startIdx
    this.endIdx = endIdx
    this.children = children
  }

  get numChildren(): number {
    return this.children.length
  }

  get sourceString(): string {
    return this.text.slice(this.startIdx, this.endIdx)
  }

  get source(): { readonly startIdx: number; readonly sourceString: string } {
    return { startIdx: this.startIdx, sourceString: this.text }
  }
}

type Action = (this: MatchNode, ...children: MatchNode[]) => unknown

/** `node.name()` is the action for its rule, else what it is of its only child. */
export function addOperation(name: string, actions: ohm.ActionDict<unknown>): void {
  const byRule = new Map(Object.entries(actions)) as unknown as ReadonlyMap<string, Action>
  function operation(this: MatchNode): unknown {
    const action = byRule.get(this.ctorName)
    if (action !== undefined) return action.apply(this, this.children as MatchNode[])
    if (this.children.length !== 1) throw new Error(`${name}: no action for ${this.ctorName}`)
    return operation.call(this.children[0]!)
  }
  Object.defineProperty(MatchNode.prototype, name, { value: operation })
}

/** Characters before the node. */
export const at = (node: ohm.Node): number => node.source.startIdx

export const syntaxWithDepthOf = (node: ohm.Node): SyntaxWithDepth => node['syntaxWithDepth']()

export const expressionOf = (node: ohm.Node): ExpressionSyntax => syntaxWithDepthOf(node).syntax

export const syntaxOf = (node: ohm.Node) => node['syntax']()

/** The items of a list: the first, and those after commas. */
export const listOf = (first: ohm.Node, more: ohm.Node) => [first, ...more.children].map(syntaxOf)
