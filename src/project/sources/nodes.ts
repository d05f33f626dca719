// Groups of eider.yml below `sources` and `secrets`, member by member.

import { type Node, type Pair, isMap, isScalar } from 'yaml'
import type { Age } from '../../core/sources.ts'
import { malformedReference } from '../environment-values.ts'
import { isAbsent, type Refuse } from '../members.ts'
import { type FromEnvironment, textOfNode } from './environment.ts'

const UNITS_MS = {
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const
/** Without flags: the JSON Schema of eider.yml has it too. */
export const AGE = /^(\d{1,6}) (second|minute|hour|day|week)s?$/
const EXPECTED_AGE = 'a time such as 12 hours or 2 days'

export interface Group {
  readonly members: ReadonlyMap<string, Node>
  /** Such as `sources.crm`. */
  readonly path: string
  readonly refuse: Refuse
  readonly environment: FromEnvironment
}

/** A text as written, and with the values of the environment: null while one is not set. */
export interface Text {
  readonly written: string
  readonly value: string | null
  readonly node: Node
}

export function textOf(group: Group, key: string, expected: string): Text | null {
  const { members, path, refuse, environment } = group
  const node = members.get(key)
  if (node === undefined) return null
  const written = textOfNode(node)
  if (written === null) {
    refuse(node, `${path}.${key}`, expected)
    return null
  }
  if (malformedReference(written) !== null) {
    const hint = 'a variable of the environment is written ${NAME}: letters, digits and _'
    refuse(node, `${path}.${key}`, expected, hint)
    return null
  }
  return { written, value: environment.fill(written, node), node }
}

export function ageOf(group: Group, key: string, expected: string = EXPECTED_AGE): Age | null {
  const text = textOf(group, key, expected)
  if (text?.value == null) return null
  const [, count, unit] = AGE.exec(text.value) ?? []
  if (count !== undefined)
    return { text: text.value, ms: Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] }
  group.refuse(text.node, `${group.path}.${key}`, expected)
  return null
}

export function pairsOf(
  node: Node | null,
  path: string,
  expected: string,
  refuse: Refuse,
): readonly (readonly [string, Node, Node | null])[] {
  if (isAbsent(node)) return []
  if (isMap(node))
    return (node.items as readonly Pair<Node, Node | null>[]).map(
      ({ key, value }) => [isScalar(key) ? String(key.value) : '', key, value] as const,
    )
  refuse(node, path, expected)
  return []
}
