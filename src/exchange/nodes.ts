// Nodes of YAML in files of other tools, where what is not known is passed over.

import { isMap, isScalar, isSeq, type Node, type YAMLMap } from 'yaml'
import { entriesOf, textOfNode } from '../project/members.ts'

export type Group = YAMLMap<Node, Node | null>

export const memberOf = (group: Group, name: string): Node | null =>
  entriesOf(group).find((entry) => entry.name === name)?.value ?? null

/** Nodes of a list. */
export const itemsIn = (node: Node | null): readonly Node[] =>
  isSeq(node) ? (node.items as readonly Node[]) : []

/** The text of a member; null: it has none, or `node` no members. */
export const textIn = (node: Node | null, name: string): string | null =>
  isMap(node) ? textOfNode(memberOf(node as Group, name)) : null

export const isTrue = (node: Node | null): boolean => isScalar(node) && node.value === true

/** The paths of members of which nothing is taken. */
export const leftOf = (group: Group, taken: readonly string[], path: string): string[] =>
  entriesOf(group).flatMap(({ name, value }) =>
    value === null || taken.includes(name) ? [] : [`${path}${name}`],
  )
