import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { argument } from '../cli/shared-flags.ts'
import { sizeOf } from '../cli/run-lines.ts'
import { onStop } from '../cli/signals.ts'
import { UsageError } from '../core/failures.ts'
import type { ColumnRename } from '../core/model.ts'
import { type ModelName, parseModelName, sameName, splitModelName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import type { ProjectFiles as Files } from '../core/project.ts'
import type { Renaming } from '../pipeline/rename/record.ts'
import type { Project } from '../project/project.ts'
import { changeWarehouse, refuseReserved } from '../wiring/change-warehouse.ts'

export default class Mv extends BaseCommand {
  static override summary = 'Rename a model with its file and history, or a column'
  static override examples = [
    '<%= config.bin %> mv core.orders core.purchases',
    '<%= config.bin %> mv core.orders.total core.orders.total_eur',
  ]
  static override args = {
    old: argument('Current name of the model or column, or the one that the model had'),
    new: argument('New name'),
  }
  static override flags = {
    replace: Flags.boolean({
      summary: 'Drop the table that a run has already built under the new name',
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Mv)
    using stop = onStop()
    const project = await this.openProject(flags)
    const column = columnRenaming(args.old, args.new)
    if (column !== null) return await this.#renameColumn(project, column, flags, stop.signal)
    const { file, to } = await renamingOf(project, args.old, args.new)
    if (file === null) await refuseEvents(project, to)
    const from = parseModelName(args.old)!
    const { prepareFile, renameModel } = await import('../pipeline/rename/rename-model.ts')
    const { paths } = project
    const { stillNaming } = await import('../wiring/still-named.ts')
    const others = await stillNaming(project, from, file?.to ?? null)
    await using prepared = file && (await prepareFile(paths.dir, file))
    const rollups = await rollupsOf(project.files, from, to)
    const renaming = { from, to, file: prepared, replace: flags.replace, rollups }
    const moved = await changeWarehouse(project, stop, (opened) =>
      renameModel(opened, paths, renaming),
    )
    if (moved === null && file === null)
      throw new UsageError(`no run created "${args.old}"`, {
        hint: '"eider ls" lists tables and views that no file creates any more',
      })
    if (flags.json) return this.printEvent({ event: 'moved', from, to, file, table: moved })
    if (file !== null) this.print(`moved ${file.from} to ${file.to}`)
    if (moved !== null) this.print(`moved ${from} to ${to} in the warehouse: ${sizeOf(moved.rows)}`)
    if (others.length > 0 && !flags.quiet)
      process.stderr.write(`these files still refer to ${args.old}: ${others.join(', ')}\n`)
  }

  async #renameColumn(
    project: Project,
    { model: named, from, to }: ColumnRenaming,
    flags: { readonly replace: boolean; readonly json: boolean; readonly quiet: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    if (flags.replace)
      throw new UsageError('--replace is for models: a column never replaces another one')
    const source = project.files.models.find(({ name }) => sameName(name, named))
    const model = source?.name ?? named
    const { renameColumn } = await import('../pipeline/rename/rename-column.ts')
    const spelled = await changeWarehouse(project, { signal }, (opened) =>
      renameColumn(opened, model, { from, to }),
    )
    if (flags.json) return this.printEvent({ event: 'column-renamed', model, from: spelled, to })
    this.print(`renamed ${model}.${spelled} to ${to} in the warehouse`)
    if (flags.quiet) return
    if (source !== undefined)
      process.stderr.write(
        `${source.source.path} has to give the column that name too; a run refuses the table until it does\n`,
      )
  }
}

/** The names that the rollups of the model have had so far; the project has its file under one of the two. */
async function rollupsOf(
  files: Files,
  from: ModelName,
  to: ModelName,
): Promise<readonly ModelName[]> {
  const { withRollups } = await import('../compiler/measures/rollups.ts')
  return withRollups(files).models.flatMap(({ name, rollup }) => {
    const of = [from, to].find((one) => rollup !== undefined && sameName(rollup.of, one))
    const had = of === undefined ? null : parseModelName(`${from}${name.slice(of.length)}`)
    // A file may have made a model of that name its own.
    const isFree = !files.models.some((file) => had !== null && sameName(file.name, had))
    return had !== null && isFree ? [had] : []
  })
}

interface ColumnRenaming extends ColumnRename {
  readonly model: ModelName
}

/** Names with a third part are those of columns; null: of models. */
function columnRenaming(old: string, next: string): ColumnRenaming | null {
  const partsOf = (name: string) => {
    const [schema = '', table = '', ...rest] = name.split('.')
    return rest.length === 0
      ? null
      : { model: parseModelName(`${schema}.${table}`), column: rest.join('.') }
  }
  const [from, to] = [partsOf(old), partsOf(next)]
  if (from === null && to === null) return null
  const model = from?.model ?? null
  if (from === null || to === null || model === null || to.model === null)
    throw new UsageError(`"${old}" and "${next}" are not two models, nor two columns of one`, {
      hint: 'columns are named schema.table.column: eider mv core.orders.total core.orders.total_eur',
    })
  if (!sameName(model, to.model))
    throw new UsageError(`${old} and ${next} are columns of two models`, {
      hint: `a column stays in its table: eider mv ${old} ${model}.${to.column}`,
    })
  if (from.column === '' || to.column === '' || from.column === to.column)
    throw new UsageError(`${old} has that name`, { hint: 'write the new name of the column' })
  return { model, from: from.column, to: to.column }
}

/** `file`: null where it was renamed before. */
async function renamingOf(
  project: Project,
  old: string,
  next: string,
): Promise<{ readonly file: Renaming['file'] | null; readonly to: ModelName }> {
  const { files } = project
  const to = parseModelName(next)
  if (to === null || parseModelName(old) === null)
    throw new UsageError(`"${to === null ? next : old}" names no model`, {
      hint: 'models are named schema.table',
    })
  for (const name of [old, next]) await refuseReserved(project, name)
  if (sameName(old, next))
    throw new UsageError(`${old} and ${next} are one name: case does not distinguish models`, {
      hint: 'to change only the case, rename the file; the next run keeps the table',
    })
  refuseOtherFiles(files, old, next)
  const source = files.models.find(({ name }) => sameName(name, old))
  const target = files.models.find(({ name }) => sameName(name, next))
  if (source === undefined && target === undefined) {
    const names = files.models.map(({ name }) => name)
    throw new UsageError(`the project has neither a model "${old}" nor one "${next}"`, {
      hint: didYouMean(old, names) ?? 'see "eider ls" for the models',
    })
  }
  if (source === undefined) return { file: null, to: target!.name }
  if (target !== undefined)
    throw new UsageError(`${target.source.path} already defines ${target.name}`)
  const { schema, table } = splitModelName(to)
  return { file: { from: source.source.path, to: `models/${schema}/${table}.sql` }, to }
}

/** Files that have one of the names and are no model that can be read. */
function refuseOtherFiles({ seeds, unreadable = [] }: Files, old: string, next: string): void {
  for (const { name, source } of unreadable)
    if (sameName(name, old) || sameName(name, next))
      throw new UsageError(`${source.path} makes ${name}, and cannot be read`, {
        hint: '"eider check" says why',
      })
  for (const { name, path } of seeds) {
    if (sameName(name, next)) throw new UsageError(`${path} already defines ${name}`)
    if (sameName(name, old))
      throw new UsageError(`${path} makes ${name}, and mv renames models only`, {
        hint: 'rename the file; the next run loads it under the new name',
      })
  }
}

/** Rows that no client has sent are no events. */
async function refuseEvents({ files }: Project, to: ModelName): Promise<void> {
  const target = files.models.find(({ name }) => sameName(name, to))!
  const { parseModelFile } = await import('../compiler/model-file.ts')
  if (parseModelFile(target, files.variables ?? new Map()).kind === 'events')
    throw new UsageError(
      `${target.source.path} is of kind events, which takes rows from events only`,
      {
        hint: 'choose a model of another kind',
      },
    )
}
