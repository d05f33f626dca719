// The vocabularies whose terms $metadata uses, served below the service root so that no client is sent to another host.
// Each document declares, after the specification, the terms that are used here and nothing else; the whole
// vocabularies are published by OASIS.

import {
  annotationXml,
  type CsdlElement,
  elementXml,
  headXml,
  lines,
  TAIL_XML,
} from './csdl-xml.ts'
import { unknownResource } from '../../protocol/errors.ts'

export const CORE = 'Org.OData.Core.V1'
export const CAPABILITIES = 'Org.OData.Capabilities.V1'
export const AGGREGATION = 'Org.OData.Aggregation.V1'
export const MEASURES = 'Org.OData.Measures.V1'
export const COMMON = 'com.sap.vocabularies.Common.v1'

interface Vocabulary {
  /** Vocabularies whose types are used. */
  readonly references: readonly string[]
  readonly elements: CsdlElement
}

const BOOLEAN = { $Type: 'Edm.Boolean' }
const TEXTS = { $Collection: true, $Type: 'Edm.String' }
const OF_CONTAINER = { $AppliesTo: ['EntityContainer'] }
/** One that is there without a value is true. */
const tag = { $Kind: 'Term', $Type: `${CORE}.Tag`, $DefaultValue: true, ...OF_CONTAINER }

/** A term with a record for an entity set. */
const ofSet = (type: string) => ({ $Kind: 'Term', $Type: type, $AppliesTo: ['EntitySet'] })

const record = (properties: CsdlElement) => ({ $Kind: 'ComplexType', ...properties })

const vocabularies: Readonly<Record<string, Vocabulary>> = {
  [CORE]: {
    references: [],
    elements: {
      Description: { $Kind: 'Term', $Type: 'Edm.String', $Nullable: true },
      ODataVersions: { $Kind: 'Term', $Type: 'Edm.String', ...OF_CONTAINER },
      Tag: { $Kind: 'TypeDefinition', $UnderlyingType: 'Edm.Boolean' },
    },
  },
  [CAPABILITIES]: {
    references: [CORE],
    elements: {
      BatchContinueOnErrorSupported: tag,
      BatchSupport: { $Kind: 'Term', $Type: `${CAPABILITIES}.BatchSupportType`, ...OF_CONTAINER },
      ChangeTracking: ofSet(`${CAPABILITIES}.ChangeTrackingType`),
      CrossJoinSupported: tag,
      DeleteRestrictions: ofSet(`${CAPABILITIES}.DeleteRestrictionsType`),
      ExpandRestrictions: ofSet(`${CAPABILITIES}.ExpandRestrictionsType`),
      InsertRestrictions: ofSet(`${CAPABILITIES}.InsertRestrictionsType`),
      KeyAsSegmentSupported: tag,
      SupportedFormats: { $Kind: 'Term', ...TEXTS },
      UpdateRestrictions: ofSet(`${CAPABILITIES}.UpdateRestrictionsType`),
      BatchSupportType: record({ ContinueOnErrorSupported: BOOLEAN, SupportedFormats: TEXTS }),
      ChangeTrackingType: record({ Supported: BOOLEAN }),
      DeleteRestrictionsType: record({ Deletable: BOOLEAN }),
      ExpandRestrictionsType: record({ MaxLevels: { $Type: 'Edm.Int32' } }),
      InsertRestrictionsType: record({ Insertable: BOOLEAN }),
      UpdateRestrictionsType: record({ Updatable: BOOLEAN }),
    },
  },
  [AGGREGATION]: {
    references: [CORE],
    elements: {
      ApplySupported: ofSet(`${AGGREGATION}.ApplySupportedType`),
      CustomAggregate: ofSet('Edm.String'),
      RecursiveHierarchy: {
        $Kind: 'Term',
        $Type: `${AGGREGATION}.RecursiveHierarchyType`,
        $AppliesTo: ['EntityType'],
      },
      ApplySupportedType: record({
        Transformations: { $Collection: true, $Type: `${AGGREGATION}.Transformation` },
        PropertyRestrictions: BOOLEAN,
      }),
      RecursiveHierarchyType: record({
        NodeProperty: { $Type: 'Edm.PropertyPath' },
        ParentNavigationProperty: { $Type: 'Edm.NavigationPropertyPath' },
      }),
      Transformation: { $Kind: 'TypeDefinition', $UnderlyingType: 'Edm.String' },
    },
  },
  [MEASURES]: {
    references: [CORE],
    elements: {
      ISOCurrency: { $Kind: 'Term', $Type: 'Edm.String' },
      Unit: { $Kind: 'Term', $Type: 'Edm.String' },
    },
  },
  [COMMON]: {
    references: [CORE],
    elements: {
      Label: { $Kind: 'Term', $Type: 'Edm.String' },
      Text: { $Kind: 'Term', $Type: 'Edm.String', $Nullable: true },
    },
  },
}

const names = Object.keys(vocabularies)
const always = [CORE, CAPABILITIES, AGGREGATION]

/** What $metadata refers to: the URL of each, relative to the service root, and its name. */
export const vocabularyReferences = (form: 'xml' | 'json', more: Iterable<string>) =>
  // No entity set has the name of the directory: the names of sets have an underscore.
  [...always, ...more].map((name) => [`vocabularies/${name}.${form}`, name] as const)

/** `file` is the name of a vocabulary and its form. Throws 404. */
export function vocabularyDocument(file: string): string {
  const [, name = '', form] = /^(.+)\.(xml|json)$/.exec(file) ?? []
  if (!Object.hasOwn(vocabularies, name))
    throw unknownResource(
      `there is no vocabulary "${file}" here; $metadata refers to ${names.join(', ')}`,
    )
  const { references, elements } = vocabularies[name]!
  const used = references.map((other) => [`${other}.${form}`, other] as const)
  const description = `@${CORE}.Description`
  const about = `The terms of ${name} that this service uses. The vocabulary itself: ${urlOf(name)}`
  if (form === 'json')
    return JSON.stringify({
      $Version: '4.01',
      ...(used.length === 0 ? {} : { $Reference: referencesJson(used) }),
      [name]: { ...elements, [description]: about },
    })
  const declared = Object.entries(elements).flatMap(([each, element]) =>
    elementXml(each, element as CsdlElement),
  )
  return lines([
    ...headXml('4.0', used, name),
    ...declared,
    annotationXml(description, about),
    ...TAIL_XML,
  ])
}

const urlOf = (name: string) =>
  name === COMMON
    ? 'https://sap.github.io/odata-vocabularies/vocabularies/Common.xml'
    : `https://oasis-tcs.github.io/odata-vocabularies/vocabularies/${name}.xml`

export const referencesJson = (references: readonly (readonly [url: string, name: string])[]) =>
  Object.fromEntries(
    references.map(([url, name]) => [url, { $Include: [{ $Namespace: name }] }] as const),
  )
