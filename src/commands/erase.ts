import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { LiveLine } from '../cli/live-line.ts'
import { isLive } from '../cli/paint.ts'
import { duration } from '../cli/run-lines.ts'
import { argument, waitFlag } from '../cli/shared-flags.ts'
import { onStop, type StopRequest } from '../cli/signals.ts'
import { tableLines } from '../cli/table.ts'
import { count } from '../core/counts.ts'
import type { Erased, ErasedPlace, LeftPlace } from '../core/report/erased.ts'
import type { EraseOutcome, EraseRequest } from '../pipeline/erase/erase.ts'

type EraseFlags = FlagsOf<typeof Erase>

export default class Erase extends BaseCommand {
  static override summary = 'Delete the rows that a condition means, and every trace of them'
  static override description =
    'From the buffer, the tables, all that is made from them, published states, copies and free space of files. Services and the daemon go on meanwhile. An interrupted erasure continues when the same command is started again.'
  static override examples = [
    '<%= config.bin %> erase raw.orders "customer_id = 7" --dry-run',
    '<%= config.bin %> erase raw.orders "customer_id = 7"',
  ]
  static override args = {
    model: argument('A model that keeps rows: events, append, merge, period, scd2'),
    condition: argument('One condition in SQL over its columns'),
  }
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'Count the rows; change nothing' }),
    all: Flags.boolean({ summary: 'Allow a condition that means every row' }),
    unreadable: Flags.boolean({
      summary: 'Also delete what cannot be searched, such as damaged events',
    }),
    rewrite: Flags.boolean({
      summary: 'Rewrite files and drop older states even if no row is meant',
    }),
    wait: waitFlag('Seconds to wait for a run to end'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Erase)
    using stop = onStop()
    const startedMs = performance.now()
    const project = await this.openProject(flags)
    const logger = this.loggerFor(flags)
    const { leftInTargets, leftInTests, openErasing, searchOnly } =
      await import('../wiring/erasing.ts')
    const warnings: string[] = []
    const request = await openErasing(project, args, {
      progress: (event) => {
        if (event.event !== 'model-finished') return
        warnings.push(...(event.warnings ?? []).map((text) => `${event.model}: ${text}`))
      },
      all: Boolean(flags.all),
      unreadable: Boolean(flags.unreadable),
      rewrite: Boolean(flags.rewrite),
      lockWaitMs: flags.wait * 1000,
      signal: stop.signal,
      logger,
    })
    const outcome = flags['dry-run']
      ? await searchOnly(request)
      : await this.#erase(request, flags, stop, startedMs)
    if (outcome === null) {
      process.stderr.write('interrupted; run the same command again to continue\n')
      return this.exit(stop.exitCode() ?? 130)
    }
    const ms = performance.now() - startedMs
    const { unfinished, ...report } = outcome
    const left = [
      ...report.left,
      ...leftInTargets(project, request),
      ...(await leftInTests(request)),
    ]
    const erased: Erased = { ...report, left, dry_run: Boolean(flags['dry-run']), ms }
    if (flags.json) this.printEvent({ event: 'erased', ...erased, unfinished })
    else this.#print(erased, flags)
    for (const text of warnings) process.stderr.write(`warning: ${text}\n`)
    if (unfinished === null) return
    process.stderr.write(
      `error: the erasure is unfinished: ${unfinished}\nhint: make the run succeed, and repeat the command\n`,
    )
    this.exit(1)
  }

  /** null: somebody has interrupted it. */
  async #erase(
    request: EraseRequest,
    flags: EraseFlags,
    stop: StopRequest,
    startedMs: number,
  ): Promise<EraseOutcome | null> {
    const { eraseRows } = await import('../pipeline/erase/erase.ts')
    const { isInterruption } = await import('../pipeline/failure.ts')
    let doing = 'starting'
    const terminal = !flags.json && isLive(process.stderr) ? process.stderr : null
    using _live = new LiveLine(terminal, () => {
      const what = stop.signal.aborted ? `stopping  ${doing}` : doing
      return `${what}  ${duration(performance.now() - startedMs)}`
    })
    try {
      return await eraseRows({ ...request, onDoing: (next) => void (doing = next) })
    } catch (error) {
      if (!stop.signal.aborted || !isInterruption(error, stop.signal)) throw error
      return null
    }
  }

  #print(erased: Erased, { quiet }: EraseFlags): void {
    const { dry_run: isDry, left, rebuilt, files_removed: files, bytes_rewritten: bytes } = erased
    const isNone = erased.erased.length === 0
    if (isNone) this.print(noneText(erased))
    const isUnchanged = isNone && isUntouched(erased)
    const verb = isDry ? 'would erase' : 'erased'
    for (const text of tableLines(erased.erased.map((one) => [verb, one.model, placeText(one)])))
      this.print(text)
    if (!isUnchanged && rebuilt.length > 0)
      this.print(`${isDry ? 'would rebuild' : 'rebuilt'} ${rebuilt.join(', ')}`)
    if (!isUnchanged && !isDry && !quiet) this.print(`rewrote ${count(bytes, 'byte')} of tables`)
    if (files > 0) this.print(`deleted ${count(files, 'file')} that could not be searched`)
    for (const one of left) process.stderr.write(`${leftText(one)}\n`)
  }
}

/** What is left may hold rows that the condition means, so that there is none is said of the rest alone. */
function noneText(erased: Erased): string {
  const what = erased.left.length === 0 ? '' : ' where it can be searched'
  const rest = isUntouched(erased) ? '; nothing was changed' : ''
  return `nothing in ${erased.model} is meant${what}${rest}`
}

/** Whether the condition has found nothing. */
const isUntouched = ({ dry_run: isDry, bytes_rewritten: bytes, files_removed: files }: Erased) =>
  isDry || bytes + files === 0

function placeText({ place, count: rows }: ErasedPlace): string {
  if (place === 'table') return count(rows, 'row')
  if (place === 'rejected-events') return count(rows, 'rejected event')
  return `${count(rows, 'file')} with damaged events`
}

const leftText = ({ what, next }: LeftPlace) => `not erased: ${what}\n  ${next}`
