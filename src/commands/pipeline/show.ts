import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import { showTable } from '../../cli/table.ts'
import { argument, variableFlags } from '../../cli/shared-flags.ts'
import type { CompiledExternal } from '../../core/sources.ts'
import type { ColumnOrigin, CompiledProject, Model } from '../../core/model.ts'
import { entitySetName, sameName } from '../../core/names.ts'
import { traitsOf } from '../../store/traits-of.ts'

type Models = ReadonlyMap<string, Model>

export default class PipelineShow extends BaseCommand {
  static override summary = 'Show one model: columns, upstream and downstream models, SQL'
  static override examples = [
    '<%= config.bin %> show mart.sales',
    '<%= config.bin %> show mart.sales --lineage',
  ]
  static override flags = {
    ...variableFlags,
    lineage: Flags.boolean({
      summary: 'Show which columns each column is computed from, back to its sources',
    }),
  }
  static override args = {
    model: argument('Name of a model'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(PipelineShow)
    const { paths, files } = await this.openProject(flags)
    const { compileOnce } = await import('../../compiler/compile-once.ts')
    await traitsOf(paths).requireReadable()
    const project = await compileOnce(files, { ...paths, save: false })
    const { models, external } = project
    const table = external?.tables.find(({ name }) => sameName(name, args.model))
    if (table !== undefined) return this.#showSource(table, models, flags.json)
    const { findModel } = await import('../../compiler/select.ts')
    const model = findModel(project, args.model)
    if (flags.lineage) return await this.#showLineage(project, model, flags.json)
    const description = describeModel(model, models)
    if (flags.json) this.printEvent({ event: 'model-details', ...description })
    else this.print(showModel(description))
  }

  #showSource(table: CompiledExternal, models: Models, json: boolean): void {
    const { name, path, columns, loadedAt } = table
    const readers = [...models.values()].filter(({ sources }) => sources.includes(name))
    const downstream = readers.map((model) => model.name)
    if (json) {
      const facts = { source: name, path, loaded_at: loadedAt, downstream, columns }
      this.printEvent({ event: 'source', ...facts })
    } else {
      const facts = [`${name}  source  ${path}`, `read by      ${downstream.join(', ')}`]
      const shown = showTable(['name', 'type', 'nullable'], columns)
      this.print([...facts, '', shown].join('\n'))
    }
  }

  async #showLineage(
    project: CompiledProject,
    { name, expose }: Model,
    json: boolean,
  ): Promise<void> {
    const { sourcesOf, traceModel } = await import('../../compiler/lineage/trace.ts')
    const columns = traceModel(project, name)
    const originOf = ({ model, column }: ColumnOrigin) => ({ model, column })
    const set = expose === null ? null : entitySetName(name)
    if (!json)
      return this.print(
        `${name}${set === null ? '' : `, served as ${set}`}\n${showLineage(columns)}`,
      )
    this.printEvent({
      event: 'lineage',
      model: name,
      entity_set: set,
      columns: columns.map((column) => ({
        column: column.column,
        from: column.from?.map(originOf) ?? null,
        sources: sourcesOf(column),
      })),
    })
  }
}

function describeModel(model: Model, models: Models) {
  const { name, kind, source, description, tags, expose, dependsOn, sources, files, columns } =
    model
  const { measures, ...meaning } = model.meaning ?? { measures: [] }
  const checks = model.checks.map(({ severity, text, on }) => ({
    severity,
    text: on === undefined ? text : `${on}: ${text}`,
  }))
  const readers = [...models.values()].filter((other) => other.dependsOn.includes(name))
  return {
    model: name,
    kind,
    path: source.path,
    description,
    tags,
    entity_set: expose === null ? null : entitySetName(name),
    key: expose?.key ?? null,
    upstream: dependsOn,
    sources,
    files,
    downstream: readers.map((reader) => reader.name),
    columns,
    ...(model.meaning && {
      ...meaning,
      measures: measures.map(({ sql: _sql, ...measure }) => measure),
    }),
    checks,
    definition: source.text.trimEnd(),
  }
}

function showModel(model: ReturnType<typeof describeModel>): string {
  const { description, tags, entity_set: set, key, upstream, sources, files, downstream } = model
  const hierarchies = [
    ...(model.hierarchies ?? []).map(
      ({ name, node, parent }) => `${name}: ${node} parent ${parent}`,
    ),
    ...(model.levels ?? []).map(({ name, columns }) => `${name}: ${columns.join(' > ')}`),
  ].map((text) => ['hierarchy', text])
  const facts = [
    ['description', description ?? ''],
    ['tags', tags.join(', ')],
    ['entity set', set === null ? '' : `${set} (${(key ?? []).join(', ')})`],
    ['reads', [...new Set([...upstream, ...sources, ...files])].join(', ')],
    ['read by', downstream.join(', ')],
    ...(model.measures ?? []).map(({ name, text }) => ['measure', `${name}: ${text}`]),
    ...hierarchies,
    ...model.checks.map(({ severity, text }) => [severity === 'warn' ? 'warns' : 'checks', text]),
  ].filter(([, text]) => text !== '')
  return [
    `${model.model}  ${model.kind}  ${model.path}`,
    ...facts.map(([name = '', text]) => `${name.padEnd(11)}  ${text}`),
    '',
    showTable(['name', 'type', 'nullable'], model.columns),
    ...(model.definition === '' ? [] : ['', model.definition]),
  ].join('\n')
}

interface ShownColumn {
  readonly model: string
  readonly column: string
  readonly kind: string
  /** null: unknown. */
  readonly from: readonly ShownColumn[] | null
}

function showLineage(columns: readonly ShownColumn[]): string {
  return columns
    .flatMap((column) => [
      `${column.column}${remark(column)}`,
      ...branches(column, 1, new Set([column])),
    ])
    .join('\n')
}

/** What was shown above under the same column is not repeated. */
function branches(
  { from }: ShownColumn,
  depth: number,
  shown: Set<ShownColumn>,
): readonly string[] {
  return (from ?? []).flatMap((origin) => {
    const line = `${'  '.repeat(depth)}${origin.model}.${origin.column}`
    if (shown.has(origin)) return [`${line}  (see above)`]
    shown.add(origin)
    return [`${line}${remark(origin)}`, ...branches(origin, depth + 1, shown)]
  })
}

function remark({ kind, from }: ShownColumn): string {
  if (from === null) return '  (not known)'
  if (from.length > 0) return ''
  if (kind === 'events') return '  (field of the events)'
  if (kind === 'source') return '  (column of the source)'
  return kind === 'seed' ? '  (column of the seed)' : '  (not computed from a column)'
}
