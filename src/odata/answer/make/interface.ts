// What $metadata says to programs that draw any set by it, such as the list report and the object page of SAP UI5: the
// title of a row, the columns of a list, the fields to filter it by, what a page of one row has, and a first chart.
//
// All of it follows from names, types and what a model says of its columns and measures, so that a set can be drawn of
// which nobody has thought. Only properties of the type are named, and these are what the reader may see.

import { limits } from '../../../core/limits.ts'
import { sameName, splitModelName } from '../../../core/names.ts'
import type { EntitySet, EntityType, MeasureProperty, Property } from '../../edm/model.ts'
import { isGeoName } from '../../edm/geo.ts'
import { isNumberType } from '../../edm/numbers.ts'
import { CONTAINER, NAMESPACE } from '../../edm/types.ts'
import { nounOf, wordsOf } from '../../edm/words.ts'
import type { CsdlElement } from './csdl-xml.ts'
import { AGGREGATION, UI as VOCABULARY } from './vocabulary-names.ts'

const UI = VOCABULARY.alias

/** Annotations of the type of a set. */
export function interfaceOf(set: EntitySet): CsdlElement {
  const { type } = set
  // The key of a rollup is made of the others, and says nothing to people.
  const isHidden = (one: Property) => type.rollup !== undefined && type.key.includes(one)
  const shown = type.properties.filter((one) => isShown(one) && !isHidden(one))
  const title = titleOf(set, shown)
  const chart = chartOf(type)
  return {
    [`@${UI}.HeaderInfo`]: headerOf(set, title),
    [`@${UI}.SelectionFields`]: filterFields(type, shown).map(({ name }) => name),
    [`@${UI}.LineItem`]: listColumns(type, shown, title).map(fieldOf),
    [`@${UI}.Identification`]: shown.map(fieldOf),
    [`@${UI}.Facets`]: sectionsOf(set),
    ...(chart === null ? {} : { [`@${UI}.Chart`]: chart }),
    [`@${UI}.PresentationVariant`]: variantOf(type, chart !== null),
  }
}

/** Structs, lists, bytes and geography have no place in a cell. */
const isShown = ({ type }: Property) =>
  type.kind === 'primitive' && type.name !== 'Edm.Binary' && !isGeoName(type.name)

const fieldOf = ({ name }: Property): CsdlElement => ({
  '@odata.type': `#${UI}.DataField`,
  Value: { $Path: name },
})

function headerOf(set: EntitySet, title: Property | null): CsdlElement {
  const [key] = set.type.key
  const below = title === null || key === undefined || key === title || set.type.rollup ? null : key
  return {
    TypeName: nounOf(set),
    TypeNamePlural: wordsOf(splitModelName(set.relation.model).table),
    ...(title === null ? {} : { Title: fieldOf(title) }),
    ...(below === null ? {} : { Description: fieldOf(below) }),
  }
}

/** What people call a row: the text of its key, a column with the name of a name, or the key. */
function titleOf(set: EntitySet, shown: readonly Property[]): Property | null {
  const [first] = set.type.key
  const text = shown.find(({ name }) => name === first?.column.text)
  const names = [...NAMES, `${nounOf(set)} name`]
  const named = shown.find(
    ({ name, type }) => type.name === 'Edm.String' && names.includes(wordsOf(name)),
  )
  return text ?? named ?? shown.find((one) => one === first) ?? shown[0] ?? null
}

const NAMES = ['Name', 'Title', 'Label', 'Subject']

/** Those first by which people mostly look for rows. Numbers and long texts are rarely among them. */
function filterFields(type: EntityType, shown: readonly Property[]): readonly Property[] {
  const references = new Set(type.navigation.filter((one) => one.holdsKey).map(({ on }) => on.ours))
  const ranks: readonly ((one: Property) => boolean)[] = [
    ({ name }) => type.dimensions.includes(name),
    ({ name }) => name === type.time,
    ({ type: of }) => of.kind === 'primitive' && of.members !== null,
    ({ type: of }) => of.name === 'Edm.Boolean',
    ({ type: of }) => of.name === 'Edm.Date' || of.name === 'Edm.DateTimeOffset',
    (one) => references.has(one),
    ({ type: of }) => of.name === 'Edm.String',
    (one) => type.key.includes(one),
  ]
  return firstOf(shown, ranks, limits.filterFields)
}

/** In the order of the model, which is its author's. Where there are too many, those that say which row it is come first. */
function listColumns(type: EntityType, shown: readonly Property[], title: Property | null) {
  const isBeside = (one: Property) =>
    shown.some(({ column }) => column.text === one.name || isUnit(column.unit, one.name))
  const columns = shown.filter((one) => type.key.includes(one) || one === title || !isBeside(one))
  const ranks: readonly ((one: Property) => boolean)[] = [
    (one) => one === title || type.key.includes(one),
    ({ name }) => name === type.time || type.dimensions.includes(name),
    () => true,
  ]
  const kept = new Set(firstOf(columns, ranks, limits.listColumns))
  return columns.filter((one) => kept.has(one))
}

const isUnit = (unit: string | undefined, name: string) =>
  unit !== undefined && sameName(unit, name)

/** The first `most` by the first rank that each has; those without a rank are left out. */
function firstOf<T>(all: readonly T[], ranks: readonly ((one: T) => boolean)[], most: number) {
  const found = new Set(ranks.flatMap((hasRank) => all.filter(hasRank)))
  return [...found].slice(0, most)
}

/** Of the page of a row: its own fields, and a list for each set whose rows belong to it. */
function sectionsOf(set: EntitySet): readonly CsdlElement[] {
  const section = (Label: string, Target: string): CsdlElement => {
    return { '@odata.type': `#${UI}.ReferenceFacet`, Label, Target }
  }
  const lists = set.type.navigation.filter(({ many }) => many).slice(0, limits.relatedLists)
  return [
    section(nounOf(set), `@${UI}.Identification`),
    ...lists.map(({ name }) => section(wordsOf(name), `${name}/@${UI}.LineItem`)),
  ]
}

/** The first measure that is a number by days, where the time is one, or by the first dimension. */
function chartOf({ name, measures, dimensions, time, properties }: EntityType): CsdlElement | null {
  const measure = measures.find(({ type }) => isNumberType(type))
  const day = properties.find((one) => one.name === time && one.type.name === 'Edm.Date')
  const by = day ?? properties.find((one) => one.name === dimensions[0])
  if (measure === undefined || by === undefined) return null
  return {
    Title: labelOf(measure),
    ChartType: by === day ? 'Line' : 'Column',
    Dimensions: [by.name],
    // A rollup has the value of each of its rows as a property too.
    ...(properties.some((one) => one.name === measure.name)
      ? { Measures: [measure.name] }
      : {
          DynamicMeasures: [
            `/${NAMESPACE}.${CONTAINER}/${name}@${AGGREGATION}.CustomAggregate#${measure.name}`,
          ],
        }),
  }
}

const labelOf = ({ name, measure }: MeasureProperty) => measure.label ?? wordsOf(name)

/** The list, and the chart beside it. What happened last comes first. */
function variantOf({ time }: EntityType, hasChart: boolean): CsdlElement {
  return {
    ...(time === null ? {} : { SortOrder: [{ Property: time, Descending: true }] }),
    Visualizations: [`@${UI}.LineItem`, ...(hasChart ? [`@${UI}.Chart`] : [])],
  }
}
