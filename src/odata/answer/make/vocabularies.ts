// The vocabularies whose terms $metadata uses, served below the service root so that no client is sent to another host.
// Each document declares, after the specification, the terms that are used here and nothing else; the whole
// vocabularies are published by OASIS.

import { odataError } from '../../protocol/errors.ts'

export const CORE = 'Org.OData.Core.V1'
export const CAPABILITIES = 'Org.OData.Capabilities.V1'
export const AGGREGATION = 'Org.OData.Aggregation.V1'

/** Relative to the service root. */
export const vocabularyPath = (name: string, form: 'xml' | 'json') =>
  `${VOCABULARIES_SEGMENT}/${name}.${form}`

/** No entity set has this name: the names of sets have an underscore. */
const VOCABULARIES_SEGMENT = 'vocabularies'

interface ValueType {
  /** A primitive type, or one that is declared here. */
  readonly type: string
  readonly isCollection?: true
}

interface Term extends ValueType {
  readonly appliesTo?: string
  /** A tag that is there without a value is true. */
  readonly isTag?: true
  readonly isNullable?: true
}

interface Vocabulary {
  /** Vocabularies whose types are used. */
  readonly references: readonly string[]
  readonly terms: Readonly<Record<string, Term>>
  readonly complexTypes: Readonly<Record<string, Readonly<Record<string, ValueType>>>>
  /** By their names the types that they stand for. */
  readonly typeDefinitions: Readonly<Record<string, string>>
}

const BOOLEAN: ValueType = { type: 'Edm.Boolean' }
const tag: Term = { type: `${CORE}.Tag`, appliesTo: 'EntityContainer', isTag: true }

/** A term with a record for an entity set. */
const ofSet = (type: string): Term => ({ type, appliesTo: 'EntitySet' })

const vocabularies: Readonly<Record<string, Vocabulary>> = {
  [CORE]: {
    references: [],
    terms: {
      Description: { type: 'Edm.String', isNullable: true },
      ODataVersions: { type: 'Edm.String', appliesTo: 'EntityContainer' },
    },
    complexTypes: {},
    typeDefinitions: { Tag: 'Edm.Boolean' },
  },
  [CAPABILITIES]: {
    references: [CORE],
    terms: {
      BatchContinueOnErrorSupported: tag,
      BatchSupport: { type: `${CAPABILITIES}.BatchSupportType`, appliesTo: 'EntityContainer' },
      ChangeTracking: ofSet(`${CAPABILITIES}.ChangeTrackingType`),
      CrossJoinSupported: tag,
      DeleteRestrictions: ofSet(`${CAPABILITIES}.DeleteRestrictionsType`),
      ExpandRestrictions: ofSet(`${CAPABILITIES}.ExpandRestrictionsType`),
      InsertRestrictions: ofSet(`${CAPABILITIES}.InsertRestrictionsType`),
      KeyAsSegmentSupported: tag,
      SupportedFormats: { type: 'Edm.String', isCollection: true },
      UpdateRestrictions: ofSet(`${CAPABILITIES}.UpdateRestrictionsType`),
    },
    complexTypes: {
      BatchSupportType: {
        ContinueOnErrorSupported: BOOLEAN,
        SupportedFormats: { type: 'Edm.String', isCollection: true },
      },
      ChangeTrackingType: { Supported: BOOLEAN },
      DeleteRestrictionsType: { Deletable: BOOLEAN },
      ExpandRestrictionsType: { MaxLevels: { type: 'Edm.Int32' } },
      InsertRestrictionsType: { Insertable: BOOLEAN },
      UpdateRestrictionsType: { Updatable: BOOLEAN },
    },
    typeDefinitions: {},
  },
  [AGGREGATION]: {
    references: [CORE],
    terms: { ApplySupported: ofSet(`${AGGREGATION}.ApplySupportedType`) },
    complexTypes: {
      ApplySupportedType: {
        Transformations: { type: `${AGGREGATION}.Transformation`, isCollection: true },
        PropertyRestrictions: BOOLEAN,
      },
    },
    typeDefinitions: { Transformation: 'Edm.String' },
  },
}

export const vocabularyNames: readonly string[] = Object.keys(vocabularies)

/** `file` is the name of a vocabulary and its form, as vocabularyPath() gives them. Throws 404. */
export function vocabularyDocument(file: string): string {
  const [, name = '', form] = /^(.+)\.(xml|json)$/.exec(file) ?? []
  if (!Object.hasOwn(vocabularies, name))
    throw odataError(
      'unknown-resource',
      `there is no vocabulary "${file}" here; $metadata refers to ${vocabularyNames.join(', ')}`,
    )
  return (form === 'xml' ? toXml : toJson)(name, vocabularies[name]!)
}

const DESCRIPTION = `${CORE}.Description`
const about = (name: string) =>
  `The terms of ${name} that this service uses. The vocabulary itself: https://oasis-tcs.github.io/odata-vocabularies/vocabularies/${name}.xml`

function toXml(name: string, vocabulary: Vocabulary): string {
  const { references, terms, complexTypes, typeDefinitions } = vocabulary
  const xmlType = ({ type, isCollection }: ValueType) =>
    isCollection ? `Collection(${type})` : type
  return lines([
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="4.0">',
    ...references.map((other) => referenceXml(`${other}.xml`, other)),
    '<edmx:DataServices>',
    `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${name}">`,
    ...Object.entries(terms).map(([term, { appliesTo, isTag, isNullable, ...typed }]) => {
      const nullable = isNullable ? {} : { Nullable: 'false' }
      const fallback = isTag ? { DefaultValue: 'true' } : {}
      const target = appliesTo === undefined ? {} : { AppliesTo: appliesTo }
      const own = { Name: term, Type: xmlType(typed), ...nullable, ...fallback, ...target }
      return `<Term${attributes(own)}/>`
    }),
    ...Object.entries(complexTypes).flatMap(([type, properties]) => [
      `<ComplexType${attributes({ Name: type })}>`,
      ...Object.entries(properties).map(
        ([property, typed]) =>
          `<Property${attributes({ Name: property, Type: xmlType(typed), Nullable: 'false' })}/>`,
      ),
      '</ComplexType>',
    ]),
    ...Object.entries(typeDefinitions).map(
      ([type, of]) => `<TypeDefinition${attributes({ Name: type, UnderlyingType: of })}/>`,
    ),
    `<Annotation${attributes({ Term: DESCRIPTION, String: about(name) })}/>`,
    '</Schema>',
    '</edmx:DataServices>',
    '</edmx:Edmx>',
  ])
}

export const referenceXml = (uri: string, name: string): string =>
  `<edmx:Reference${attributes({ Uri: uri })}><edmx:Include${attributes({ Namespace: name })}/></edmx:Reference>`

export const referenceJson = (uri: string, name: string) =>
  [uri, { $Include: [{ $Namespace: name }] }] as const

function toJson(name: string, vocabulary: Vocabulary): string {
  const { references, terms, complexTypes, typeDefinitions } = vocabulary
  const jsonType = ({ type, isCollection }: ValueType) => ({
    ...(isCollection ? { $Collection: true } : {}),
    $Type: type,
  })
  const mapped = <T>(from: Readonly<Record<string, T>>, to: (value: T) => object) =>
    Object.entries(from).map(([member, value]) => [member, to(value)] as const)
  const members = [
    ...mapped(terms, ({ appliesTo, isTag, isNullable, ...typed }) => ({
      $Kind: 'Term',
      ...jsonType(typed),
      ...(isNullable ? { $Nullable: true } : {}),
      ...(isTag ? { $DefaultValue: true } : {}),
      ...(appliesTo === undefined ? {} : { $AppliesTo: [appliesTo] }),
    })),
    ...mapped(complexTypes, (properties) => ({
      $Kind: 'ComplexType',
      ...Object.fromEntries(mapped(properties, jsonType)),
    })),
    ...mapped(typeDefinitions, (of) => ({ $Kind: 'TypeDefinition', $UnderlyingType: of })),
  ]
  const own = references.map((other) => referenceJson(`${other}.json`, other))
  return JSON.stringify({
    $Version: '4.01',
    ...(own.length === 0 ? {} : { $Reference: Object.fromEntries(own) }),
    [name]: { ...Object.fromEntries(members), [`@${DESCRIPTION}`]: about(name) },
  })
}

// Pieces of XML: what a project says in its names and descriptions cannot break the document.

/** The names need no escapes. */
export const collectionXml = (names: readonly string[]): string =>
  `<Collection>${names.map((name) => `<String>${name}</String>`).join('')}</Collection>`

export const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

export function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join('')
}

const entityOf: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** XML has no way to write the other control characters, nor halves of a character. */
function escapeXml(text: string): string {
  return text
    .replace(/[&<>"\t\n\r]/g, (character) => entityOf[character]!)
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
}
