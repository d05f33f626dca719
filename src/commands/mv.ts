import { mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { sizeOf } from '../cli/show-orphans.ts'
import { onStop } from '../cli/signals.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import { type ModelName, parseModelName, sameName, splitModelName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Project } from '../project/project.ts'
import { changeWarehouse } from './change-warehouse.ts'

interface Move {
  /** Paths in the project; null: the file was moved before. */
  readonly file: { readonly from: string; readonly to: string } | null
  readonly to: ModelName
}

export default class Mv extends BaseCommand {
  static override summary = 'Rename a model with its file, its table and the history in it'
  static override examples = ['<%= config.bin %> mv core.orders core.purchases']
  static override args = {
    old: Args.string({ description: 'Name that the model has, or had', required: true }),
    new: Args.string({ description: 'Name that it gets', required: true }),
  }
  static override flags = {
    replace: Flags.boolean({ summary: 'Drop what a run has made under the new name' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Mv)
    using stop = onStop()
    const project = await this.openProject(flags)
    const { file, to } = moveOf(project, args.old, args.new)
    const from = parseModelName(args.old)!
    const { moveRelation } = await import('../pipeline/orphans.ts')
    const options = { waitMs: limits.runLockWaitMs, signal: stop.signal }
    const moved = await changeWarehouse(project, options, (connection) =>
      moveRelation(connection, from, to, flags),
    )
    if (moved === null && file === null)
      throw new UsageError(`no run created "${args.old}"`, {
        hint: '"eider ls" lists tables and views that no file creates any more',
      })
    if (file !== null) await moveFile(project.paths.dir, file)
    if (flags.json) return this.printEvent({ event: 'moved', from, to, file, table: moved })
    if (file !== null) this.print(`moved ${file.from} to ${file.to}`)
    if (moved !== null) this.print(`moved ${from} to ${to} in the warehouse: ${sizeOf(moved.rows)}`)
    const readers = readersOf(project, args.old)
    if (readers.length > 0 && !flags.quiet)
      process.stderr.write(`these files still say ${args.old}: ${readers.join(', ')}\n`)
  }
}

function moveOf({ files }: Project, old: string, next: string): Move {
  const to = parseModelName(next)
  if (to === null || parseModelName(old) === null)
    throw new UsageError(`"${to === null ? next : old}" names no model`, {
      hint: 'models are named schema.table',
    })
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
    throw new UsageError(`${target.source.path} makes ${target.name} already`)
  const { schema, table } = splitModelName(to)
  return { file: { from: source.source.path, to: `models/${schema}/${table}.sql` }, to }
}

/** After the table: a command that was interrupted in between can be repeated. */
async function moveFile(dir: string, { from, to }: NonNullable<Move['file']>): Promise<void> {
  await mkdir(dirname(join(dir, to)), { recursive: true })
  await rename(join(dir, from), join(dir, to))
}

/** Files that name the model, in SQL or in an annotation. */
function readersOf({ files }: Project, old: string): readonly string[] {
  const word = old.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&')
  const pattern = new RegExp(`(?<![\\w.])${word}(?!\\w)`, 'i')
  return files.models
    .filter(({ name, source }) => !sameName(name, old) && pattern.test(source.text))
    .map(({ source }) => source.path)
}
