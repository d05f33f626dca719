// A run for people: what is finished goes to stdout as it finishes; below it, on a terminal, stands one live line.

import { readByText } from '../core/report/planned-changes.ts'
import { count } from '../core/counts.ts'
import { byHandText } from '../core/report/by-hand.ts'
import { damagedText } from '../core/report/damaged-events.ts'
import type { ModelResult, RunEvent, Share, RunSummary } from '../core/report/progress.ts'
import { terminalWidth, wrap } from './cells.ts'
import { type Doing, LiveLine, type LiveState, liveText } from './live-line.ts'
import type { Look, Output } from './paint.ts'
import {
  duration,
  flushText,
  line,
  modelText,
  STATUS_COLUMNS,
  timeStamp,
  totalText,
  orphanState,
} from './run-lines.ts'

export interface RunDisplayOptions {
  /** stdout and stderr; what comes from elsewhere to the same terminal goes by note(). */
  readonly results: Output
  readonly notes: Output
  readonly look: Look
  /** Whether a live line is drawn on `notes`. */
  readonly isDrawn: boolean
  /** Totals, and what somebody may have to look at. */
  readonly quiet: boolean
  readonly verbose: boolean
  readonly signal: AbortSignal
  /** The names of all models, so that the lines stand in columns. */
  readonly names: Iterable<string>
  readonly now?: () => Date
}

const INTERRUPTED = 'interrupted'
/** Names that are longer than this make no room for themselves in the other lines. */
const NAME_COLUMNS = 40
/** What a line says needs about as much as the name before it. */
const NARROW_COLUMNS = 60

export class RunDisplay implements Disposable {
  readonly #options: RunDisplayOptions
  readonly #live: LiveLine
  readonly #nameColumns: number
  readonly #startedMs: number
  readonly #doing = new Map<string, Doing>()
  #what: LiveState['what'] = 'starting'
  #total = 0
  #done = 0
  /** What was flushed for one model, until something else begins. */
  #flush: { model: string; events: number; rejected: number; ms: number } | null = null
  /** Events that lines tell of, by model. */
  readonly #flushed = new Map<string, number>()

  constructor(options: RunDisplayOptions) {
    const { names, look, isDrawn, notes } = options
    this.#options = options
    const room = look.columns < NARROW_COLUMNS ? 0 : Math.min(NAME_COLUMNS, look.columns / 2 - 4)
    const fitting = [...names].map((name) => name.length).filter((length) => length <= room)
    this.#nameColumns = Math.max(0, ...fitting)
    this.#startedMs = this.#nowMs()
    this.#live = new LiveLine(isDrawn ? notes : null, (columns) => this.#liveText(columns))
  }

  progress(event: RunEvent): void {
    if (event.event !== 'flush-started' && event.event !== 'flush-finished') this.#endFlush()
    const apply = this.#on[event.event] as ((event: RunEvent) => void) | undefined
    apply?.(event)
    this.#live.draw()
  }

  share({ step, model, done, total }: Share): void {
    const name = step === 'publish' ? '' : model
    if (step === 'publish') this.#enter('publishing')
    const { startedMs } = this.#doing.get(name) ?? { startedMs: this.#nowMs() }
    const of = ({ flush: 'event', pieces: 'piece', publish: 'set' } as const)[step]
    this.#doing.set(name, { name, startedMs, share: { done, total, of } })
    this.#live.draw()
  }

  /** On stderr, above the live line. */
  note(text: string): void {
    this.#live.above(() => void this.#options.notes.write(`${text}\n`))
  }

  /** With --verbose: what is done, and how long it took. */
  detail(text: string): void {
    if (this.#options.verbose) this.note(this.#isTimed ? `${this.#time()} ${text}` : text)
  }

  /** Above the last line come the failures once more, `frames` on stderr. `next`: what to type. */
  finish(run: RunSummary, frames: readonly string[], next: string | null): void {
    const { look, signal, quiet } = this.#options
    this.#endFlush()
    this.#live[Symbol.dispose]()
    for (const { model, events, rejected } of run.flushed) {
      const untold = events - (this.#flushed.get(model) ?? 0)
      if (untold > 0) this.#sayFlush(model, flushText(untold, 0, null), rejected)
    }
    for (const orphan of quiet ? [] : run.orphans)
      this.#say('orphan', orphan.model, orphanState(orphan))
    if (frames.length > 0) this.#options.notes.write(`\n${frames.join('\n\n')}\n\n`)
    if (run.snapshot?.changed === false) this.detail(`unchanged  snapshot ${run.snapshot.id}`)
    const total = totalText(run, signal.aborted, look.paint)
    if (next === null) return this.#print(total, 2)
    const isOneLine = terminalWidth(total) + 8 + next.length <= look.columns
    this.#print(isOneLine ? `${total}        ${next}` : total, 2)
    if (!isOneLine) this.#print(next, 2)
  }

  [Symbol.dispose](): void {
    this.#live[Symbol.dispose]()
  }

  readonly #on: { [E in RunEvent['event']]?: (event: Extract<RunEvent, { event: E }>) => void } = {
    'run-started': ({ models }) => void (this.#total = models),
    'models-selected': ({ models }) => void (this.#total = models),
    'rows-borrowed': ({ target, published_at: at, models, along, sample }) => {
      const share = sample === null ? '' : `, ${sample} of long tables`
      const of = target === null ? 'sources' : target
      const reads = target === null ? '' : `${count(models.length, 'set')} published ${at}`
      this.#say('reading', of, `${reads}${share}`.replace(/^, /, ''))
      if (along.length > 0)
        this.note(`${along.join(', ')}: built too, since ${of} does not publish them`)
    },
    'flush-started': ({ model, events }) => {
      if (this.#flush?.model !== model) this.#endFlush()
      this.#enter('flushing')
      this.share({ step: 'flush', model, done: 0, total: events })
    },
    'flush-finished': ({ model, events, rejected, ms }) => {
      const before = this.#flush ?? { model, events: 0, rejected: 0, ms: 0 }
      this.#flush = {
        model,
        events: before.events + events,
        rejected: before.rejected + rejected,
        ms: before.ms + ms,
      }
    },
    'events-damaged': ({ model, ...kept }) => this.#say('damaged', model, damagedText(kept)),
    'model-started': ({ model, because }) => {
      this.#enter('building')
      this.#doing.set(model, { name: model, startedMs: this.#nowMs() })
      this.detail(`building   ${model} (${because})`)
    },
    'model-finished': (result) => this.#finishModel(result),
    'changed-by-hand': (change) => this.#say('warning', change.model, byHandText(change)),
    'contract-change': ({ set, change, breaking, read_by: readBy }) => {
      const readers = readBy === undefined ? '' : `; ${readByText(readBy)}`
      if (breaking) this.#say('breaking', set, `${change}${readers}`)
      else this.detail(`contract   ${set} ${change}`)
    },
    published: ({ relations, ms }) =>
      this.detail(`published  ${count(relations, 'set')}, ${duration(ms)}`),
  }

  #finishModel(result: ModelResult): void {
    const { quiet, verbose, notes, results } = this.#options
    const { model, status, because, warnings = [] } = result
    this.#done++
    this.#doing.delete(model)
    // What an interrupted run did not reach is a number at its end.
    const isReached = because !== INTERRUPTED
    const isNotable =
      status === 'failed' || (status === 'skipped' && isReached) || warnings.length > 0
    const isShown = isNotable || (status === 'built' ? !quiet : verbose)
    if (!isShown) return
    const isRepeated = notes.isTTY === true && results.isTTY === true
    this.#say(status, model, modelText(result, isRepeated))
    for (const warning of warnings)
      this.#print(`${this.#options.look.paint('yellow', 'warning')}    ${warning}`, STATUS_COLUMNS)
  }

  #endFlush(): void {
    if (this.#flush === null) return
    const { model, events, rejected, ms } = this.#flush
    this.#flush = null
    this.#doing.delete(model)
    this.#flushed.set(model, (this.#flushed.get(model) ?? 0) + events)
    this.#sayFlush(model, flushText(events, rejected, ms), rejected)
  }

  #sayFlush(model: string, text: string, rejected: number): void {
    if (!this.#options.quiet || rejected > 0) this.#say('flushed', model, text)
  }

  /** What was done before is over. */
  #enter(what: LiveState['what']): void {
    if (this.#what === what) return
    this.#what = what
    this.#doing.clear()
  }

  #say(status: string, model: string, text: string): void {
    const { paint, columns } = this.#options.look
    const indent = columns < NARROW_COLUMNS ? 2 : STATUS_COLUMNS
    this.#print(line(paint, [status, model, text], this.#nameColumns), indent)
  }

  /** A result. Readers of a file or of the mail of cron want to know when it was. */
  #print(text: string, indent: number): void {
    const { results, look } = this.#options
    const shown = this.#isTimed
      ? wrap(`${this.#time()} ${text}`, look.columns, indent)
      : wrap(text, look.columns, indent)
    this.#live.above(() => void results.write(`${shown}\n`))
  }

  get #isTimed(): boolean {
    return this.#options.quiet || this.#options.results.isTTY !== true
  }

  #time(): string {
    return timeStamp(this.#options.now?.())
  }

  #nowMs(): number {
    return this.#options.now?.().getTime() ?? performance.now()
  }

  #liveText(columns: number): string {
    const models = { done: this.#done, total: this.#total }
    const state = {
      what: this.#what,
      doing: [...this.#doing.values()],
      models,
      startedMs: this.#startedMs,
      isStopping: this.#options.signal.aborted,
    }
    return liveText(state, this.#nowMs(), columns)
  }
}
