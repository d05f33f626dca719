// Sets that promise how fresh they are (`@fresh`): told of once when one is further behind than that, and once when it no
// longer is. What runs have noted is read again when a scheduled run has ended, and when a set seems to be behind, since
// somebody may have run the project by hand.

import type { Catalog } from '../core/catalog.ts'
import { type EntitySetName, entitySetName, parseModelName } from '../core/names.ts'
import type { SetBehind } from '../core/report/up.ts'

interface FreshSetsOptions {
  /** null: nothing is published. */
  readonly read: () => Promise<Catalog['states'] | null>
  /** What was told by the supervisor before. */
  readonly before: readonly SetBehind[]
  readonly onBehind: (set: SetBehind) => void
  /** As it is now; as it was, where it is no longer promised. */
  readonly onFresh: (set: SetBehind) => void
}

export class FreshSets {
  readonly #options: FreshSetsOptions
  /** Time in which nobody was there to start a run does not count. */
  readonly #beganMs = Date.now()
  #promised: readonly SetBehind[] = []
  readonly #behind: Map<string, SetBehind>
  #isReadWanted = true
  #looking: Promise<void> | null = null

  constructor(options: FreshSetsOptions) {
    this.#options = options
    this.#behind = new Map(options.before.map((set) => [set.name, set]))
  }

  get behind(): readonly SetBehind[] {
    return [...this.#behind.values()]
  }

  /** A run has ended, and may have noted more. */
  noteRun(): void {
    this.#isReadWanted = true
  }

  /** Call it now and then; one look at a time. */
  async look(nowMs: number): Promise<void> {
    this.#looking ??= this.#look(nowMs).finally(() => (this.#looking = null))
    await this.#looking
  }

  async #look(nowMs: number): Promise<void> {
    const isBehind = (set: SetBehind) => this.#isBehind(set, nowMs)
    if (!this.#isReadWanted && this.#behind.size === 0 && !this.#promised.some(isBehind)) return
    this.#isReadWanted = false
    this.#promised = promisedIn(await this.#options.read())
    for (const set of this.#promised) {
      if (!isBehind(set) || this.#behind.has(set.name)) continue
      this.#behind.set(set.name, set)
      this.#options.onBehind(set)
    }
    const stillBehind = new Set(this.#promised.filter(isBehind).map(({ name }) => name))
    for (const [name, set] of this.#behind) {
      if (stillBehind.has(name)) continue
      this.#behind.delete(name)
      this.#options.onFresh(this.#promised.find((one) => one.name === name) ?? set)
    }
  }

  /** One that is known to be behind is so until a run has noted more. */
  #isBehind({ name, fresh_at: at, fresh_within: seconds }: SetBehind, nowMs: number): boolean {
    const notedMs = at === null ? 0 : Date.parse(at)
    const sinceMs = this.#behind.has(name) ? notedMs : Math.max(this.#beganMs, notedMs)
    return nowMs - sinceMs > seconds * 1_000
  }
}

function promisedIn(states: Catalog['states'] | null): readonly SetBehind[] {
  return Object.entries(states ?? {}).flatMap(([model, state]): readonly SetBehind[] => {
    const name = nameOf(model)
    const { fresh_at: at = null, fresh_within: within } = state
    if (within === undefined || name === null) return []
    return [{ name, fresh_at: at, fresh_within: within }]
  })
}

function nameOf(model: string): EntitySetName | null {
  const name = parseModelName(model)
  return name === null ? null : entitySetName(name)
}
