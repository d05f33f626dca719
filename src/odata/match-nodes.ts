// What the readers of the URL grammar ask of the nodes of a match.

import type * as ohm from 'ohm-js'
import type { Measured } from './precedence.ts'
import type { ExpressionSyntax } from './syntax.ts'

/** Characters before the node. */
export const at = (node: ohm.Node): number => node.source.startIdx

export const measuredOf = (node: ohm.Node): Measured => node['measured']()

export const expressionOf = (node: ohm.Node): ExpressionSyntax => measuredOf(node).syntax

export const syntaxOf = (node: ohm.Node) => node['syntax']()

/** The items of a list: the first, and those behind commas. */
export const listOf = (first: ohm.Node, more: ohm.Node) => [first, ...more.children].map(syntaxOf)
