// Keys that a daemon, or a run, may forget, so that a repeat of their request is stored again. The documentation names two
// cases, and in both it is said:
//
//   - A disk is full, or fails, when events are flushed: their keys are in memory alone, from `keys-not-kept` to `keys-kept`,
//     and go with a daemon that is killed in between, or with a run without a daemon that ends (docs/collect.md).
//   - A group changes on disk after a run has read it: the daemon takes it out with `segment-damaged`, and its keys with it. It
//     cannot know whether the run has committed these events, and takes them when they are sent again
//     (docs/collect/operating.md).

import type { Call, Known } from './known.ts'
import type { SimulatedProcess } from './world.ts'

/** A line of the log of a process. */
export type Said = (event: string, process: SimulatedProcess) => void

/** A run may have committed what is in such a segment. */
const WAS_HANDED_OUT = /\.(claimed|returned)$/
/** Each group with its marker. */
const GROUPS = /(?<=^\{"\$commit":.*\n)/m

export class ForgottenKeys {
  readonly #known: Known
  /** Processes that have keys in memory alone. */
  readonly #unkept = new Set<SimulatedProcess>()
  /** Calls in groups that have changed, until a daemon says so. */
  #changed: readonly Call[] = []

  constructor(known: Known) {
    this.#known = known
  }

  /** To what a daemon, or a run, of that collector says. */
  listen(collector: number): Said {
    return (event, process) => {
      // A run knows what it has committed.
      if (event === 'segment-damaged' && process.name !== 'run')
        this.#mayReturn(collector, this.#changed)
      if (event === 'keys-kept') this.#unkept.delete(process)
      if (event !== 'keys-not-kept') return
      this.#unkept.add(process)
      process.onDeath.push(() => {
        if (this.#unkept.delete(process)) this.#mayReturn(collector, this.#known.calls)
      })
    }
  }

  /** `text`: a segment, in which the byte `at` is about to change. */
  flipped(path: string, text: string, at: number): void {
    if (!WAS_HANDED_OUT.test(path)) return
    let end = 0
    const group = text.split(GROUPS).find((one) => at < (end += one.length)) ?? ''
    const ids = Array.from(group.matchAll(/"call":(\d+)/g), ([, id]) => Number(id))
    this.#changed = [...this.#changed, ...[...new Set(ids)].map((id) => this.#known.calls[id]!)]
  }

  #mayReturn(collector: number, calls: readonly Call[]): void {
    for (const call of calls)
      if (call.key !== null && call.collector === collector) this.#known.mayRepeat.add(call.id)
  }
}
