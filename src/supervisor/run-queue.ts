// One scheduled run at a time. A run that is due while it is itself at work, or waits already, is not queued but counted;
// another one waits for its turn, so that a frequent run never keeps a nightly one from starting.

export class RunQueue<T> {
  #working: T | null = null
  readonly #waiting = new Set<T>()

  /** What becomes of a run that is due. */
  offer(run: T): 'start' | 'wait' | 'skip' {
    if (this.#working === null) {
      this.#working = run
      return 'start'
    }
    if (this.#working === run || this.#waiting.has(run)) return 'skip'
    this.#waiting.add(run)
    return 'wait'
  }

  /** The run at work has ended. Gives the next one, which is then at work; null: none waits. */
  next(): T | null {
    const [first = null] = this.#waiting
    if (first !== null) this.#waiting.delete(first)
    this.#working = first
    return first
  }
}
