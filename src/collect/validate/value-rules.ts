// The rule of each column type (rule.ts): nested types here, scalar ones in scalar-rules.ts.

import type { ColumnType } from '../../core/relation.ts'
import type { JsonNode } from './json-tree.ts'
import { equalKeys, keyIdentity } from './map-keys.ts'
import type { Findings, Rule } from './rule.ts'
import { scalarRule } from './scalar-rules.ts'
import { parseType, type TypeTree } from '../../core/type-syntax.ts'

export function ruleFor(type: ColumnType): Rule {
  return ruleOf(parseType(type))
}

function ruleOf(tree: TypeTree): Rule {
  switch (tree.is) {
    case 'scalar':
      return scalarRule(tree.name, tree.parameters)
    case 'enum':
      return enumRule(tree.members)
    case 'list':
      return listRule(ruleOf(tree.element), tree.length)
    case 'struct':
      return structRule(mapValues(tree.fields, ruleOf))
    case 'union':
      return unionRule(mapValues(tree.fields, ruleOf))
    case 'map':
      return mapRule(tree.key, ruleOf(tree.value))
  }
}

function enumRule(members: readonly string[]): Rule {
  const known: ReadonlySet<unknown> = new Set(members)
  const shown = members.length <= 10 ? `: ${members.map((member) => `"${member}"`).join(', ')}` : ''
  return {
    exact: false,
    accepts: (value) => known.has(value),
    check: (node) =>
      node.is === 'string' && known.has(node.value)
        ? null
        : `must be one of the ${members.length} members of the ENUM${shown}`,
  }
}

function listRule(element: Rule, length: number | null): Rule {
  const fits = (size: number) => length === null || size === length
  return {
    exact: element.exact,
    spelled: element.spelled === true,
    accepts: (value) =>
      Array.isArray(value) &&
      fits(value.length) &&
      value.every((item) => item === null || element.accepts(item)),
    check: (node, found) => {
      if (node.is !== 'array') return 'must be a JSON array'
      if (!fits(node.elements.length)) return `must be a JSON array of ${length} elements`
      return firstProblem(node.elements, (item, index) =>
        within(`element ${index}`, checkOrNull(element, item, found)),
      )
    },
  }
}

/** Absent fields are NULL; the flush drops unknown ones, as it does at the top level. */
function structRule(fields: ReadonlyMap<string, Rule>): Rule {
  const entries = [...fields]
  return {
    exact: entries.some(([, rule]) => rule.exact),
    spelled: entries.some(([, rule]) => rule.spelled),
    accepts: (value) =>
      isObject(value) &&
      entries.every(([name, rule]) => value[name] == null || rule.accepts(value[name])),
    check: (node, found) => {
      if (node.is !== 'object') return 'must be a JSON object'
      return firstProblem(node.members, (member) => {
        const rule = fields.get(member.name)
        return rule === undefined
          ? null
          : within(`field "${member.name}"`, checkOrNull(rule, member.node, found))
      })
    },
  }
}

function unionRule(members: ReadonlyMap<string, Rule>): Rule {
  const names = [...members.keys()].map((name) => `"${name}"`).join(', ')
  return {
    exact: true,
    spelled: [...members.values()].some((rule) => rule.spelled),
    accepts: () => false,
    check: (node, found) => {
      const only = node.is === 'object' && node.members.length === 1 ? node.members[0]! : null
      const rule = only === null ? undefined : members.get(only.name)
      if (only === null || rule === undefined)
        return `must be a JSON object with one member, one of ${names}`
      return within(`member "${only.name}"`, checkOrNull(rule, only.node, found))
    },
  }
}

/** Two keys of one MAP that are equal in their type DuckDB sometimes accepts and sometimes fails on. */
function mapRule(keyType: TypeTree, item: Rule): Rule {
  const key = ruleOf(keyType)
  const identity = keyIdentity(keyType)
  return {
    exact: key.exact || item.exact,
    spelled: item.spelled === true,
    // Keys are text in JSON, whatever their type; a key that passes the quick check as text is valid.
    accepts: (value) =>
      isObject(value) &&
      Object.keys(value).every(
        (name) => key.accepts(name) && (value[name] === null || item.accepts(value[name])),
      ) &&
      equalKeys(identity, Object.keys(value)) === null,
    check: (node, found) => {
      if (node.is !== 'object') return 'must be a JSON object'
      const problem = firstProblem(node.members, (member) => {
        const { start, end } = member.node
        const name: JsonNode = { is: 'string', start, end, value: member.name }
        // DuckDB cannot read a rewritten key, so a key must be valid as it is.
        const inKey: Findings = { edits: [], json: [] }
        const problem = key.check(name, inKey)
        if (problem !== null || inKey.edits.length > 0)
          return within(`key "${member.name}"`, problem ?? 'must be in plain form')
        return within(`key "${member.name}"`, checkOrNull(item, member.node, found))
      })
      if (problem !== null) return problem
      const names = node.members.map(({ name }) => name)
      const equal = equalKeys(identity, names)
      return equal === null ? null : `key "${equal}" must not equal another key of the MAP`
    },
  }
}

function checkOrNull(rule: Rule, node: JsonNode, found: Findings): string | null {
  return node.is === 'null' ? null : rule.check(node, found)
}

const within = (place: string, problem: string | null) =>
  problem === null ? null : `${place} ${problem}`

function firstProblem<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | null,
): string | null {
  for (const [index, item] of items.entries()) {
    const problem = check(item, index)
    if (problem !== null) return problem
  }
  return null
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function mapValues<K, V, W>(map: ReadonlyMap<K, V>, change: (value: V) => W): ReadonlyMap<K, W> {
  return new Map([...map].map(([key, value]) => [key, change(value)]))
}
