// The vocabularies whose terms $metadata uses, served below the service root so that no client is sent to another host.
// Each document declares, after the specification, the terms that are used here and nothing else; the whole
// vocabularies are published by OASIS.

import {
  annotationXml,
  type CsdlElement,
  elementXml,
  headXml,
  lines,
  type Reference,
  TAIL_XML,
} from './csdl-xml.ts'
import { unknownResource } from '../../protocol/errors.ts'
import {
  AGGREGATION,
  CAPABILITIES,
  COMMON,
  CORE,
  MEASURES,
  UI as INTERFACE,
} from './vocabulary-names.ts'

const UI = INTERFACE.name

interface Vocabulary {
  /** Vocabularies whose types are used. */
  readonly references: readonly string[]
  readonly elements: CsdlElement
}

const BOOLEAN = { $Type: 'Edm.Boolean' }
const MAYBE_TEXT = { $Type: 'Edm.String', $Nullable: true }
const many = (type: string) => ({ $Collection: true, $Type: type })
const TEXTS = many('Edm.String')
const OF_CONTAINER = { $AppliesTo: ['EntityContainer'] }
/** One that is there without a value is true. */
const tag = { $Kind: 'Term', $Type: `${CORE}.Tag`, $DefaultValue: true, ...OF_CONTAINER }

/** A term with a record for an entity set. */
const ofSet = (type: string) => ({ $Kind: 'Term', $Type: type, $AppliesTo: ['EntitySet'] })

/** A term of an entity type; with a collection of values where `isMany`. */
const ofType = (type: string, isMany = false) => ({
  $Kind: 'Term',
  ...(isMany ? many(type) : { $Type: type }),
  $AppliesTo: ['EntityType'],
})

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
      LeveledHierarchy: ofType('Edm.PropertyPath', true),
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
      Scale: { $Kind: 'Term', $Type: 'Edm.Byte' },
      Unit: { $Kind: 'Term', $Type: 'Edm.String' },
    },
  },
  [COMMON]: {
    references: [CORE],
    elements: {
      Label: { $Kind: 'Term', $Type: 'Edm.String' },
      Text: { $Kind: 'Term', $Type: 'Edm.String', $Nullable: true },
      SortOrderType: record({ Property: { $Type: 'Edm.PropertyPath' }, Descending: BOOLEAN }),
    },
  },
  [UI]: {
    references: [COMMON],
    elements: {
      Chart: ofType(`${UI}.ChartDefinitionType`),
      Facets: ofType(`${UI}.Facet`, true),
      HeaderInfo: ofType(`${UI}.HeaderInfoType`),
      Identification: ofType(`${UI}.DataFieldAbstract`, true),
      LineItem: ofType(`${UI}.DataFieldAbstract`, true),
      PresentationVariant: ofType(`${UI}.PresentationVariantType`),
      SelectionFields: ofType('Edm.PropertyPath', true),
      ChartDefinitionType: record({
        Title: MAYBE_TEXT,
        ChartType: { $Type: `${UI}.ChartType` },
        Measures: many('Edm.PropertyPath'),
        DynamicMeasures: many('Edm.AnnotationPath'),
        Dimensions: many('Edm.PropertyPath'),
      }),
      ChartType: { $Kind: 'EnumType', Column: 0, Line: 18 },
      DataFieldAbstract: record({ $Abstract: true, Label: MAYBE_TEXT }),
      DataField: record({ $BaseType: `${UI}.DataFieldAbstract`, Value: { $Type: 'Edm.Untyped' } }),
      Facet: record({ $Abstract: true, ID: MAYBE_TEXT, Label: MAYBE_TEXT }),
      HeaderInfoType: record({
        TypeName: { $Type: 'Edm.String' },
        TypeNamePlural: { $Type: 'Edm.String' },
        Title: { $Type: `${UI}.DataFieldAbstract`, $Nullable: true },
        Description: { $Type: `${UI}.DataFieldAbstract`, $Nullable: true },
      }),
      PresentationVariantType: record({
        SortOrder: many(`${COMMON}.SortOrderType`),
        Visualizations: many('Edm.AnnotationPath'),
      }),
      ReferenceFacet: record({
        $BaseType: `${UI}.Facet`,
        Target: { $Type: 'Edm.AnnotationPath' },
      }),
    },
  },
}

const names = Object.keys(vocabularies)
const always = [CORE, CAPABILITIES, AGGREGATION]

/** What $metadata refers to: the URL of each, relative to the service root. */
export const vocabularyReferences = (form: 'xml' | 'json', more: Iterable<string>) =>
  // No entity set has the name of the directory: the names of sets have an underscore.
  [...always, ...more].map((name): Reference => {
    const of = { url: `vocabularies/${name}.${form}`, name }
    return name === UI ? { ...of, alias: INTERFACE.alias } : of
  })

/** `file` is the name of a vocabulary and its form. Throws 404. */
export function vocabularyDocument(file: string): string {
  const [, name = '', form] = /^(.+)\.(xml|json)$/.exec(file) ?? []
  if (!Object.hasOwn(vocabularies, name))
    throw unknownResource(
      `there is no vocabulary "${file}" here; $metadata refers to ${names.join(', ')}`,
    )
  const { references, elements } = vocabularies[name]!
  const used = references.map((name): Reference => ({ url: `${name}.${form}`, name }))
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

const OF_SAP = /^com\.sap\.vocabularies\.(\w+)\.v1$/

const urlOf = (name: string) =>
  OF_SAP.test(name)
    ? `https://sap.github.io/odata-vocabularies/vocabularies/${name.replace(OF_SAP, '$1')}.xml`
    : `https://oasis-tcs.github.io/odata-vocabularies/vocabularies/${name}.xml`

export const referencesJson = (references: readonly Reference[]) =>
  Object.fromEntries(
    references.map(({ url, name, alias }) => {
      const aliased = alias === undefined ? {} : { $Alias: alias }
      return [url, { $Include: [{ $Namespace: name, ...aliased }] }] as const
    }),
  )
