import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import {
  everyFlag,
  selectionFlags,
  selectionOf,
  variableFlags,
  waitFlag,
} from '../cli/shared-flags.ts'
import { repeat } from '../cli/repeat.ts'
import { giveWay } from '../files/priority.ts'
import { duration, flushText, line, timeStamp } from '../cli/run-lines.ts'
import { count } from '../core/counts.ts'
import { onStop, type StopRequest } from '../cli/signals.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import type { ModelName } from '../core/names.ts'
import { damagedText } from '../core/report/damaged-events.ts'
import type { RunEvent } from '../core/report/progress.ts'
import type { FlushSummary } from '../pipeline/flush/flush-events.ts'
import { runOptionsOf } from '../wiring/run-options.ts'

type FlushFlags = FlagsOf<typeof Flush>

export default class Flush extends BaseCommand {
  static override summary = 'Flush the buffered events of this machine into their tables'
  static override examples = [
    '<%= config.bin %> flush',
    '<%= config.bin %> flush raw.orders',
    '<%= config.bin %> flush --every 10s',
  ]
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = {
    ...selectionFlags,
    ...variableFlags,
    every: everyFlag('Keep running, and flush again at this interval'),
    wait: waitFlag('Seconds to wait for a run to end'),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(Flush)
    giveWay()
    using stop = onStop()
    if (flags.every !== undefined) return await this.#goOn(flags, argv, stop, flags.every)
    const summary = await this.#flush(flags, argv, stop)
    this.#report(summary, flags)
    this.exit(stop.exitCode() ?? (summary.ok ? 0 : 1))
  }

  async #goOn(
    flags: FlushFlags,
    argv: readonly unknown[],
    stop: StopRequest,
    everyMs: number,
  ): Promise<void> {
    let round = 0
    const work = async () => {
      const summary = await this.#flush(flags, argv, stop, ++round > 1)
      if (summary.flushed.length > 0 || !summary.ok) this.#report(summary, flags)
    }
    await repeat(work, {
      everyMs,
      signal: stop.signal,
      tell: (error) => this.showFailure(error, flags),
      isFailure: (error) => {
        if (error instanceof UsageError && round === 1) throw error
        // A run flushes too.
        return !(error instanceof EnvironmentError && error.code === 'run-locked')
      },
    })
  }

  /** `ifAny`: where nothing waits there is nothing to open. */
  async #flush(
    flags: FlushFlags,
    argv: readonly unknown[],
    stop: StopRequest,
    ifAny = false,
  ): Promise<FlushSummary> {
    const project = await this.openProject(flags)
    const { paths } = project
    const { waitingBytes } = await import('../buffer/waiting.ts')
    if (ifAny && (await waitingBytes(paths.buffer)).size === 0) return NOTHING
    const { compileOnce } = await import('../compiler/compile-once.ts')
    const { knownModels, select } = await import('../compiler/select.ts')
    const { flushBuffer } = await import('../pipeline/flush/flush-events.ts')
    const { openStore } = await import('../store/open.ts')
    const compiled = await compileOnce(project.files, { ...paths, save: true })
    const given = selectionOf(argv, flags)
    const known = knownModels(compiled)
    const chosen = select(known, given, () => true)
    const events = [...chosen].filter((name) => (known.get(name)?.kind ?? 'events') === 'events')
    const isNamed = given.include.length + given.exclude.length > 0
    if (isNamed && events.length === 0)
      throw new UsageError('none of the selected models takes events', {
        hint: 'eider ls kind:events lists those that do',
      })
    const logger = this.loggerFor(flags)
    return flushBuffer({
      ...runOptionsOf(project),
      paths,
      store: openStore(paths),
      project: compiled,
      ...(isNamed ? { selection: { include: events, exclude: [], retry: false } } : {}),
      openClaims: async () => (await import('../wiring/claims.ts')).openClaims(project, logger),
      lockWaitMs: flags.wait * 1000,
      signal: stop.signal,
      progress: (event) => this.#progress(event, flags),
      logger,
    })
  }

  #progress(event: RunEvent, { json }: FlushFlags): void {
    const isOfFlush = event.event === 'flush-started' || event.event === 'flush-finished'
    if (json && isOfFlush) this.printEvent(event)
  }

  #report({ ok, ms, flushed, failed, damaged }: FlushSummary, flags: FlushFlags): void {
    if (flags.json) {
      const kept = damaged.length > 0 && { damaged }
      this.printEvent({ event: 'buffer-flushed', ok, flushed, failed, ...kept, ms })
      return
    }
    const paint = this.paintFor(flags)
    const time = flags.every === undefined ? '' : `${timeStamp()} `
    const names: readonly ModelName[] = [...flushed, ...failed].map(({ model }) => model)
    const width = Math.max(0, ...names.map((name) => name.length))
    const say = (status: string, model: string, text: string) =>
      this.print(time + line(paint, [status, model, text], width))
    for (const { model, events, rejected } of flushed)
      if (!flags.quiet || rejected > 0) say('flushed', model, flushText(events, rejected, null))
    for (const { model, because } of failed) say('failed', model, because)
    for (const kept of damaged) say('damaged', kept.target, damagedText(kept))
    const total = flushed.reduce((sum, { events }) => sum + events, 0)
    const isRefused = total === 0 && failed.length > 0
    if (flags.every === undefined && !flags.quiet && !isRefused)
      this.print(total === 0 ? 'nothing to flush' : `${count(total, 'event')} in ${duration(ms)}`)
  }
}

const NOTHING: FlushSummary = { ok: true, ms: 0, flushed: [], failed: [], damaged: [] }
