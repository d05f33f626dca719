// Control information in rows. metadata=full: also what a client could have worked out from $metadata (JSON Format 4.01,
// 3.1.2).
//
// Control information consists of ordinary properties, so the writers of rows know nothing of it: constants for
// types, texts of DuckDB for ids and links.

import { type Expression, propertyOf, type RowVariable, call, constant, nullOf } from './bound.ts'
import type { BoundQuery, OutputProperty } from './bound-request.ts'
import type { ODataVersion } from '../protocol/negotiate.ts'
import { edm, type EdmType, qualifiedName } from '../edm/types.ts'
import { odataError } from '../protocol/errors.ts'
import type { Property } from '../edm/model.ts'

export function withControlInformation(query: BoundQuery, version: ODataVersion): BoundQuery {
  const expand = query.expand.map((expansion) => ({
    ...expansion,
    query: withControlInformation(expansion.query, version),
  }))
  const isReference = query.output.some(({ name }) => name === '@odata.id')
  if (isReference) return query
  const values = query.output.flatMap((property) => [...typeOutput(property, version), property])
  return { ...query, expand, output: [...entityOutput(query), ...values] }
}

/**
 * What clients cannot work out: the id of an entity whose key is not written whole, and, for clients of 4.0, that a row of
 * $apply is no entity (JSON Format 4.01, 4.6.8).
 */
export function withNeededIds(query: BoundQuery, version: ODataVersion): BoundQuery {
  const expand = query.expand.map((expansion) => ({
    ...expansion,
    query: withNeededIds(expansion.query, version),
  }))
  return { ...query, expand, output: [...neededId(query, version), ...query.output] }
}

function neededId(
  { output, row, relation, entity = relation.kind === 'set' ? row : undefined }: BoundQuery,
  version: ODataVersion,
): readonly OutputProperty[] {
  if (entity === null) return version === '4.0' ? [text('@odata.id', nullOf(edm.String))] : []
  const names = new Set(output.flatMap(({ name, path = [name] }) => (path.length > 1 ? [] : path)))
  const { key = [] } = entity?.set.type ?? {}
  const isNeeded = !names.has('@odata.id') && key.some(({ name }) => !names.has(name))
  return entity !== undefined && isNeeded ? [entityIdOutput(entity)] : []
}

/** In each row, before its values; what is said of a value in an object, before that. */
export function withAnnotations(query: BoundQuery): BoundQuery {
  const { annotations = [], output, expand } = query
  if (annotations.length === 0 && expand.length === 0) return query
  const isBefore = (
    { path = [] }: OutputProperty,
    { name, path: value = [name] }: OutputProperty,
  ) => path.length > 1 && path.slice(0, -1).every((part, i) => value[i] === part)
  const places = annotations.map((one) => output.findIndex((value) => isBefore(one, value)))
  const at = (place: number) => annotations.filter((_, i) => places[i] === place)
  return {
    ...query,
    output: [...at(-1), ...output.flatMap((value, i) => [...at(i), value])],
    expand: expand.map((each) => ({ ...each, query: withAnnotations(each.query) })),
  }
}

/** The types that a reader takes a value for when nothing is said (JSON Format 4.01, 4.6.3). */
const OBVIOUS: readonly string[] = ['Edm.Boolean', 'Edm.String']

/** The value of `@odata.type`: 4.0 wants a hash before names that are not qualified, 4.01 none. */
export function shownType(type: EdmType, version: ODataVersion): string {
  const item = type.kind === 'collection' ? type.item : type
  const name = item.kind === 'complex' ? qualifiedName(item) : item.name.replace('Edm.', '')
  const hash = version === '4.0' || item.kind === 'complex' ? '#' : ''
  return `${hash}${type.kind === 'collection' ? `Collection(${name})` : name}`
}

function typeOutput({ name, path = [name], type, mark }: OutputProperty, version: ODataVersion) {
  if (OBVIOUS.includes(type.name)) return []
  const annotated = [...path.slice(0, -1), `${path.at(-1)}@odata.type`]
  const output = text(`${name} type`, constantText(shownType(type, version)), annotated)
  return [{ ...output, mark }]
}

const text = (name: string, value: Expression, path?: readonly string[]): OutputProperty => ({
  name,
  type: edm.String,
  value,
  path,
})

/** Type, id and links. Rows that are not entities of a set, or have no key, have a null id. */
function entityOutput({ set, row, relation, navigation }: BoundQuery): readonly OutputProperty[] {
  if (relation.kind !== 'set' || navigation === undefined)
    return [text('@odata.id', nullOf(edm.String))]
  const type = text('@odata.type', constantText(`#${qualifiedName(set.type)}`))
  if (set.type.key.length === 0) return [type, text('@odata.id', nullOf(edm.String))]
  const id = entityIdOutput(row)
  const links = navigation.flatMap(({ name }) => [
    text(`${name}@odata.associationLink`, joinedTexts(id.value, constantText(`/${name}/$ref`))),
    text(`${name}@odata.navigationLink`, joinedTexts(id.value, constantText(`/${name}`))),
  ])
  return [type, id, ...links]
}

// The id of an entity as a value of its row: `shop_items(order_id=10,line=2)`, relative to the service root. References
// are rows with this alone (JSON Format 4.01, 14).

export function entityIdOutput(row: RowVariable): OutputProperty {
  const { name, type } = row.set
  const [first, ...more] = type.key
  if (first === undefined)
    throw odataError('no-key', `${type.name} has no key, so its entities have no ids`)
  const parts =
    more.length === 0
      ? [keyText(row, first)]
      : type.key.flatMap((property, i) => [
          constantText(`${i === 0 ? '' : ','}${encodeURIComponent(property.name)}=`),
          keyText(row, property),
        ])
  const value = [constantText(`${name}(`), ...parts, constantText(')')].reduce(joinedTexts)
  return { name: '@odata.id', type: edm.String, value }
}

const constantText = (value: string) => constant(edm.String, value)

const joinedTexts = (a: Expression, b: Expression): Expression => call('concat', edm.String, a, b)

/** The text of a key property in the parentheses of a URL. */
function keyText(row: RowVariable, property: Property): Expression {
  const { type } = property
  const name = type.name === 'Edm.String' ? 'textInUrl' : 'valueInUrl'
  return call(name, edm.String, propertyOf(row, property))
}
