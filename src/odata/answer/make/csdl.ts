// The $metadata document in both of its forms (CSDL XML 4.01, CSDL JSON 4.01).
//
// Annotations are few and of vocabularies that the document refers to (vocabularies.ts): clients refuse a document over
// an unknown one. There is no Capabilities.FilterFunctions: without it clients may try all functions and operators, and
// all in the specification are served, or answered with what is unsupported.

import { limits } from '../../../core/limits.ts'
import {
  NAMESPACE,
  qualifiedName,
  type ComplexType,
  type EdmType,
  type PrimitiveType,
} from '../../edm/types.ts'
import { formats } from '../../protocol/formats.ts'
import { formatsFor } from '../../protocol/negotiate.ts'
import { servedTransformations } from '../../syntax/transformations.ts'
import {
  AGGREGATION,
  CAPABILITIES,
  CORE,
  referenceJson,
  referenceXml,
  vocabularyNames,
  vocabularyPath,
  attributes,
  collectionXml,
  lines,
} from './vocabularies.ts'
import { storedKeyset } from '../../bind/keyset.ts'
import type {
  EntityModel,
  EntitySet,
  EntityType,
  NavigationProperty,
  Property,
} from '../../edm/model.ts'
import { keepCoded } from '../../../http/content-coding.ts'
import { inSlices } from '../../../core/time-slices.ts'

const CONTAINER = 'Default'

/** What no entity set allows: the term and its property. */
const RESTRICTIONS = [
  ['InsertRestrictions', 'Insertable'],
  ['UpdateRestrictions', 'Updatable'],
  ['DeleteRestrictions', 'Deletable'],
] as const

/** Settings of the service that the document declares. */
interface Conventions {
  readonly keyAsSegment: boolean
}

const DEFAULTS: Conventions = { keyAsSegment: false }

/** Capabilities that a client would otherwise have to guess. */
const abilities = ({ keyAsSegment }: Conventions) => [
  ['BatchContinueOnErrorSupported', true] as const,
  ['CrossJoinSupported', true] as const,
  ['KeyAsSegmentSupported', keyAsSegment] as const,
]

/** The term of version 4.01 for the first of them. */
const BATCH = {
  ContinueOnErrorSupported: true,
  SupportedFormats: ['multipart/mixed', 'application/json'],
}

/** Changes can be tracked where a key says which rows of two snapshots are the same. */
const isTracked = (set: EntitySet) => storedKeyset(set, { alias: 'it', set }) !== null

/** The values of $format for data. */
const FORMATS = formatsFor('collection').map((name) => formats[name].mediaType)

const ODATA_VERSIONS = '4.0 4.01'

const APPLY = { Transformations: servedTransformations, PropertyRestrictions: false }

type ProtocolVersion = '4.0' | '4.01'

/** The type of the values, and for a collection the type of its items. */
const itemType = (type: EdmType) => (type.kind === 'collection' ? type.item : type)

const typeName = (type: PrimitiveType | ComplexType) =>
  type.kind === 'complex' ? qualifiedName(type) : type.name

/** All complex types, each after those that it is part of. */
function complexTypes(sets: readonly EntitySet[]): readonly ComplexType[] {
  const within = ({ type }: { readonly type: EdmType }): readonly ComplexType[] => {
    const item = itemType(type)
    return item.kind === 'complex' ? [item, ...item.properties.flatMap(within)] : []
  }
  return sets.flatMap(({ type }) => type.properties.flatMap(within))
}

/** A constraint is between properties of one type, on the side that holds the other's key. */
const hasConstraint = ({ holdsKey, on }: NavigationProperty) =>
  holdsKey && on.ours.type.engine === on.theirs.type.engine

/** The document in parts. `version` is the one that it names. */
export function* csdlXml(
  model: EntityModel,
  version: ProtocolVersion,
  conventions: Conventions = DEFAULTS,
): Generator<string, void> {
  const sets = [...model.sets.values()]
  yield lines([
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="${version}">`,
    ...vocabularyNames.map((name) => referenceXml(vocabularyPath(name, 'xml'), name)),
    '<edmx:DataServices>',
    `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${NAMESPACE}">`,
  ])
  for (const { type } of sets) yield lines(typeXml(type))
  for (const type of complexTypes(sets)) yield lines(complexXml(type))
  yield lines([`<EntityContainer Name="${CONTAINER}">`])
  for (const set of sets) yield lines(setXml(set))
  yield lines([
    `<Annotation Term="${CORE}.ODataVersions" String="${ODATA_VERSIONS}"/>`,
    ...abilities(conventions).map(
      ([term, value]) => `<Annotation Term="${CAPABILITIES}.${term}" Bool="${value}"/>`,
    ),
    `<Annotation Term="${CAPABILITIES}.SupportedFormats">${collectionXml(FORMATS)}</Annotation>`,
    `<Annotation Term="${CAPABILITIES}.BatchSupport"><Record><PropertyValue Property="ContinueOnErrorSupported" Bool="${BATCH.ContinueOnErrorSupported}"/><PropertyValue Property="SupportedFormats">${collectionXml(BATCH.SupportedFormats)}</PropertyValue></Record></Annotation>`,
    '</EntityContainer>',
    '</Schema>',
    '</edmx:DataServices>',
    '</edmx:Edmx>',
  ])
}

function typeXml(type: EntityType): readonly string[] {
  const { name, description, key, properties, navigation } = type
  const keyRefs = key.map((property) => `<PropertyRef${attributes({ Name: property.name })}/>`)
  return [
    `<EntityType${attributes({ Name: name })}>`,
    ...(key.length === 0 ? [] : [`<Key>${keyRefs.join('')}</Key>`]),
    ...properties.map(propertyXml),
    ...navigation.map(navigationXml),
    ...(description === null
      ? []
      : [`<Annotation${attributes({ Term: `${CORE}.Description`, String: description })}/>`]),
    '</EntityType>',
  ]
}

function propertyXml(property: Property): string {
  const start = `<Property${attributes(propertyAttributes(property))}`
  const { description } = property.column
  if (description === undefined) return `${start}/>`
  const annotation = { Term: `${CORE}.Description`, String: description }
  return `${start}><Annotation${attributes(annotation)}/></Property>`
}

function propertyAttributes({ name, type, nullable }: DeclaredProperty) {
  const item = itemType(type)
  const many = type.kind === 'collection'
  return {
    Name: name,
    Type: many ? `Collection(${typeName(item)})` : typeName(item),
    // On a collection it says whether items may be null, and it has no default.
    ...(many ? { Nullable: 'true' } : nullable ? {} : { Nullable: 'false' }),
    ...(item.precision === null ? {} : { Precision: String(item.precision) }),
    ...(item.scale === null ? {} : { Scale: String(item.scale) }),
  }
}

type DeclaredProperty = Pick<Property, 'name' | 'type' | 'nullable'>

const complexXml = ({ name, properties }: ComplexType): readonly string[] => [
  `<ComplexType${attributes({ Name: name })}>`,
  ...properties.map(
    (property) => `<Property${attributes(propertyAttributes({ ...property, nullable: true }))}/>`,
  ),
  '</ComplexType>',
]

function navigationXml(navigation: NavigationProperty): string {
  const { name, target, many, on, partner } = navigation
  const type = many ? `Collection(${qualifiedName(target.type)})` : qualifiedName(target.type)
  const start = `<NavigationProperty${attributes({ Name: name, Type: type, Partner: partner })}`
  if (!hasConstraint(navigation)) return `${start}/>`
  const constraint = { Property: on.ours.name, ReferencedProperty: on.theirs.name }
  return `${start}><ReferentialConstraint${attributes(constraint)}/></NavigationProperty>`
}

function setXml(set: EntitySet): readonly string[] {
  const { name, type } = set
  const bindings = type.navigation.map((navigation) => ({
    Path: navigation.name,
    Target: navigation.target.name,
  }))
  return [
    `<EntitySet${attributes({ Name: name, EntityType: qualifiedName(type) })}>`,
    ...bindings.map((binding) => `<NavigationPropertyBinding${attributes(binding)}/>`),
    ...RESTRICTIONS.map(
      ([term, property]) =>
        `<Annotation Term="${CAPABILITIES}.${term}"><Record><PropertyValue Property="${property}" Bool="false"/></Record></Annotation>`,
    ),
    `<Annotation Term="${CAPABILITIES}.ExpandRestrictions"><Record><PropertyValue Property="MaxLevels" Int="${limits.expandDepth}"/></Record></Annotation>`,
    `<Annotation Term="${AGGREGATION}.ApplySupported"><Record><PropertyValue Property="Transformations">${collectionXml(servedTransformations)}</PropertyValue><PropertyValue Property="PropertyRestrictions" Bool="false"/></Record></Annotation>`,
    `<Annotation Term="${CAPABILITIES}.ChangeTracking"><Record><PropertyValue Property="Supported" Bool="${isTracked(set)}"/></Record></Annotation>`,
    '</EntitySet>',
  ]
}

/** The document of csdlXml() in JSON. */
export function* csdlJson(
  model: EntityModel,
  version: ProtocolVersion,
  conventions: Conventions = DEFAULTS,
): Generator<string, void> {
  const sets = [...model.sets.values()]
  const reference = (name: string) => referenceJson(vocabularyPath(name, 'json'), name)
  const named = (name: string, value: unknown) => `${JSON.stringify(name)}:${JSON.stringify(value)}`
  const head = {
    $Version: version,
    $Reference: Object.fromEntries(vocabularyNames.map(reference)),
    $EntityContainer: `${NAMESPACE}.${CONTAINER}`,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"${NAMESPACE}":{`
  for (const { type } of sets) yield `${named(type.name, typeJson(type))},`
  for (const type of complexTypes(sets)) yield `${named(type.name, complexJson(type))},`
  yield `"${CONTAINER}":{${named('$Kind', 'EntityContainer')}`
  for (const set of sets) yield `,${named(set.name, setJson(set))}`
  yield `,${named(`@${CORE}.ODataVersions`, ODATA_VERSIONS)}`
  for (const [term, value] of abilities(conventions))
    yield `,${named(`@${CAPABILITIES}.${term}`, value)}`
  yield `,${named(`@${CAPABILITIES}.SupportedFormats`, FORMATS)}`
  yield `,${named(`@${CAPABILITIES}.BatchSupport`, BATCH)}}}}`
}

function typeJson({ description, key, properties, navigation }: EntityType): object {
  return {
    $Kind: 'EntityType',
    ...(key.length === 0 ? {} : { $Key: key.map(({ name }) => name) }),
    ...Object.fromEntries(properties.map((property) => [property.name, propertyJson(property)])),
    ...Object.fromEntries(navigation.map((property) => [property.name, navigationJson(property)])),
    ...(description === null ? {} : { [`@${CORE}.Description`]: description }),
  }
}

function propertyJson({
  type,
  nullable,
  column,
}: DeclaredProperty & Partial<Pick<Property, 'column'>>) {
  const item = itemType(type)
  const many = type.kind === 'collection'
  const description = column?.description
  return {
    $Type: typeName(item),
    ...(many ? { $Collection: true } : {}),
    ...(nullable || many ? { $Nullable: true } : {}),
    ...(item.precision === null ? {} : { $Precision: item.precision }),
    ...(item.scale === null ? {} : { $Scale: item.scale }),
    ...(description === undefined ? {} : { [`@${CORE}.Description`]: description }),
  }
}

const complexJson = ({ properties }: ComplexType): object => ({
  $Kind: 'ComplexType',
  ...Object.fromEntries(
    properties.map((property) => [property.name, propertyJson({ ...property, nullable: true })]),
  ),
})

function navigationJson(navigation: NavigationProperty): object {
  const { target, many, on, partner } = navigation
  return {
    $Kind: 'NavigationProperty',
    $Type: qualifiedName(target.type),
    ...(many ? { $Collection: true } : { $Nullable: true }),
    $Partner: partner,
    ...(hasConstraint(navigation)
      ? { $ReferentialConstraint: { [on.ours.name]: on.theirs.name } }
      : {}),
  }
}

function setJson(set: EntitySet): object {
  const { type } = set
  const bindings = type.navigation.map(({ name, target }) => [name, target.name])
  const restrictions = RESTRICTIONS.map(([term, property]) => [
    `@${CAPABILITIES}.${term}`,
    { [property]: false },
  ])
  return {
    $Collection: true,
    $Type: qualifiedName(type),
    ...(bindings.length === 0 ? {} : { $NavigationPropertyBinding: Object.fromEntries(bindings) }),
    ...Object.fromEntries(restrictions),
    [`@${CAPABILITIES}.ExpandRestrictions`]: { MaxLevels: limits.expandDepth },
    [`@${AGGREGATION}.ApplySupported`]: APPLY,
    [`@${CAPABILITIES}.ChangeTracking`]: { Supported: isTracked(set) },
  }
}

// The $metadata document of a snapshot: written once for each of its forms, and in slices, since that of a thousand sets
// has some megabytes. So has its compressed form, which is cached with it: two kinds in two versions in two codings are
// all there can be, and they are dropped with the snapshot.

interface DocumentForm {
  readonly kind: 'xml' | 'json'
  readonly version: ProtocolVersion
}

const documents = new WeakMap<EntityModel, Map<string, Promise<Buffer>>>()

/** `conventions` are those of the service, the same each time. */
export function metadataDocument(
  model: EntityModel,
  { kind, version }: DocumentForm,
  conventions: Conventions,
): Promise<Buffer> {
  const forms = documents.get(model) ?? new Map<string, Promise<Buffer>>()
  documents.set(model, forms)
  const form = JSON.stringify([kind, version, conventions.keyAsSegment])
  const parts = () => (kind === 'xml' ? csdlXml : csdlJson)(model, version, conventions)
  const document = forms.get(form) ?? joined(parts())
  forms.set(form, document)
  return document
}

async function joined(parts: Iterable<string>): Promise<Buffer> {
  const slices: Buffer[] = []
  for await (const texts of inSlices(parts)) slices.push(Buffer.from(texts.join('')))
  return keepCoded(Buffer.concat(slices))
}
