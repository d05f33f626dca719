// From the syntax of a request to what it reads from one snapshot: which resource, which rows, which properties.

import { entityRows } from './apply/rows.ts'
import { scopeOfRows } from './apply/row-scope.ts'
import { bindApply } from './apply/apply.ts'
import { REFERENCE_OPTIONS } from './expand.ts'
import { bindCrossjoin } from './crossjoin.ts'
import { collectionQuery, openScope } from './query.ts'
import { findResource, pathCondition, requireOrder, type Resource } from './resource.ts'
import { resultQuery } from './apply/result.ts'
import { bindValue, valueOptions } from './value.ts'
import type { BoundQuery, BoundRequest } from './bound-request.ts'
import { entityIdOutput } from './control-information.ts'
import type { Costs } from './size.ts'
import {
  unsupported,
  unknownResource,
  invalidOption,
  optionNotAllowed,
} from '../protocol/errors.ts'
import type { ODataVersion } from '../protocol/negotiate.ts'
import { withTarget } from '../syntax/parse-option.ts'
import { newRow, type RequestContext, type Scope } from './scope.ts'
import type { OptionName, OptionSyntax, PathSegment, RequestSyntax } from '../syntax/syntax.ts'
import type { EntityModel } from '../edm/model.ts'
import { type Conventions, usualConventions } from '../protocol/conventions.ts'

interface RequestSettings extends Costs {
  /** The time that the whole request sees. */
  readonly now: Date
  readonly version: ODataVersion
  readonly conventions?: Conventions
}

/** Throws RequestError 400, 404 or 501. */
export function bindRequest(
  { path, options, aliases, isOneEntity = false }: RequestSyntax,
  model: EntityModel,
  { now, version, conventions = usualConventions, copiesOf }: RequestSettings,
): BoundRequest {
  const [first] = path
  if (isOneEntity && (first === undefined || first.name.startsWith('$'))) throw noEntityId()
  if (first === undefined) {
    allowOnly(options, ['format'], 'the service document')
    return { kind: 'service-document' }
  }
  if (first.name === 'vocabularies') return bindVocabulary(path.slice(1), options)
  const { geo = 'unnamed' } = conventions
  const context = { sets: model.sets, aliases, now, version, geo, copiesOf, rows: { count: 0 } }
  if (first.name === '$crossjoin' && first.argument !== null)
    return bindCrossjoin(first.argument, path.slice(1), options, context)
  if (first.name.startsWith('$')) return bindSystemResource(first, path.length, options)
  if (options.id !== undefined) allowOnly(options, [], first.name)
  const resource = findResource(model, path, conventions)
  if (isOneEntity && (resource.many || resource.end !== null)) throw noEntityId()
  requireOrder(resource, options.orderby !== undefined)
  allowFitting(options, resource)
  return options.apply === undefined
    ? bindResource(resource, options, context)
    : bindResult(resource, options, context)
}

const noEntityId = () => invalidOption('$id must be the URL of an entity', '$id')

function bindResource(
  resource: Resource,
  options: OptionSyntax,
  context: RequestContext,
): BoundRequest {
  const { set, many, end, steps } = resource
  const scope = openScope(options, scopeOfRows(entityRows(set), context))
  // The options of a request for a value are about its items.
  const isValue = typeof end === 'object' && end !== null
  const within = pathCondition(steps, scope, options.orderby)
  const own = collectionQuery(scope, isValue ? {} : options, within)
  const query = { ...own, top: many ? own.top : 1 }
  const parent = parentQuery(resource, scope)
  const kind = kindOf(resource)
  if (end === '$ref') {
    const contextFragment = many ? 'Collection($ref)' : '$ref'
    const output = [entityIdOutput(scope.row)]
    return { kind, parent, query: { ...query, output, navigation: undefined, contextFragment } }
  }
  if (end !== null && end !== '$count')
    return bindValue(end, resource.entityPath, options, query, scope)
  const contextFragment = many ? query.contextFragment : `${query.contextFragment}/$entity`
  return { kind, parent, query: { ...query, contextFragment } }
}

/** `$apply` comes before all other options: they see its result, which need not have entities any more. */
function bindResult(resource: Resource, options: OptionSyntax, context: RequestContext) {
  const { apply = [] } = options
  const { set, steps } = resource
  const entities = scopeOfRows(entityRows(set), context)
  const within = pathCondition(steps, entities)
  const rows = withTarget('$apply', () => bindApply(apply, set, within, context))
  const scope = openScope(options, scopeOfRows(rows, context))
  const parent = parentQuery(resource, entities)
  const query = resultQuery(rows, scope, options)
  return { kind: kindOf(resource), parent, query } as const
}

const kindOf = ({ many, end }: Resource) =>
  end === '$count' ? 'count' : many ? 'collection' : 'entity'

/** The entity before the last navigation, unless a key says which of the rows it leads to is meant. */
function parentQuery({ steps }: Resource, scope: Scope): BoundQuery | null {
  const before = steps.slice(0, -1)
  const last = before.at(-1)
  const { key, place } = steps.at(-1)!
  if (last === undefined || key !== null || place !== null) return null
  const inner = { ...scope, row: newRow(scope, last.set) }
  const query = collectionQuery(inner, {}, pathCondition(before, inner))
  return { ...query, output: [], top: 1 }
}

const ENTITY_OPTIONS: readonly OptionName[] = ['compute', 'select', 'expand', 'format']
const REFERENCES_OPTIONS: readonly OptionName[] = [...REFERENCE_OPTIONS, 'format', 'skiptoken']
/** The last four are checked and change nothing (Protocol 4.0, 11.2.9; without a meaning since 4.01). */
const COUNT_OPTIONS: readonly OptionName[] = [
  'apply',
  'compute',
  'filter',
  'search',
  'format',
  'top',
  'skip',
  'orderby',
  'expand',
]

function allowFitting(options: OptionSyntax, { many, end, steps }: Resource): void {
  const order: readonly OptionName[] = steps.at(-1)!.place === null ? [] : ['orderby']
  if (end === '$count') allowOnly(options, COUNT_OPTIONS, '/$count')
  else if (end === '$ref')
    allowOnly(options, many ? REFERENCES_OPTIONS : ['format', ...order], '/$ref')
  else if (end !== null) allowOnly(options, valueOptions(end), 'this property')
  else if (!many) allowOnly(options, [...ENTITY_OPTIONS, ...order], 'a single entity')
}

function allowOnly(options: OptionSyntax, allowed: readonly OptionName[], resource: string): void {
  for (const name of Object.keys(options) as OptionName[])
    if (!allowed.includes(name))
      throw optionNotAllowed(`$${name} is not allowed for ${resource}`, `$${name}`)
}

/** Which names there are is known where the documents are written. */
function bindVocabulary(rest: readonly PathSegment[], options: OptionSyntax): BoundRequest {
  const [file, ...more] = rest
  if (file === undefined || more.length > 0)
    throw unknownResource('name a vocabulary as $metadata does')
  allowOnly(options, [], 'a vocabulary')
  return { kind: 'vocabulary', file: file.decoded }
}

function bindSystemResource(
  { name, key, argument }: PathSegment,
  segments: number,
  options: OptionSyntax,
): BoundRequest {
  if (name === '$metadata' && key === null && argument === null && segments === 1) {
    allowOnly(options, ['format'], '$metadata')
    return { kind: 'metadata' }
  }
  if (name === '$openapi' && key === null && argument === null && segments === 1) {
    allowOnly(options, ['format'], '$openapi')
    return { kind: 'openapi' }
  }
  if (['$crossjoin', '$all'].includes(name)) throw unsupported(name)
  throw unknownResource(`there is no resource ${name} here`)
}
