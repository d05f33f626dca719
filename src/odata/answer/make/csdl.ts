// The $metadata document in both of its forms (CSDL XML 4.01, CSDL JSON 4.01). What it declares is made as JSON has it.
//
// Annotations are few and of vocabularies that the document refers to (vocabularies.ts): clients refuse a document over
// an unknown one. There is no Capabilities.FilterFunctions: without it clients may try all functions and operators, and
// all in the specification are served, or answered with what is unsupported.

import { limits } from '../../../core/limits.ts'
import { sameName } from '../../../core/names.ts'
import type { Column, Shown } from '../../../core/relation.ts'
import { inSlices } from '../../../core/time-slices.ts'
import { keepCoded } from '../../../http/content-coding.ts'
import { storedKeyset } from '../../bind/keyset.ts'
import type {
  EntityModel,
  EntitySet,
  MeasureProperty,
  NavigationProperty,
  Property,
} from '../../edm/model.ts'
import {
  CONTAINER,
  NAMESPACE,
  qualifiedName,
  type ComplexType,
  type EdmType,
} from '../../edm/types.ts'
import { wordsOf } from '../../edm/words.ts'
import { decimalsOf } from '../../../core/number-format.ts'
import { formats } from '../../protocol/formats.ts'
import { formatsFor, type ODataVersion } from '../../protocol/negotiate.ts'
import { servedTransformations } from '../../syntax/transformations.ts'
import {
  annotationXml,
  type CsdlElement,
  elementXml,
  headXml,
  lines,
  TAIL_XML,
} from './csdl-xml.ts'
import { interfaceOf } from './interface.ts'
import { referencesJson, vocabularyReferences } from './vocabularies.ts'
import { AGGREGATION, CAPABILITIES, COMMON, CORE, MEASURES, UI } from './vocabulary-names.ts'
import { type Conventions, usualConventions } from '../../protocol/conventions.ts'

/** Capabilities that a client would otherwise have to guess. */
const abilities = ({ keyAsSegment }: Conventions): CsdlElement => ({
  [`@${CORE}.ODataVersions`]: '4.0 4.01',
  [`@${CAPABILITIES}.BatchContinueOnErrorSupported`]: true,
  [`@${CAPABILITIES}.CrossJoinSupported`]: true,
  [`@${CAPABILITIES}.KeyAsSegmentSupported`]: keyAsSegment,
  [`@${CAPABILITIES}.SupportedFormats`]: formatsFor('collection').map(
    (name) => formats[name].mediaType,
  ),
  // The term of version 4.01 for the first of them.
  [`@${CAPABILITIES}.BatchSupport`]: {
    ContinueOnErrorSupported: true,
    SupportedFormats: ['multipart/mixed', 'application/json'],
  },
})

/** All types by their names; complex types each after those that it is part of. */
function* types(sets: readonly EntitySet[]): Generator<readonly [string, CsdlElement], void> {
  for (const set of sets) yield [set.name, entityType(set)]
  const within = ({ type }: { readonly type: EdmType }): readonly ComplexType[] => {
    const item = itemOf(type)
    return item.kind === 'complex' ? [item, ...item.properties.flatMap(within)] : []
  }
  for (const { type } of sets)
    for (const { name, properties } of type.properties.flatMap(within))
      yield [name, { $Kind: 'ComplexType', ...named(properties, (property) => valueOf(property)) }]
}

const named = <T extends { readonly name: string }>(
  all: readonly T[],
  element: (one: T) => CsdlElement,
) => Object.fromEntries(all.map((one) => [one.name, element(one)]))

/** The type of the values, and for a collection the type of its items. */
const itemOf = (type: EdmType) => (type.kind === 'collection' ? type.item : type)

const described = (description: string | null | undefined): CsdlElement =>
  description == null ? {} : { [`@${CORE}.Description`]: description }

function entityType(set: EntitySet): CsdlElement {
  const { description, key, properties, navigation, hierarchies, levels } = set.type
  return {
    $Kind: 'EntityType',
    ...(key.length === 0 ? {} : { $Key: key.map(({ name }) => name) }),
    ...named(properties, (property) => valueOf(property, properties)),
    ...named(navigation, navigationProperty),
    ...described(description),
    ...Object.fromEntries(
      hierarchies.map(({ name, node, navigation: parent }) => [
        `@${AGGREGATION}.RecursiveHierarchy#${name}`,
        { NodeProperty: node.name, ParentNavigationProperty: parent },
      ]),
    ),
    ...Object.fromEntries(
      levels.map(({ name, columns }) => [`@${AGGREGATION}.LeveledHierarchy#${name}`, columns]),
    ),
    ...interfaceOf(set),
  }
}

function valueOf(
  { type, nullable = true, column }: Pick<Property, 'type'> & Partial<Property>,
  siblings: readonly Pick<Property, 'name'>[] = [],
): CsdlElement {
  const item = itemOf(type)
  const many = type.kind === 'collection'
  return {
    $Type: item.kind === 'complex' ? qualifiedName(item) : item.name,
    ...(many ? { $Collection: true } : {}),
    ...(nullable || many ? { $Nullable: true } : {}),
    ...(item.precision === null ? {} : { $Precision: item.precision }),
    ...(item.scale === null ? {} : { $Scale: item.scale }),
    ...(item.kind === 'primitive' && item.srid !== undefined ? { $SRID: item.srid } : {}),
    ...described(column?.description),
    ...(column === undefined ? {} : columnAs(column, item, siblings)),
  }
}

/** A column without a label is called after its name. */
function columnAs(
  column: Column,
  { name, scale }: EdmType,
  siblings: readonly Pick<Property, 'name'>[],
): CsdlElement {
  // How a number is shown has a term where it says no more than how many digits come after the point.
  const digits = decimalsOf(column.format ?? '')
  const isNarrower = name === 'Edm.Decimal' && digits !== undefined && digits <= (scale ?? 0)
  const label = column.label ?? wordsOf(column.name)
  return {
    ...shownAs({ ...column, ...(label === column.name ? {} : { label }) }, siblings),
    ...(isNarrower ? { [`@${MEASURES}.Scale`]: digits } : {}),
  }
}

/** What it is called, in what it is measured, and where a text for people is. `siblings`: the other properties. */
function shownAs(
  { label, unit, text }: Shown & { readonly text?: string },
  siblings: readonly Pick<Property, 'name'>[],
): CsdlElement {
  const path = siblings.find(({ name }) => unit !== undefined && sameName(name, unit))?.name
  const term =
    /^[A-Z]{3}$/.test(unit ?? '') || /currency/i.test(path ?? '') ? 'ISOCurrency' : 'Unit'
  const isTextThere = siblings.some(({ name }) => name === text)
  return {
    ...(label === undefined ? {} : { [`@${COMMON}.Label`]: label }),
    ...(unit === undefined
      ? {}
      : { [`@${MEASURES}.${term}`]: path === undefined ? unit : { $Path: path } }),
    ...(text === undefined || !isTextThere ? {} : { [`@${COMMON}.Text`]: { $Path: text } }),
  }
}

/** Those of which a set or a property of the model says something, besides the ones that each document uses. */
function* moreVocabularies({ sets }: EntityModel): Generator<string> {
  const shown = [...sets.values()].flatMap(({ type }) => [
    ...type.properties.map(({ column }) => column),
    ...type.measures.map(({ measure }) => measure),
  ])
  if (sets.size > 0) yield* [COMMON, UI.name]
  if (shown.some(({ unit, format }) => unit !== undefined || format !== undefined)) yield MEASURES
}

function navigationProperty({ target, many, holdsKey, on, partner }: NavigationProperty) {
  // A constraint is between properties of one type, on the side that holds the other's key.
  const hasConstraint = holdsKey && on.ours.type.engine === on.theirs.type.engine
  return {
    $Kind: 'NavigationProperty',
    $Type: qualifiedName(target.type),
    ...(many ? { $Collection: true } : { $Nullable: true }),
    $Partner: partner,
    ...(hasConstraint ? { $ReferentialConstraint: { [on.ours.name]: on.theirs.name } } : {}),
  }
}

function entitySet(set: EntitySet): CsdlElement {
  const { type } = set
  const bindings = type.navigation.map(({ name, target }) => [name, target.name] as const)
  return {
    $Collection: true,
    $Type: qualifiedName(type),
    ...(bindings.length === 0 ? {} : { $NavigationPropertyBinding: Object.fromEntries(bindings) }),
    [`@${CAPABILITIES}.InsertRestrictions`]: { Insertable: false },
    [`@${CAPABILITIES}.UpdateRestrictions`]: { Updatable: false },
    [`@${CAPABILITIES}.DeleteRestrictions`]: { Deletable: false },
    [`@${CAPABILITIES}.ExpandRestrictions`]: { MaxLevels: limits.expandDepth },
    [`@${AGGREGATION}.ApplySupported`]: {
      Transformations: servedTransformations,
      PropertyRestrictions: false,
    },
    ...Object.fromEntries(type.measures.flatMap(customAggregate)),
    // Changes can be tracked where a key says which rows of two snapshots are the same.
    [`@${CAPABILITIES}.ChangeTracking`]: {
      Supported: storedKeyset(set, { alias: 'it', set }) !== null,
    },
  }
}

/** A measure by its name, with its type, and what it means. */
function customAggregate({ name, type, measure }: MeasureProperty): readonly CsdlMember[] {
  const term = `@${AGGREGATION}.CustomAggregate#${name}`
  const said = Object.entries({ ...described(measure.description), ...shownAs(measure, []) })
  return [[term, type.name], ...said.map(([about, text]): CsdlMember => [`${term}${about}`, text])]
}

type CsdlMember = readonly [name: string, value: CsdlElement[string]]

/** The document in parts. `version` is the one that it names. */
export function* csdlXml(
  model: EntityModel,
  version: ODataVersion,
  conventions = usualConventions,
): Generator<string, void> {
  const sets = [...model.sets.values()]
  yield lines(headXml(version, vocabularyReferences('xml', moreVocabularies(model)), NAMESPACE))
  for (const [name, type] of types(sets)) yield lines(elementXml(name, type))
  yield lines([`<EntityContainer Name="${CONTAINER}">`])
  for (const set of sets) yield lines(elementXml(set.name, entitySet(set), 'EntitySet'))
  const annotations = Object.entries(abilities(conventions))
  yield lines([
    ...annotations.map(([name, value]) => annotationXml(name, value)),
    '</EntityContainer>',
    ...TAIL_XML,
  ])
}

export function* csdlJson(
  model: EntityModel,
  version: ODataVersion,
  conventions = usualConventions,
): Generator<string, void> {
  const sets = [...model.sets.values()]
  const member = (name: string, value: unknown) =>
    `${JSON.stringify(name)}:${JSON.stringify(value)}`
  const head = {
    $Version: version,
    $Reference: referencesJson(vocabularyReferences('json', moreVocabularies(model))),
    $EntityContainer: `${NAMESPACE}.${CONTAINER}`,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"${NAMESPACE}":{`
  for (const [name, type] of types(sets)) yield `${member(name, type)},`
  yield `"${CONTAINER}":{${member('$Kind', 'EntityContainer')}`
  for (const set of sets) yield `,${member(set.name, entitySet(set))}`
  for (const [name, value] of Object.entries(abilities(conventions)))
    yield `,${member(name, value)}`
  yield '}}}'
}

interface DocumentForm {
  readonly kind: 'xml' | 'json'
  readonly version: ODataVersion
}

const documents = new WeakMap<EntityModel, Map<string, Promise<Buffer>>>()

/**
 * The document of a snapshot is written once for each of its forms, and in slices, since that of a thousand sets has some
 * megabytes. So has its compressed form, which is cached with it: two kinds in two versions in two codings are all there
 * can be, and they are dropped with the snapshot. `conventions` are those of the service, the same each time.
 */
export function metadataDocument(
  model: EntityModel,
  { kind, version }: DocumentForm,
  conventions: Conventions,
): Promise<Buffer> {
  const forms = documents.get(model) ?? new Map<string, Promise<Buffer>>()
  documents.set(model, forms)
  const form = JSON.stringify([kind, version, conventions])
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
