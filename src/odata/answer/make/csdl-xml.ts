// CSDL JSON as CSDL XML. What a project says in its names and descriptions cannot break the document.

import { escapeXml } from '../../../core/xml.ts'
import { AGGREGATION, UI } from './vocabulary-names.ts'

type CsdlValue =
  boolean | number | string | readonly string[] | readonly CsdlElement[] | CsdlElement

/** An element of CSDL JSON: its facets (`$…`), its annotations (`@…`), and what is declared in it. */
export interface CsdlElement {
  readonly [name: string]: CsdlValue
}

/** To a vocabulary that is used. */
export interface Reference {
  readonly url: string
  readonly name: string
  /** Under which names of it are written. */
  readonly alias?: string
}

/** Everything before what the schema declares. */
export const headXml = (
  version: string,
  references: readonly Reference[],
  namespace: string,
): readonly string[] => [
  '<?xml version="1.0" encoding="UTF-8"?>',
  `<edmx:Edmx xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx" Version="${version}">`,
  ...references.map(
    ({ url: Uri, name: Namespace, alias: Alias }) =>
      `<edmx:Reference${attributes({ Uri })}><edmx:Include${attributes({ Namespace, Alias })}/></edmx:Reference>`,
  ),
  '<edmx:DataServices>',
  `<Schema xmlns="http://docs.oasis-open.org/odata/ns/edm" Namespace="${namespace}">`,
]

export const TAIL_XML: readonly string[] = ['</Schema>', '</edmx:DataServices>', '</edmx:Edmx>']

export const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

/** The lines of an element: what is declared in it is one line each. `tag`: what it is; JSON does not say it of all. */
export function elementXml(name: string, element: CsdlElement, tag = tagOf(element)) {
  const start = `<${tag}${attributes(attributesOf(name, element, tag))}`
  const parts = Object.entries(element)
  const inner = parts
    .filter(([part]) => !isOfAnnotation(part))
    .flatMap(([part, value]) => partXml(part, value, parts))
  return inner.length === 0 ? [`${start}/>`] : [`${start}>`, ...inner, `</${tag}>`]
}

/** In JSON `@Term#name@Other` says something of `@Term#name`, and stands beside it. */
const isOfAnnotation = (part: string) => part.lastIndexOf('@') > 0

const tagOf = ({ $Kind }: CsdlElement) => (typeof $Kind === 'string' ? $Kind : 'Property')

function attributesOf(Name: string, element: CsdlElement, tag: string): Attributes {
  const facets = element as Attributes
  const { $Type: type, $Collection: many, $Nullable: nullable } = facets
  const [AppliesTo] = (element['$AppliesTo'] ?? []) as readonly string[]
  if (tag === 'EntitySet') return { Name, EntityType: type }
  const hasNull = tag === 'Property' || tag === 'Term'
  return {
    Name,
    Type: many === true ? `Collection(${type})` : type,
    // XML has the other default. Of a collection it says whether items may be null, and it has no default.
    Nullable: !hasNull || (nullable === true && many !== true) ? undefined : nullable === true,
    Precision: facets['$Precision'],
    Scale: facets['$Scale'],
    SRID: facets['$SRID'],
    Partner: facets['$Partner'],
    DefaultValue: facets['$DefaultValue'],
    AppliesTo,
    UnderlyingType: facets['$UnderlyingType'],
    BaseType: facets['$BaseType'],
    Abstract: facets['$Abstract'],
  }
}

function partXml(
  name: string,
  value: CsdlValue,
  beside: readonly (readonly [string, CsdlValue])[],
): readonly string[] {
  const pairs = Object.entries(value)
  if (name === '$Key') {
    const keys = pairs.map(([, property]) => `<PropertyRef${attributes({ Name: property })}/>`)
    return [`<Key>${keys.join('')}</Key>`]
  }
  if (name === '$NavigationPropertyBinding')
    return pairs.map(
      ([Path, Target]) => `<NavigationPropertyBinding${attributes({ Path, Target })}/>`,
    )
  if (name === '$ReferentialConstraint')
    return pairs.map(
      ([Property, ReferencedProperty]) =>
        `<ReferentialConstraint${attributes({ Property, ReferencedProperty })}/>`,
    )
  if (name.startsWith('$')) return []
  if (name.startsWith('@')) {
    const about = beside.filter(([part]) => part.startsWith(`${name}@`))
    const within = about.map(([part, said]) => annotationXml(part.slice(name.length), said))
    return [annotationXml(name, value, within)]
  }
  // Of an enumeration.
  if (typeof value === 'number') return [`<Member${attributes({ Name: name, Value: value })}/>`]
  return [elementXml(name, value as CsdlElement).join('')]
}

/** `name` as in JSON, with its `@`; `within`: annotations of this one. */
export function annotationXml(
  name: string,
  value: CsdlValue,
  within: readonly string[] = [],
): string {
  const [Term, Qualifier] = name.slice(1).split('#')
  const written = valueXml('Annotation', { Term, Qualifier }, value)
  if (within.length === 0) return written
  return `${written.replace(/\/>$/, '>')}${within.join('')}</Annotation>`
}

const attributeOf: Readonly<Record<string, string>> = {
  boolean: 'Bool',
  number: 'Int',
  string: 'String',
}

function valueXml(tag: string, named: Attributes, value: CsdlValue): string {
  const kind = kindsOf[String(named['Property'] ?? named['Term'])]
  if (Array.isArray(value)) {
    const items = (value as readonly (string | CsdlElement)[]).map((item) =>
      typeof item === 'string' ? itemXml(kind?.as ?? 'String', item) : recordXml(item),
    )
    return `<${tag}${attributes(named)}><Collection>${items.join('')}</Collection></${tag}>`
  }
  if (typeof value !== 'object') {
    const as = kind?.as ?? attributeOf[typeof value]!
    const text = kind?.of === undefined ? value : `${kind.of}/${value}`
    return `<${tag}${attributes({ ...named, [as]: text })}/>`
  }
  const element = value as CsdlElement
  // The value of another property.
  if ('$Path' in element)
    return `<${tag}${attributes({ ...named, Path: element['$Path'] as string })}/>`
  return `<${tag}${attributes(named)}>${recordXml(element)}</${tag}>`
}

const itemXml = (tag: string, text: string) => `<${tag}>${escapeXml(text, /[&<>]/g)}</${tag}>`

/** In JSON the type of a record is one of its members. */
function recordXml({ [TYPE]: type, ...parts }: CsdlElement): string {
  const Type = typeof type === 'string' ? type.slice(1) : undefined
  const inner = Object.entries(parts).map(([Property, part]) =>
    valueXml('PropertyValue', { Property }, part),
  )
  return `<Record${attributes({ Type })}>${inner.join('')}</Record>`
}

const TYPE = '@odata.type'

/** Terms and properties of records whose values are plain texts in JSON, and more than that in XML. */
const kindsOf: Readonly<Record<string, { readonly as: string; readonly of?: string }>> = {
  [`${AGGREGATION}.LeveledHierarchy`]: { as: 'PropertyPath' },
  ChartType: { as: 'EnumMember', of: `${UI.alias}.ChartType` },
  Dimensions: { as: 'PropertyPath' },
  DynamicMeasures: { as: 'AnnotationPath' },
  Measures: { as: 'PropertyPath' },
  NodeProperty: { as: 'PropertyPath' },
  ParentNavigationProperty: { as: 'NavigationPropertyPath' },
  Property: { as: 'PropertyPath' },
  [`${UI.alias}.SelectionFields`]: { as: 'PropertyPath' },
  Target: { as: 'AnnotationPath' },
  Visualizations: { as: 'AnnotationPath' },
}

type Attributes = Readonly<Record<string, boolean | number | string | undefined>>

function attributes(values: Attributes): string {
  return Object.entries(values)
    .map(([name, value]) =>
      value === undefined ? '' : ` ${name}="${attributeText(String(value))}"`,
    )
    .join('')
}

/** XML has no way to write the other control characters, nor halves of a character. */
const attributeText = (text: string): string =>
  escapeXml(text, /[&<>"\t\n\r]/g).replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
