// How a run went, from the lines that `eider run --json` prints.

import { limits } from '../core/limits.ts'
import type { RunRecord } from '../core/report/up.ts'
import { type Exit, exitText } from './child.ts'

/** What `eider run` ends with when another process has what it needs: that does not mean the project failed. */
const BUSY = ['run-locked', 'warehouse-locked', 'buffer-locked']

interface Line {
  readonly event?: string
  readonly [member: string]: unknown
}

type Counts = Record<'built' | 'unchanged' | 'failed' | 'skipped', number>

export class RunReader {
  #runId: string | null = null
  #code: string | null = null
  #problem: string | null = null
  readonly #flushed = { events: 0, rejected: 0 }
  readonly #models: Counts = { built: 0, unchanged: 0, failed: 0, skipped: 0 }
  readonly #failing: { model: string; because: string }[] = []

  read(text: string): void {
    const line = parse(text)
    switch (line.event) {
      case 'run-started':
        this.#runId = String(line['run_id'])
        break
      case 'flush-finished':
        this.#flushed.events += Number(line['events'])
        this.#flushed.rejected += Number(line['rejected'])
        break
      case 'model-finished':
        this.#finished(line)
        break
      case 'diagnostic':
        if (line['severity'] === 'error')
          this.#problem ??= `${['file', 'line', 'column'].map((part) => String(line[part])).join(':')}: ${String(line['message'])}`
        break
      case 'error':
        this.#code = String(line['code'])
        this.#problem = String(line['message'])
    }
  }

  #finished({ model, status, because }: Line): void {
    this.#models[status as keyof Counts]++
    if (status === 'failed' && this.#failing.length < limits.namedFailures)
      this.#failing.push({ model: String(model), because: String(because) })
  }

  /** `isStopped`: the supervisor asked it to end. */
  record(
    run: Pick<RunRecord, 'name' | 'started_at' | 'ms'>,
    exit: Exit,
    isStopped: boolean,
  ): RunRecord {
    const status = this.#statusOf(exit, isStopped)
    return {
      ...run,
      run_id: this.#runId,
      status,
      ...this.#flushed,
      ...this.#models,
      failing: this.#failing,
      reason: status === 'ok' ? null : this.#reasonOf(exit, status),
    }
  }

  #statusOf({ code }: Exit, isStopped: boolean): RunRecord['status'] {
    if (code === 0) return 'ok'
    if (isStopped) return 'stopped'
    return code === 3 && BUSY.includes(this.#code ?? '') ? 'busy' : 'failed'
  }

  #reasonOf(exit: Exit, status: RunRecord['status']): string {
    if (status === 'stopped') return 'stopped with eider up'
    const [first] = this.#failing
    const ofModel = first === undefined ? null : `${first.model}: ${first.because}`
    return (ofModel ?? this.#problem ?? exitText(exit)).split('\n')[0]!
  }
}

function parse(text: string): Line {
  try {
    return JSON.parse(text) as Line
  } catch {
    return {}
  }
}
