// Groups and lists of eider.yml that are not settings, member by member.

import { type Node, type Pair, type YAMLMap, isMap, isScalar, isSeq } from 'yaml'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'

/** Called for a place that does not hold what is expected under a key; gives null, for what is not there then. */
export type Refuse = (at: Node | Span, key: string, expected: string, hint?: string) => null

/** The file that is read, and what is told of its mistakes. */
export interface Reader {
  readonly source: SourceFile
  readonly refuse: Refuse
}

/** A reader of a file whose mistakes are added to `problems`. */
export function readerInto(problems: Diagnostic[], source: SourceFile): Reader {
  const refuse: Refuse = (at, key, expected, hint) => {
    const span = 'range' in at ? spanOf(at as Node) : (at as Span)
    problems.push(diagnostic('config-invalid-value', { key, expected }, { source, span }, hint))
    return null
  }
  return { source, refuse }
}

/** A group that is read. Members without a value are not among its own. */
export interface Members extends Reader {
  /** Such as `schedule.runs.1`. */
  readonly path: string
  readonly has: (key: string) => boolean
  readonly node: (key: string) => Node | undefined
  /** Refuses a member, also one that is missing. null: the group. */
  readonly refuseMember: (key: string | null, expected: string, hint?: string) => null
  /** null where it is missing, or refused. */
  readonly text: (key: string, expected: string) => string | null
  /** Reads a list of strings, or one string. */
  readonly texts: (key: string, expected: string) => readonly PlacedText[]
}

interface PlacedText {
  readonly text: string
  /** With the blanks around it. */
  readonly written: string
  readonly span: Span
}

interface GroupPlace {
  /** What stands for the group where it is refused as a whole; the group itself by default. */
  readonly at?: Node
  /** What an unknown member may have been meant as. */
  readonly hintFor?: (name: string) => string | undefined
  /** Members of which no line is shown: messages end up in logs. */
  readonly hidden?: readonly string[]
}

export const isAbsent = (node: Node | null | undefined): node is null | undefined =>
  node == null || (isScalar(node) && node.value === null)

export const entriesOf = ({ items }: YAMLMap) =>
  (items as readonly Pair<Node, Node | null>[]).map(({ key, value }) => {
    return { name: isScalar(key) ? String(key.value) : '', key, value }
  })

/** null for what is no text, and for a blank one. */
export const textOfNode = (node: Node | null): string | null =>
  isScalar(node) && typeof node.value === 'string' && node.value.trim() !== '' ? node.value : null

/** Unknown members are refused. */
export function membersOf(
  group: YAMLMap,
  path: string,
  known: readonly string[],
  { source, refuse }: Reader,
  { at = group, hintFor = () => undefined, hidden = [] }: GroupPlace = {},
): Members {
  const nodes = new Map<string, Node>()
  for (const { name, key, value } of entriesOf(group)) {
    const hint = hintFor(name) ?? didYouMean(name, known) ?? `available here: ${known.join(', ')}`
    if (!known.includes(name)) refuse(key, path, `a group of ${known.join(', ')}`, hint)
    else if (!isAbsent(value)) nodes.set(name, value)
  }
  const refuseMember: Members['refuseMember'] = (key, expected, hint) => {
    if (key === null) return refuse(at, path, expected, hint)
    const node = nodes.get(key) ?? at
    const shown = hidden.includes(key) ? startOf(node) : node
    return refuse(shown, `${path}.${key}`, expected, hint)
  }
  return {
    source,
    refuse,
    path,
    has: (key) => nodes.has(key),
    node: (key) => nodes.get(key),
    refuseMember,
    text(key, expected) {
      const node = nodes.get(key)
      if (node === undefined) return null
      return textOfNode(node)?.trim() ?? refuseMember(key, expected)
    },
    texts(key, expected) {
      const node = nodes.get(key)
      if (node === undefined) return []
      const items = isSeq(node) ? (node.items as readonly Node[]) : [node]
      return items.flatMap((item) => {
        const written = textOfNode(item)
        if (written !== null) return [{ text: written.trim(), written, span: spanOf(item) }]
        refuse(hidden.includes(key) ? startOf(item) : item, `${path}.${key}`, expected)
        return []
      })
    },
  }
}

/** The members of a group; null, and refused, for anything else. */
export function groupOf(
  node: Node,
  path: string,
  known: readonly string[],
  reader: Reader,
  place?: GroupPlace,
): Members | null {
  if (isMap(node)) return membersOf(node, path, known, reader, place)
  return reader.refuse(node, path, `a group of ${known.join(', ')}`)
}

/** The items of a list; none, and refused, for anything else that is there. */
export function itemsOf(
  node: Node | null,
  key: string,
  expected: string,
  { refuse }: Reader,
  hint?: string,
): readonly Node[] {
  if (isSeq(node)) return node.items as readonly Node[]
  if (!isAbsent(node)) refuse(node, key, expected, hint)
  return []
}

export function spanOf(node: Node): Span {
  const [start, end] = node.range ?? [0, 0]
  return { start, end }
}

/** The place of a node, of which no text is shown. */
export function startOf(node: Node): Span {
  const { start } = spanOf(node)
  return { start, end: start }
}
