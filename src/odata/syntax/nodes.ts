// What the readers of the URL grammar ask of the nodes of a match.

import type * as ohm from 'ohm-js'
import type { SyntaxWithDepth } from './precedence.ts'
import type { ExpressionSyntax } from './syntax.ts'

/** Characters before the node. */
export const at = (node: ohm.Node): number => node.source.startIdx

export const syntaxWithDepthOf = (node: ohm.Node): SyntaxWithDepth => node['syntaxWithDepth']()

export const expressionOf = (node: ohm.Node): ExpressionSyntax => syntaxWithDepthOf(node).syntax

export const syntaxOf = (node: ohm.Node) => node['syntax']()

/** The items of a list: the first, and those after commas. */
export const listOf = (first: ohm.Node, more: ohm.Node) => [first, ...more.children].map(syntaxOf)
