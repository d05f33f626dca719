// What is told of sets: the list of all, and one of them with its columns, checks, freshness and lineage. Plain lines,
// since they take a third of the tokens that JSON takes.

import type { Catalog, CatalogModel } from '../core/catalog.ts'
import { limits } from '../core/limits.ts'
import { entitySetName } from '../core/names.ts'
import type { PublishedRelation, Snapshot } from '../core/snapshot.ts'
import { didYouMean } from '../core/suggest.ts'
import type { SeenState, SetShape } from '../http/side-door.ts'
import { ToolMistake } from './arguments.ts'

/** The sets with a name, a description, a column or a measure that has the text in it; all with an empty text. */
export function listText({ snapshot, shapeOf }: SeenState, search: string): string {
  const sets = snapshot.relations
    .map((relation): Listed => {
      const measures = shapeOf(entitySetName(relation.model))?.measures ?? []
      return { ...relation, measures: measures.map(({ name }) => name) }
    })
    .filter((one) => isAbout(one, search.toLowerCase()))
  const head = headOf(snapshot, `${sets.length} sets${search === '' ? '' : ' found'}`)
  const room = limits.assistantListBytes - Buffer.byteLength(head)
  for (const line of FORMS) {
    const lines = sets.map(line)
    if (bytesOf(lines) <= room) return [head, ...lines].join('\n')
  }
  const names = sets.map(({ model }) => entitySetName(model))
  return [head, ...fitted(names, room, 'more sets; find them with "search"')].join('\n')
}

const headOf = ({ id, publishedAt }: Snapshot, what: string) =>
  `${what}, snapshot ${id}, published ${publishedAt.toISOString()}`

interface Listed extends PublishedRelation {
  readonly measures: readonly string[]
}

function isAbout({ model, description, columns, measures }: Listed, word: string): boolean {
  const names = [...columns.map(({ name }) => name), ...measures]
  const texts = [model, entitySetName(model), description ?? '', ...names]
  return texts.some((text) => text.toLowerCase().includes(word))
}

type LineOf = (set: Listed) => string

const nameOf: LineOf = ({ model, rows }) => `${entitySetName(model)} (${rows} rows)`

const described =
  (most: number): LineOf =>
  (relation) => {
    const text = oneLine(relation.description ?? '')
    return text === '' ? nameOf(relation) : `${nameOf(relation)}: ${shortened(text, most)}`
  }

const measured =
  (line: LineOf): LineOf =>
  (set) =>
    set.measures.length === 0 ? line(set) : `${line(set)} measures ${set.measures.join()}`

/** The first one that fits is taken: with columns and measures, and with less and less of the descriptions. */
const FORMS: readonly LineOf[] = [
  measured((set) => `${described(200)(set)} [${set.columns.map(({ name }) => name).join()}]`),
  measured(described(200)),
  measured(described(80)),
  measured(described(20)),
  described(80),
  described(40),
  described(20),
  nameOf,
]

/** Throws ToolMistake for a set that is not there for who asks. */
export function describeText(
  { snapshot, shapeOf }: SeenState,
  catalog: Catalog,
  asked: string,
): string {
  const relation = snapshot.relations.find(
    ({ model }) => entitySetName(model) === asked || model === asked,
  )
  const name = relation === undefined ? null : entitySetName(relation.model)
  const shape = name === null ? null : shapeOf(name)
  if (relation === undefined || name === null || shape === null) {
    const names = snapshot.relations.map(({ model }) => entitySetName(model))
    const hint = didYouMean(asked, names) ?? 'list_sets lists them'
    throw new ToolMistake(`there is no set "${asked.slice(0, 60)}"; ${hint}`)
  }
  const model = catalog.models.find((one) => one.name === relation.model) ?? null
  const lines = [
    headOf(snapshot, name),
    ...(relation.description === null ? [] : [relation.description]),
    `${relation.rows} rows, ${shape.key.length === 0 ? 'no key' : `key ${shape.key.join()}`}${kindOf(model)}`,
    ...freshnessLines(catalog, relation.model),
    ...checkLines(catalog, model),
    ...navigationLines(shape),
    ...measureLines(shape),
    ...hierarchyLines(name, shape),
    ...(model === null || model.depends_on.length + model.sources.length === 0
      ? []
      : [`made from: ${[...model.depends_on, ...model.sources].join(', ')}`]),
    'columns:',
    ...columnLines(shape, model),
  ]
  return fitted(lines, limits.assistantDescriptionBytes, 'more lines').join('\n')
}

const kindOf = (model: CatalogModel | null) =>
  model === null ? '' : `, ${model.kind === null ? 'model' : `${model.kind} model`} ${model.name}`

function freshnessLines({ states }: Catalog, model: string): readonly string[] {
  const state = states[model]
  if (state === undefined) return []
  const { status, at, because, fresh_at, fresh_within, builds } = state
  const because_ = because === '' ? '' : ` (${oneLine(because)})`
  const built = builds[0] === undefined ? '' : `, last built ${builds[0].at}`
  const complete = fresh_at === undefined ? '' : `, complete up to ${fresh_at}`
  const within = fresh_within === undefined ? '' : `, promised within ${fresh_within} s`
  return [`freshness: ${status} by the run of ${at}${because_}${built}${complete}${within}`]
}

function checkLines({ states }: Catalog, model: CatalogModel | null): readonly string[] {
  const state = model === null ? undefined : states[model.name]
  if (model === null) return []
  const { warned = 0, warnings = [], status } = state ?? {}
  const result =
    state === undefined
      ? 'not known to have been tried'
      : status === 'failed'
        ? 'the last build failed, and these rows are of the one before'
        : warned === 0
          ? 'all passed'
          : `${warned} warned, the others passed`
  if (model.checks.length === 0)
    return warned === 0 && status !== 'failed' ? [] : [`checks: ${result}`]
  return [
    `checks, ${result}:`,
    ...model.checks.map(({ severity, text }) => `  ${oneLine(text)} (${severity})`),
    ...warnings.map((warning) => `  warned: ${oneLine(warning)}`),
  ]
}

const navigationLines = ({ navigation }: SetShape): readonly string[] =>
  navigation.length === 0
    ? []
    : [
        `navigation: ${navigation.map(({ name, target, many }) => `${name} -> ${many ? 'many ' : ''}${target}`).join(', ')}`,
      ]

function measureLines({ measures, dimensions }: SetShape): readonly string[] {
  if (measures.length === 0) return []
  const by = dimensions.length === 0 ? '' : `, mostly by ${dimensions.join(', ')}`
  return [
    `measures, for apply by their names as in aggregate(${measures[0]!.name})${by}:`,
    ...measures.map(({ name, type, text, unit, description }) => {
      const words = description === null ? '' : `: ${oneLine(description)}`
      return `  ${name} ${type}${unit === null ? '' : ` in ${unit}`} = ${oneLine(text)}${words}`
    }),
  ]
}

const hierarchyLines = (set: string, { levels, trees }: SetShape): readonly string[] => [
  ...levels.map(
    ({ name, columns }) =>
      `levels ${columns.join(' > ')}, for subtotals as in groupby((rollup(${name})),aggregate($count as n))`,
  ),
  ...trees.map(
    ({ name, node }) =>
      `rows are trees, as in descendants($root/${set},${name},${node},filter(…),keep start)`,
  ),
]

function columnLines({ properties }: SetShape, model: CatalogModel | null): readonly string[] {
  const known = new Map(model?.columns.map((column) => [column.name, column]))
  return properties.map(({ name, type, nullable, description }) => {
    const origins = known.get(name)?.lineage ?? []
    const from = origins.map((origin) => `${origin.model}.${origin.column}`)
    const lineage = from.length === 0 ? '' : `, from ${from.join(' and ')}`
    const text = description === null ? '' : `: ${oneLine(description)}`
    return `  ${name} ${type}${nullable ? '' : ' not null'}${lineage}${text}`
  })
}

/** The lines that fit, and how many do not. */
function fitted(lines: readonly string[], bytes: number, rest: string): readonly string[] {
  if (bytesOf(lines) <= bytes) return lines
  const kept: string[] = []
  let left = bytes - Buffer.byteLength(`… ${lines.length} ${rest}`) - 1
  for (const line of lines) {
    left -= Buffer.byteLength(line) + 1
    if (left < 0) break
    kept.push(line)
  }
  return [...kept, `… ${lines.length - kept.length} ${rest}`]
}

const bytesOf = (lines: readonly string[]) =>
  lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0)

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

const shortened = (text: string, most: number) =>
  text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`
