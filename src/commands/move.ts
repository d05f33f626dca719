import * as Flags from '@oclif/core/flags'
import { BaseCommand, type SharedFlags } from '../cli/base-command.ts'
import { LiveLine } from '../cli/live-line.ts'
import { isLive } from '../cli/paint.ts'
import { duration } from '../cli/run-lines.ts'
import { waitFlag } from '../cli/shared-flags.ts'
import { onStop } from '../cli/signals.ts'
import { count, grouped } from '../core/counts.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { Moved, MovedTable, MoveStep } from '../pipeline/move/move.ts'
import type { Side } from '../pipeline/move/sides.ts'
import type { Project } from '../project/project.ts'
import { traitsOf } from '../store/traits-of.ts'

interface Target {
  /** null: the default one. */
  readonly name: string | null
  readonly project: Project
}

export default class Move extends BaseCommand {
  static override summary = 'Copy tables, history and state of one target into another'
  static override description =
    'From a file into a lake, and back. The source is only read. The destination must be empty; an interrupted move continues when it is started again.'
  static override examples = [
    '<%= config.bin %> move --from dev --to prod',
    '<%= config.bin %> move --to prod',
  ]
  static override flags = {
    from: Flags.string({ summary: 'Target to read; by default the current one' }),
    to: Flags.string({ summary: 'Target to write; by default the current one' }),
    wait: waitFlag('Seconds to wait for runs to end'),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Move)
    using stop = onStop()
    if (flags.from === undefined && flags.to === undefined)
      throw new UsageError('a move needs a target to read and one to fill', {
        hint: 'such as eider move --from dev --to prod',
      })
    const from = await this.#open(flags, flags.from)
    const to = await this.#open(flags, flags.to)
    refuseSame(from, to)
    await refuseWaiting(from)
    const startedMs = performance.now()
    const moved = await this.#move(from, to, flags, stop.signal)
    if (moved === null) {
      process.stderr.write('interrupted; run the same command again to continue\n')
      return this.exit(stop.exitCode() ?? 130)
    }
    const waiting = [...(await waitingIn(from)).keys()]
    const ms = performance.now() - startedMs
    const rows = moved.tables.reduce((sum, table) => sum + table.rows, 0)
    if (flags.json) {
      const { runs, rejected, left } = moved
      const what = { from: from.name, to: to.name, tables: moved.tables.length, rows }
      this.printEvent({ event: 'target-moved', ...what, runs, rejected, left, waiting, ms })
    } else this.#print({ from, to, moved, rows, waiting, ms }, flags)
  }

  async #open(flags: SharedFlags, target: string | undefined): Promise<Target> {
    const project = await this.openProject({ ...flags, target: target ?? flags.target })
    return { name: project.target, project }
  }

  async #move(
    from: Target,
    to: Target,
    flags: SharedFlags & { readonly wait: number },
    signal: AbortSignal,
  ): Promise<Moved | null> {
    const { moveTarget } = await import('../pipeline/move/move.ts')
    const startedMs = performance.now()
    let doing = 'starting'
    const terminal = !flags.json && isLive(process.stderr) ? process.stderr : null
    using live = new LiveLine(terminal, () => {
      const what = signal.aborted ? `stopping  ${doing}` : doing
      return `${what}  ${duration(performance.now() - startedMs)}`
    })
    const onStep = (step: MoveStep) => {
      const { moved, done, total, table } = step
      doing = `${step.doing}  ${table}  [${done}/${total}]`
      live.above(() => {
        if (moved !== undefined) this.#printTable(moved, flags)
      })
    }
    const [source, destination] = await Promise.all([sideOf(from), sideOf(to)])
    const options = { waitMs: flags.wait * 1000, signal, onStep }
    return await moveTarget({ from: source, to: destination, ...options })
  }

  #printTable({ table, rows, hash, copied }: MovedTable, flags: SharedFlags): void {
    if (flags.json) this.printEvent({ event: 'table-moved', table, rows, content: hash, copied })
    else if (!flags.quiet)
      this.print(`${copied ? 'copied' : 'there '}  ${table}  ${count(rows, 'row')}`)
  }

  #print({ from, to, moved, rows, waiting, ms }: Finished, { quiet }: SharedFlags): void {
    const { tables, left, runs, rejected } = moved
    const logs = [
      ...(runs === 0 ? [] : [count(runs, 'run')]),
      ...(rejected === 0 ? [] : [count(rejected, 'rejected event')]),
    ]
    const what = [count(tables.length, 'table'), count(rows, 'row'), ...logs].join(', ')
    this.print(`moved ${what} from ${shown(from)} to ${shown(to)} in ${duration(ms)}`)
    if (!quiet && left.length > 0)
      this.print(
        `${grouped(left.length)} without rows are left for the next run: ${left.join(', ')}`,
      )
    if (waiting.length > 0) process.stderr.write(`${waitingText(from, to, waiting)}\n`)
    if (!quiet) this.print(`next: eider run${flagOf(to)}`)
  }
}

interface Finished {
  readonly from: Target
  readonly to: Target
  readonly moved: Moved
  readonly rows: number
  readonly waiting: readonly ModelName[]
  readonly ms: number
}

const shown = ({ name }: Target): string => name ?? 'the default target'

const flagOf = ({ name }: Target): string => (name === null ? '' : ` --target ${name}`)

async function sideOf({ name, project }: Target): Promise<Side> {
  const { openStore } = await import('../store/open.ts')
  const { runOptionsOf } = await import('../wiring/run-options.ts')
  const { paths, files } = project
  const names = [...files.models, ...files.seeds].map((file) => file.name)
  return { target: name, paths, store: openStore(paths), engine: runOptionsOf(project), names }
}

function refuseSame(from: Target, to: Target): void {
  const placeOf = ({ project: { paths } }: Target) => traitsOf(paths).place
  if (from.name !== to.name && placeOf(from) !== placeOf(to)) return
  throw new UsageError(
    from.name === to.name
      ? `${shown(from)} cannot be moved into itself`
      : `${shown(from)} and ${shown(to)} keep their tables in the same place`,
    { hint: 'name two targets: eider move --from dev --to prod' },
  )
}

/** They would stay behind in a buffer that nobody flushes any more. */
async function refuseWaiting(from: Target): Promise<void> {
  const { models } = from.project.files
  const known = [...(await waitingIn(from)).keys()].filter((target) =>
    models.some(({ name }) => sameName(name, target)),
  )
  if (known.length === 0) return
  throw new EnvironmentError(
    'move-refused',
    `events of ${known.join(', ')} wait in ${from.project.paths.buffer}, and would stay there`,
    { hint: `stop the daemon of ${shown(from)}, then: eider flush${flagOf(from)}` },
  )
}

async function waitingIn({ project }: Target): Promise<ReadonlyMap<ModelName, number>> {
  const { waitingBytes } = await import('../buffer/waiting.ts')
  return waitingBytes(project.paths.buffer)
}

const waitingText = (from: Target, to: Target, targets: readonly ModelName[]): string =>
  `events of ${targets.join(', ')} wait in ${from.project.paths.buffer}; with both daemons stopped, that directory can replace ${to.project.paths.buffer}`
