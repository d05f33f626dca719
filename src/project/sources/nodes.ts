// Groups of eider.yml below `sources` and `secrets`, member by member.

import { type Node, isMap, isScalar, isSeq } from 'yaml'
import type { Age, SourceServer } from '../../core/sources.ts'
import { malformedReference } from '../environment-values.ts'
import { entriesOf, isAbsent, type Members, type Reader } from '../members.ts'
import { type FromEnvironment, hasVariable } from './environment.ts'

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

export interface Group extends Members {
  readonly environment: FromEnvironment
}

/** How a source of some kind is read. */
export interface SourceReader {
  /** The key that says where the tables are; null: each table says it itself. */
  readonly key: string | null
  /** Also where its URL cannot be read. */
  readonly isOnServer: boolean
  /** Keys that other kinds do not have, each with the reason why a source of another kind cannot have it. */
  readonly options: Readonly<Record<string, string>>
  /** `name`: that of the source. */
  readonly read: (group: Group, name: string) => SourcePlace
}

export interface SourcePlace {
  /** null: there is none, or it was refused. */
  readonly database: Text | null
  readonly server: SourceServer | null
  /** The schema of the tables where the source names none. */
  readonly schema: string
}

/** A text as written, and with the values of the environment: null while one is not set. */
export interface Text {
  readonly written: string
  readonly value: string | null
}

export function textOf(group: Group, key: string, expected: string): Text | null {
  const node = group.node(key)
  if (node === undefined) return null
  const written = isScalar(node) && typeof node.value === 'string' ? node.value : ''
  if (written === '') return group.refuseMember(key, expected)
  const hint = 'a variable of the environment is written ${NAME}: letters, digits and _'
  if (malformedReference(written) !== null) return group.refuseMember(key, expected, hint)
  return { written, value: group.environment.fill(written, node) }
}

/** Where it has the value of a variable, that is what is wrong, and it is not shown. */
export function refuseText(
  group: Group,
  key: string,
  { written }: Text,
  expected: string,
  way?: string,
): void {
  const hint = way ?? `set it to ${expected}`
  if (!hasVariable(written)) group.refuseMember(key, expected, way)
  else group.environment.wrong(`${written} is not ${expected}`, group.node(key)!, hint)
}

export function ageOf(group: Group, key: string): Age | null {
  const text = textOf(group, key, EXPECTED_AGE)?.value
  if (text == null) return null
  const [, count, unit] = AGE.exec(text) ?? []
  if (count === undefined) return group.refuseMember(key, EXPECTED_AGE)
  return { text, ms: Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS] }
}

export function namedGroups(
  node: Node | null,
  path: string,
  expected: string,
  { refuse }: Reader,
): ReturnType<typeof entriesOf> {
  if (isMap(node)) return entriesOf(node)
  const hint = isSeq(node)
    ? 'write each name as a key with a colon after it, without a dash'
    : undefined
  if (!isAbsent(node)) refuse(node, path, expected, hint)
  return []
}
