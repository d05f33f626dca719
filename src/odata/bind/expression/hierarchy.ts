// Recursive hierarchies: what `$root/set` and a qualifier stand for, and the functions that ask where a node stands (Data
// Aggregation 4.0, section 5.5.2.1): `Org.OData.Aggregation.V1.isdescendant(HierarchyNodes=$root/set,…)`.

import { limits } from '../../../core/limits.ts'
import { didYouMean } from '../../../core/suggest.ts'
import type { EntitySet, RecursiveHierarchy } from '../../edm/model.ts'
import { edm } from '../../edm/types.ts'
import {
  invalidOption,
  malformed,
  odataError,
  typeMismatch,
  unsupported,
  wrongArguments,
} from '../../protocol/errors.ts'
import type { CallSyntax, ExpressionSyntax } from '../../syntax/syntax.ts'
import { type Expression, type NodeRows, type NodeSet, typeOf } from '../bound.ts'
import { findSet, newRow, type Scope } from '../scope.ts'
import { bindExpression } from './expression.ts'

export interface NamedHierarchy {
  readonly set: EntitySet
  readonly hierarchy: RecursiveHierarchy
}

interface Qualifier {
  readonly name: string
  readonly at: number
}

/** `nodes` is `$root/set`. Throws RequestError 400 or 501. */
export function hierarchyNamed(
  nodes: ExpressionSyntax,
  { name, at }: Qualifier,
  { request }: Scope,
): NamedHierarchy {
  const where = `(at character ${nodes.at + 1})`
  const [start = '', ...rest] = nodes.kind === 'path' ? nodes.names : []
  if (!start.startsWith('$root/'))
    throw typeMismatch(`the nodes of a hierarchy are those of a set, such as $root/set ${where}`)
  if (rest.length > 0 || (nodes.kind === 'path' && nodes.keys.size > 0))
    throw unsupported('a hierarchy of anything but a whole set')
  const set = findSet(request.sets, start.slice('$root/'.length), 'unknown-property')
  const { hierarchies } = set.type
  const hierarchy = hierarchies.find((one) => one.name === name)
  if (hierarchy !== undefined) return { set, hierarchy }
  const names = hierarchies.map((one) => one.name)
  const hint =
    names.length === 0
      ? 'the header of a model says it by -- @hierarchy'
      : (didYouMean(name, names) ?? `there is ${names.join(', ')}`)
  throw invalidOption(`${set.name} has no hierarchy "${name}" (at character ${at + 1}); ${hint}`)
}

export function nodeRows({ set, hierarchy }: NamedHierarchy, scope: Scope): NodeRows {
  const { node, parent } = hierarchy
  return { rows: { kind: 'set', set }, row: newRow(scope, set), node, parent }
}

/** A number of steps that is not too large to count. Throws RequestError 400. */
export function checkedDistance(distance: number | null): number | null {
  if (distance === null || (distance >= 1 && distance <= limits.nodeDistance)) return distance
  throw invalidOption(
    `a distance between nodes is a whole number from 1 to ${limits.nodeDistance}; without one it is not limited`,
  )
}

type Test = NodeSet['which']

/** By the names of the functions in lower case. */
const tests: Readonly<Record<string, Test>> = {
  isnode: 'node',
  isroot: 'root',
  isleaf: 'leaf',
  issibling: 'sibling',
  isancestor: 'ancestor',
  isdescendant: 'descendant',
}

/** The parameter with the other node; null: there is none. */
const otherNode: Readonly<Record<Test, string | null>> = {
  node: null,
  root: null,
  leaf: null,
  sibling: 'Other',
  ancestor: 'Descendant',
  descendant: 'Ancestor',
}

/** Which of them a function is; null: none. */
export function hierarchyTest(name: string): Test | null {
  const [, short = ''] = /^(?:org\.odata\.aggregation\.v1|aggregation)\.(\w+)$/i.exec(name) ?? []
  return tests[short.toLowerCase()] ?? null
}

export function bindHierarchyTest(which: Test, syntax: CallSyntax, scope: Scope): Expression {
  const given = namedOperands(which, syntax)
  const text = given.get('HierarchyQualifier')!
  const qualifier = { name: textOf(text), at: text.at }
  const named = hierarchyNamed(given.get('HierarchyNodes')!, qualifier, scope)
  const of = nodeRows(named, scope)
  const value = bindNode(given.get('Node')!, named, scope)
  const other = otherNode[which]
  if (which === 'node' || which === 'root' || which === 'leaf')
    return { kind: 'isNode', value, nodes: { of, which } }
  const start = constantNode(given.get(other!)!, named, scope)
  if (which === 'sibling') return { kind: 'isNode', value, nodes: { of, which, start } }
  const distance = checkedDistance(numberOf(given.get('MaxDistance')))
  const withStart = given.get('IncludeSelf')
  const nodes: NodeSet = {
    of,
    which,
    start,
    distance,
    withStart: withStart !== undefined && isTrue(withStart),
  }
  return { kind: 'isNode', value, nodes }
}

function namedOperands(
  which: Test,
  { name, operands, names, at }: CallSyntax,
): ReadonlyMap<string, ExpressionSyntax> {
  const other = otherNode[which]
  const needed = [
    'HierarchyNodes',
    'HierarchyQualifier',
    'Node',
    ...(other === null ? [] : [other]),
  ]
  const isFar = which === 'ancestor' || which === 'descendant'
  const known = [...needed, ...(isFar ? ['MaxDistance', 'IncludeSelf'] : [])]
  const example = needed.map((each) => `${each}=…`).join(',')
  const where = `(at character ${at + 1})`
  if (names === undefined)
    throw wrongArguments(`the parameters of ${name} have names ${where}: ${name}(${example})`)
  const unknown = names.find((each, i) => !known.includes(each) || names.indexOf(each) < i)
  const missing = needed.find((each) => !names.includes(each))
  if (unknown !== undefined || missing !== undefined) {
    const problem = missing === undefined ? `has one ${unknown} too many` : `lacks ${missing}`
    throw wrongArguments(`${name} ${problem} ${where}: ${name}(${example})`)
  }
  return new Map(names.map((each, i) => [each, operands[i]!]))
}

function textOf(syntax: ExpressionSyntax): string {
  if (syntax.kind === 'literal' && syntax.form === 'string') return syntax.text
  throw typeMismatch(`the qualifier of a hierarchy is a string (at character ${syntax.at + 1})`)
}

/** NaN where it is none. */
const numberOf = (syntax: ExpressionSyntax | undefined): number | null =>
  syntax === undefined ? null : syntax.kind === 'literal' ? Number(syntax.text) : Number.NaN

function isTrue(syntax: ExpressionSyntax): boolean {
  if (syntax.kind === 'literal' && syntax.form === 'boolean')
    return syntax.text.toLowerCase() === 'true'
  throw malformed(`IncludeSelf is true or false (at character ${syntax.at + 1})`)
}

/** A value that may be a node of the hierarchy: anything that could be compared with one. */
function bindNode(
  syntax: ExpressionSyntax,
  { hierarchy }: NamedHierarchy,
  scope: Scope,
): Expression {
  const value = bindExpression(syntax, scope)
  return nodeValue(value, hierarchy, syntax.at)
}

export function nodeValue(value: Expression, { node }: RecursiveHierarchy, at: number): Expression {
  const type = typeOf(value)
  if (type === null) return { kind: 'cast', type: node.type, operand: value }
  if (type.name === node.type.name) return value
  if (type.kind === 'collection') throw unsupported('a list of values as the nodes of a row')
  const isWhole = (name: string) =>
    ['Edm.Int16', 'Edm.Int32', 'Edm.Int64', 'Edm.Byte', 'Edm.SByte'].includes(name)
  if (isWhole(type.name) && isWhole(node.type.name))
    return { kind: 'cast', type: edm.Int64, operand: value }
  throw typeMismatch(
    `nodes are ${node.type.name}, and this is ${type.name} (at character ${at + 1})`,
  )
}

function constantNode(syntax: ExpressionSyntax, named: NamedHierarchy, scope: Scope): Expression {
  const value = bindNode(syntax, named, scope)
  const inner = value.kind === 'cast' ? value.operand : value
  if (inner.kind === 'constant' || inner.kind === 'null') return value
  throw odataError(
    'not-supported',
    `the node that others are compared with must be a value, not one of each row (at character ${syntax.at + 1})`,
  )
}
