// Measures and dimensions of exposed sets as a semantic model of Apache Ossie, formerly OSI: version 0.1.1, the newest that
// does not change any more.

import { isSymbol, nameOf, tokenize } from '../../compiler/sql/tokens.ts'
import type { Measure } from '../../core/meaning.ts'
import { entitySetName, foldCase } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { Exported, ExposedModel } from '../format.ts'

export function writeSemanticModel({ name, models, url }: Exported): object {
  const names = models.flatMap(measuresOf).map((measure) => foldCase(measure.name))
  const isShared = (measure: Measure) =>
    names.filter((one) => one === foldCase(measure.name)).length > 1
  const metrics = models.flatMap((model) =>
    measuresOf(model).map((measure) => metricOf(model, measure, isShared(measure))),
  )
  const relationships = models.flatMap((model) => relationshipsOf(model, models))
  const semanticModel = {
    name,
    description: `The sets of ${url}`,
    datasets: models.map((model) => datasetOf(name, model)),
    ...(relationships.length === 0 ? {} : { relationships }),
    ...(metrics.length === 0 ? {} : { metrics }),
  }
  return { version: '0.1.1', semantic_model: [semanticModel] }
}

const measuresOf = ({ meaning }: ExposedModel): readonly Measure[] => meaning?.measures ?? []

const ansi = (expression: string) => ({ dialects: [{ dialect: 'ANSI_SQL', expression }] })

/** What the format has no member for: one that it leaves to everybody. */
const extension = (data: object) => ({
  custom_extensions: [{ vendor_name: 'COMMON', data: JSON.stringify({ eider: data }) }],
})

function datasetOf(project: string, model: ExposedModel): object {
  const { name, description, expose, columns } = model
  return {
    name: entitySetName(name),
    source: `${project}.${name}`,
    ...(expose.key.length === 0 ? {} : { primary_key: expose.key }),
    ...(description === null ? {} : { description }),
    fields: columns.map((column) => fieldOf(column, model)),
  }
}

function fieldOf(column: Column, { meaning }: ExposedModel): object {
  const { name, label, description, unit, format } = column
  const isTime = meaning?.time === name
  const isDimension = meaning?.dimensions.includes(name) === true
  const also = isTime && isDimension ? { also: 'dimension' } : {}
  const more = { ...(unit && { unit }), ...(format && { format }), ...also }
  return {
    name,
    expression: ansi(quoted(name)),
    ...(isTime || isDimension ? { dimension: { is_time: isTime } } : {}),
    ...(label === undefined ? {} : { label }),
    ...(description === undefined ? {} : { description }),
    ...(Object.keys(more).length === 0 ? {} : extension(more)),
  }
}

function metricOf(model: ExposedModel, measure: Measure, isShared: boolean): object {
  const { name, text, description, label, unit, format } = measure
  const set = entitySetName(model.name)
  const sql = qualified(measure.sql, set, model.columns)
  const shown = { ...(label && { label }), ...(unit && { unit }), ...(format && { format }) }
  return {
    name: isShared ? `${set}_${name}` : name,
    expression: ansi(sql),
    ...(description === undefined ? {} : { description }),
    ...extension({ dataset: set, measure: name, text, sql, ...shown }),
  }
}

/** Words that are no names without quotes. */
export const reserved: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create default
  deferrable desc describe distinct do else end except false fetch for foreign from group having in initially intersect
  into lambda lateral leading limit not null offset on only or order pivot pivot_longer pivot_wider placing primary
  qualify references returning select show some summarize symmetric table then to trailing true union unique unpivot
  using variadic when where window with`.split(/\s+/),
)

const quoted = (name: string) =>
  /^[A-Za-z_]\w*$/.test(name) && !reserved.has(foldCase(name))
    ? name
    : `"${name.replaceAll('"', '""')}"`

/** The SQL of a measure with the set before each name of a column. */
function qualified(text: string, set: string, columns: readonly Column[]): string {
  const known = new Set(columns.map(({ name }) => foldCase(name)))
  const tokens = tokenize(text)
  let found = ''
  let at = 0
  for (const [i, token] of tokens.entries()) {
    const name = token.kind === 'string' ? null : nameOf(token)
    const isColumn = name !== null && known.has(foldCase(name)) && !isSymbol(tokens[i + 1], '(')
    if (!isColumn || isSymbol(tokens[i - 1], '.')) continue
    found += `${text.slice(at, token.start)}${quoted(set)}.`
    at = token.start
  }
  return found + text.slice(at)
}

function relationshipsOf(
  { name, checks }: ExposedModel,
  models: readonly ExposedModel[],
): readonly object[] {
  return checks.flatMap(({ test, on }) => {
    if (test.is !== 'references' || on !== undefined) return []
    if (!models.some((model) => model.name === test.model)) return []
    const [from, to] = [entitySetName(name), entitySetName(test.model)]
    const columns = { from_columns: [test.column], to_columns: [test.target] }
    return [{ name: `${from}_${test.column}`, from, to, ...columns }]
  })
}
