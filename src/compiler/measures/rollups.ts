// `@rollup month, country` makes another model: the measures of this one by a grain of its time and by dimensions. It is
// written as a file would be, and everything after this takes it for one, so it is planned, kept up to date, published and
// served as other tables are.
//
// What is stored are parts that can be added up: sums, counts, least and greatest values. A ratio or an average is stored
// as a value for those who read rows, and with its parts for those who add rows up. A value that no parts give, such as a
// count of different ones, is stored as it is, and nobody is given a sum of it.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { type Model, type TimeUnit, timeUnits } from '../../core/model.ts'
import {
  foldCase,
  isODataIdentifier,
  type ModelName,
  parseModelName,
  sameName,
} from '../../core/names.ts'
import type { ModelFile, ProjectFiles } from '../../core/project.ts'
import { columnType } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Variables } from '../../core/variables.ts'
import { type ModelHeader, parseHeader } from '../annotations/annotations.ts'
import type { NamedColumn } from '../annotations/reader.ts'
import { shownAs } from '../sql/named-columns.ts'
import { statementsOf } from '../sql/tokens.ts'
import { type StoredMeasure, storedMeasures } from './parts.ts'

/** The files with a model for each rollup, and what is wrong with those that make none. */
export function withRollups(files: ProjectFiles): ProjectFiles {
  const made = files.models.flatMap((file) =>
    file.source.text.includes('@rollup') ? rollupsOf(file, files.variables ?? new Map()) : [],
  )
  if (made.length === 0) return files
  const models = made.flatMap((one) => ('code' in one ? [] : [one]))
  const problems = made.flatMap((one) => ('code' in one ? [one] : []))
  return {
    ...files,
    models: [...files.models, ...models],
    ...(problems.length === 0 ? {} : { problems: [...(files.problems ?? []), ...problems] }),
  }
}

interface Rollup {
  readonly file: ModelFile
  readonly header: ModelHeader
  readonly span: Span
  readonly grain: TimeUnit | null
  readonly dimensions: readonly string[]
  /** The name of its key. */
  readonly id: string
  readonly measures: readonly StoredMeasure[]
}

function rollupsOf(file: ModelFile, variables: Variables): readonly (ModelFile | Diagnostic)[] {
  const { source } = file
  const { header } = parseHeader(source, statementsOf(source).header)
  return (header.rollup ?? []).map(({ value, span }) => {
    const by = groupsOf(value, header, source)
    if ('code' in by) return by
    const { grain, dimensions } = by
    const groups = [...(grain === null ? [] : [grain]), ...dimensions]
    const id = groups.some((name) => sameName(name, 'id')) ? 'rollup_id' : 'id'
    const measures = storedMeasures(source, header, variables, [...groups, id])
    const wrong = (problem: string, hint: string) =>
      diagnostic('invalid-rollup', { problem }, { source, span }, hint)
    if (measures.length === 0)
      return wrong(
        'a rollup adds up measures, and this model has none',
        'such as -- @measure orders: count(*)',
      )
    const clash = measures.find(({ name }) => [...groups, id].some((one) => sameName(one, name)))
    if (clash !== undefined)
      return wrong(
        `the measure "${clash.name}" has the name of another column of the rollup`,
        'rename the measure',
      )
    const made = fileOf({ file, header, span, id, measures, ...by }, groups)
    return made ?? wrong('no model can have the name of this rollup', 'rename a dimension')
  })
}

function groupsOf(
  named: readonly NamedColumn[],
  { dimension = [], time }: ModelHeader,
  source: SourceFile,
): Pick<Rollup, 'grain' | 'dimensions'> | Diagnostic {
  const known = dimension.flatMap(({ value }) => value.map(({ name }) => name))
  const dimensions: string[] = []
  let grain: TimeUnit | null = null
  for (const { name, span } of named) {
    const wrong = (problem: string, hint: string) =>
      diagnostic('invalid-rollup', { problem }, { source, span }, hint)
    const found = known.find((one) => sameName(one, name))
    const unit = timeUnits.find((one) => sameName(one, name))
    if (dimensions.some((one) => sameName(one, name)) || (grain !== null && grain === unit))
      return wrong(`"${name}" is named twice`, 'name each part once')
    if (found !== undefined) dimensions.push(found)
    else if (unit === undefined) {
      const hint = `write -- @dimension ${name}, or take a grain: ${timeUnits.join(', ')}`
      return wrong(`"${name}" is neither a dimension of this model nor a grain of time`, hint)
    } else if (time === undefined)
      return wrong(`a rollup by ${name} needs the time of a row`, 'such as -- @time ordered_at')
    else if (grain !== null)
      return wrong(`a rollup has one grain, and this one has ${grain}`, 'write two rollups')
    else grain = unit
  }
  return { grain, dimensions }
}

function fileOf(rollup: Rollup, groups: readonly string[]): ModelFile | null {
  const { file, span, measures } = rollup
  const name = parseModelName(`${file.name}_by_${groups.map(foldCase).join('_')}`)
  if (name === null || !groups.every(isODataIdentifier)) return null
  const never = measures.filter(({ isSum }) => !isSum)
  return {
    name,
    source: {
      path: `${file.source.path} @rollup ${groups.join(', ')}`,
      text: `${[...headerOf(rollup, groups), ''].join('\n')}\n${selectOf(rollup).inline()}\n`,
    },
    rollup: {
      of: file.name,
      place: { source: file.source, span },
      never: never.map((measure) => ({ name: measure.name, isMeasure: measure.again !== null })),
    },
  }
}

const quoted = (name: string) => sql.ident(name).inline()

function headerOf(
  { header, grain, dimensions, id, measures }: Rollup,
  groups: readonly string[],
): readonly string[] {
  const shown = (name: string) =>
    Object.entries(shownAs(header, name)).map(([is, text]) => {
      const annotation = is === 'description' ? 'column' : is
      return `-- @${annotation} ${quoted(name)}: ${text}`
    })
  const { description, tags, owner } = header
  const again = measures.filter((measure) => measure.again !== null)
  return [
    `-- @expose ${quoted(id)}`,
    ...(description === undefined
      ? []
      : [`-- @description: ${description.value}, by ${groups.join(', ')}`]),
    ...(tags === undefined
      ? []
      : [`-- @tags: ${tags.value.map(({ name }) => quoted(name)).join(', ')}`]),
    ...(owner === undefined ? [] : [`-- @owner: ${owner.value}`]),
    ...(dimensions.length === 0 ? [] : [`-- @dimension ${dimensions.map(quoted).join(', ')}`]),
    ...(grain === null ? [] : [`-- @time ${quoted(grain)}`]),
    ...again.map((measure) => `-- @measure ${quoted(measure.name)}: ${measure.again}`),
    ...[...dimensions, ...measures.map(({ name }) => name)].flatMap(shown),
    `-- @column ${quoted(id)}: The key of a group, made of its values`,
  ]
}

const [DATE, VARCHAR] = [columnType('DATE'), columnType('VARCHAR')]

function selectOf({ file, header, grain, dimensions, id, measures }: Rollup): Sql {
  const groups = [
    ...(grain === null ? [] : [{ name: grain, value: grainOf(grain, header.time!.value.name) }]),
    ...dimensions.map((name) => ({ name, value: sql.ident(name) })),
  ]
  // A value of a group may be NULL, and one of a key may not.
  const key = sql`md5(CAST(json_array(${sql.join(groups.map(({ value }) => value))}) AS ${sql.type(VARCHAR)}))`
  const columns = [
    { name: id, value: key },
    ...groups,
    ...measures.flatMap((measure) => measure.columns),
  ]
  const items = columns.map(({ name, value }) => sql`${value} AS ${sql.ident(name)}`)
  return sql`SELECT
  ${sql.join(items, sql`,\n  `)}
FROM ${sql.relation(file.name)}
GROUP BY ${sql.join(groups.map(({ value }) => value))}`
}

function grainOf(grain: TimeUnit, time: string): Sql {
  const start = sql`date_trunc(${sql.value(grain)}, ${sql.ident(time)})`
  return grain === 'hour' ? start : sql`CAST(${start} AS ${sql.type(DATE)})`
}

/** A model that differs from one reading to the next gives a rollup that is that of none of them. */
export function volatileRollups(
  { models: files }: ProjectFiles,
  models: ReadonlyMap<ModelName, Model>,
): readonly Diagnostic[] {
  const isVolatile = (name: ModelName): boolean => {
    const model = models.get(name)
    if (model === undefined) return false
    return model.volatile || (model.kind === 'view' && model.dependsOn.some(isVolatile))
  }
  return files.flatMap(({ rollup }): readonly Diagnostic[] => {
    if (rollup === undefined || !isVolatile(rollup.of)) return []
    const problem = `${rollup.of} may have other rows each time it is read, so a rollup of it would be that of none of them`
    const hint = 'take the time, or what is random, from columns of a table'
    return [diagnostic('invalid-rollup', { problem }, rollup.place, hint)]
  })
}
