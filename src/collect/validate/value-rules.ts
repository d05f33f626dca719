// The rule of each column type (rule.ts): nested types here, scalar ones in scalar-rules.ts.

import { byIs } from '../../core/by-kind.ts'
import { equalKeys, keyIdentity } from './map-keys.ts'
import { type Changes, NOT_AS_SENT, type Rule } from './rule.ts'
import { scalarRule } from './scalar-rules.ts'
import { ARRAY, NULL, OBJECT, type Spans, STRING } from './spans.ts'
import type { TypeTree } from '../../core/type-syntax.ts'

/** Whether a type has JSON in it, which keeps numbers as they are spelled. */
export function holdsJson(tree: TypeTree): boolean {
  if (tree.is === 'scalar') return tree.name === 'JSON'
  if (tree.is === 'list') return holdsJson(tree.element)
  if (tree.is === 'map') return holdsJson(tree.value)
  return tree.is !== 'enum' && [...tree.fields.values()].some(holdsJson)
}

export const ruleOf: (tree: TypeTree) => Rule = byIs({
  scalar: ({ name, parameters }) => scalarRule(name, parameters),
  enum: ({ members }) => enumRule(members),
  list: ({ element, length }) => listRule(ruleOf(element), length),
  struct: ({ fields }) => structRule(mapValues(fields, ruleOf)),
  union: ({ fields }) => unionRule(mapValues(fields, ruleOf)),
  map: ({ key, value }) => mapRule(key, ruleOf(value)),
})

function enumRule(members: readonly string[]): Rule {
  const known: ReadonlySet<string> = new Set(members)
  const shown = members.length <= 10 ? `: ${members.map((member) => `"${member}"`).join(', ')}` : ''
  return (spans, node) =>
    spans.kind(node) === STRING && known.has(spans.text(node))
      ? null
      : `must be one of the ${members.length} members of the ENUM${shown}`
}

function listRule(element: Rule, length: number | null): Rule {
  const size = length === null ? '' : ` of ${length} elements`
  return (spans, node, changes) => {
    if (spans.kind(node) !== ARRAY) return 'must be a JSON array'
    let index = 0
    let wrong: string | null = null
    for (let item = node + 1; item < spans.next(node); item = spans.next(item), index++) {
      const problem: string | null =
        wrong === null ? checkOrNull(element, spans, item, changes) : null
      if (problem !== null) wrong = `element ${index} ${problem}`
    }
    return length === null || index === length ? wrong : `must be a JSON array${size}`
  }
}

/** Absent fields are NULL; the flush drops unknown ones, as it does at the top level, and nested-fields.ts tells. */
function structRule(fields: ReadonlyMap<string, Rule>): Rule {
  return (spans, node, changes) => {
    if (spans.kind(node) !== OBJECT) return 'must be a JSON object'
    for (let at = node + 1; at < spans.next(node); at = spans.next(at + 1)) {
      const name = spans.text(at)
      const rule = fields.get(name)
      if (rule === undefined) spans.hasUnknownField = true
      const problem = rule === undefined ? null : checkOrNull(rule, spans, at + 1, changes)
      if (problem !== null) return `field "${name}" ${problem}`
    }
    return null
  }
}

function unionRule(members: ReadonlyMap<string, Rule>): Rule {
  const names = [...members.keys()].map((name) => `"${name}"`).join(', ')
  return (spans, node, changes) => {
    if (changes === null) return NOT_AS_SENT
    const [name, ...others] = spans.kind(node) === OBJECT ? spans.names(node) : []
    const rule = name === undefined ? undefined : members.get(name)
    if (rule === undefined || others.length > 0)
      return `must be a JSON object with one member, one of ${names}`
    const problem = checkOrNull(rule, spans, node + 2, changes)
    return problem === null ? null : `member "${name}" ${problem}`
  }
}

/** Two keys of one MAP that are equal in their type DuckDB sometimes accepts and sometimes fails on. */
function mapRule(keyType: TypeTree, item: Rule): Rule {
  const key = ruleOf(keyType)
  const identity = keyIdentity(keyType)
  return (spans, node, changes) => {
    if (spans.kind(node) !== OBJECT) return 'must be a JSON object'
    for (let at = node + 1; at < spans.next(node); at = spans.next(at + 1)) {
      // Keys of every type are text in JSON. DuckDB cannot read a rewritten one, so it must be valid as it is.
      const inKey: Changes | null = changes && { edits: [], json: [] }
      const wrong = key(spans, at, inKey)
      const isChanged = inKey !== null && inKey.edits.length > 0
      const problem: string | null =
        wrong ?? (isChanged ? 'must be in plain form' : checkOrNull(item, spans, at + 1, changes))
      if (problem !== null) return `key "${spans.text(at)}" ${problem}`
    }
    const equal = identity === null ? null : equalKeys(identity, spans.names(node))
    return equal === null ? null : `key "${equal}" must not equal another key of the MAP`
  }
}

const checkOrNull = (rule: Rule, spans: Spans, node: number, changes: Changes | null) =>
  spans.kind(node) === NULL ? null : rule(spans, node, changes)

function mapValues<K, V, W>(map: ReadonlyMap<K, V>, change: (value: V) => W): ReadonlyMap<K, W> {
  return new Map([...map].map(([key, value]) => [key, change(value)]))
}
