// Groups and lists of eider.yml that are not settings, member by member.

import { type Node, type Pair, type YAMLMap, isMap, isScalar, isSeq } from 'yaml'
import type { Span } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'

/** Called for a node that is not what is expected under a key. */
export type Refuse = (node: Node, key: string, expected: string, hint?: string) => void

export const isAbsent = (node: Node | null | undefined): node is null | undefined =>
  node == null || (isScalar(node) && node.value === null)

/** Members by name, without those that have no value; unknown ones are refused. */
export function membersOf(
  group: YAMLMap,
  path: string,
  known: readonly string[],
  refuse: Refuse,
): ReadonlyMap<string, Node> {
  const found = new Map<string, Node>()
  for (const { key, value } of group.items as readonly Pair<Node, Node | null>[]) {
    const name = isScalar(key) ? String(key.value) : ''
    if (known.includes(name)) {
      if (!isAbsent(value)) found.set(name, value)
      continue
    }
    const hint = didYouMean(name, known) ?? `available here: ${known.join(', ')}`
    refuse(key, path, `a group of ${known.join(', ')}`, hint)
  }
  return found
}

/** The members of a group; null, and refused, for anything else. */
export function groupOf(
  node: Node,
  path: string,
  known: readonly string[],
  refuse: Refuse,
): ReadonlyMap<string, Node> | null {
  if (isMap(node)) return membersOf(node, path, known, refuse)
  refuse(node, path, `a group of ${known.join(', ')}`)
  return null
}

/** null where it is missing, or refused. */
export function textMember(
  members: ReadonlyMap<string, Node>,
  key: string,
  path: string,
  expected: string,
  refuse: Refuse,
): string | null {
  const node = members.get(key)
  if (node === undefined) return null
  if (isScalar(node) && typeof node.value === 'string' && node.value.trim() !== '')
    return node.value.trim()
  refuse(node, `${path}.${key}`, expected)
  return null
}

/** A list of strings, or one string; with the place of each. */
export function textsMember(
  members: ReadonlyMap<string, Node>,
  key: string,
  path: string,
  expected: string,
  refuse: Refuse,
): readonly { readonly text: string; readonly node: Node }[] {
  const node = members.get(key)
  if (node === undefined) return []
  const items = isSeq(node) ? (node.items as readonly Node[]) : [node]
  return items.flatMap((item) => {
    if (isScalar(item) && typeof item.value === 'string' && item.value.trim() !== '')
      return [{ text: item.value.trim(), node: item }]
    refuse(item, `${path}.${key}`, expected)
    return []
  })
}

export function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 0]
  return { start, end }
}
