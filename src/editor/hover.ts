// What a name is, in Markdown: columns with their type and where they come from, models with their kind and what they
// read, annotations and settings with what the documentation says.

import { sourcesOf, traceModel } from '../compiler/lineage/trace.ts'
import { annotations } from '../compiler/annotations/annotations.ts'
import type { CompiledProject, Model } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import { rowsAbout } from '../files/documentation.ts'
import type { LastCompile } from './edited-project.ts'
import type { Thing } from './names.ts'
import { lastRunOf } from './last-run.ts'

export function describeThing(understood: LastCompile, thing: Thing): string | null {
  const { compiled } = understood
  const model = compiled.models.get(thing.model as ModelName)
  const table = compiled.external?.tables.find(({ name }) => sameName(name, thing.model))
  const columns = model?.columns ?? table?.columns ?? []
  if (thing.column === null) {
    if (model !== undefined) return describeModel(understood, model)
    return table === undefined
      ? null
      : [`**${table.name}** · source \`${table.path}\``, listOf(columns)].join('\n\n')
  }
  const column = columns.find(({ name }) => sameName(name, thing.column!))
  if (column === undefined) return null
  const { name, type, nullable, description } = column
  const owner = model?.name ?? table!.name
  return [
    `**${owner}.${name}** \`${type}\`${nullable ? '' : ' NOT NULL'}`,
    ...(description === undefined ? [] : [description]),
    ...(model === undefined
      ? [`column of the source \`${table!.path}\``]
      : [lineageOf(compiled, model, column)]),
  ].join('\n\n')
}

/** Which columns a column comes from, step by step where the steps are few. */
function lineageOf(compiled: CompiledProject, model: Model, { name }: Column): string {
  const traced = traceModel(compiled, model.name).find((column) => column.column === name)
  if (traced === undefined) return ''
  if (model.kind === 'events') return '◀ field of the events'
  if (model.kind === 'seed') return `◀ column of \`${model.source.path}\``
  if (traced.from === null) return '◀ not known'
  if (traced.from.length === 0) return 'not computed from a column'
  const direct = traced.from.map(({ model: from, column }) => `${from}.${column}`)
  const ends = (sourcesOf(traced) ?? []).map(({ model: from, column }) => `${from}.${column}`)
  const far = ends.filter((end) => !direct.includes(end))
  return `◀ ${direct.join(', ')}${far.length === 0 ? '' : ` ◀◀ ${far.join(', ')}`}`
}

function describeModel(understood: LastCompile, model: Model): string {
  const { compiled, project } = understood
  const { name, kind, description, dependsOn, sources, expose, owner, tags } = model
  const readers = readersOf(compiled, name)
  const reads = [...dependsOn, ...sources]
  const built = lastRunOf(project.paths.target, name)
  return [
    `**${name}** · ${kind}${built === null ? '' : ` · ${built}`}`,
    ...(description === null ? [] : [description]),
    [
      ...(reads.length === 0 ? [] : [`reads ${reads.join(', ')}`]),
      ...(readers.length === 0 ? [] : [`read by ${readers.join(', ')}`]),
      ...(expose === null ? [] : [`served as ${name.replace('.', '_')}`]),
      ...(owner === null ? [] : [`owner ${owner}`]),
      ...(tags.length === 0 ? [] : [`tags ${tags.join(', ')}`]),
    ].join('  \n'),
    listOf(model.columns),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

export const readersOf = ({ models, failed }: CompiledProject, name: ModelName) =>
  [...models.values(), ...failed.values()]
    .filter(({ dependsOn }) => dependsOn.includes(name))
    .map((reader) => reader.name)

const listOf = (columns: readonly Column[]) =>
  columns.length === 0
    ? ''
    : ['```sql', ...columns.map(({ name, type }) => `${name} ${type}`), '```'].join('\n')

/** What the documentation says of `@unique_key`, or of a kind after `@kind`. */
export function describeAnnotation(text: string, offset: number): string | null {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const [line = ''] = text.slice(start).split('\n', 1)
  const [whole, name = ''] = /^--\s*@(\w+)/.exec(line) ?? []
  if (whole === undefined || !Object.hasOwn(annotations, name.toLowerCase())) return null
  const word = wordAt(line, offset - start)
  if (offset - start > whole.length && name !== 'kind') return null
  const [row] = rowsAbout(offset - start > whole.length ? word : `@${name.toLowerCase()}`)
  if (row === undefined) return null
  const kinds = row.head.findIndex((name) => name.endsWith('kinds'))
  return [
    row.cells[0]!,
    row.cells.at(-1)!,
    ...(kinds === -1 ? [] : [`on kinds: ${row.cells[kinds]}`]),
  ].join('\n\n')
}

function wordAt(line: string, at: number): string {
  const before = /\w*$/.exec(line.slice(0, at))![0]
  return before + /^\w*/.exec(line.slice(at))![0]
}
