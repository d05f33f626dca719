// What those outside know, and what must hold of it: an event that was accepted is in the table once, as it was sent; what
// was refused is nowhere; a request is there as a whole; no answer is older than one before it.

export interface Call {
  readonly id: number
  readonly size: number
  readonly collector: number
  /** With a key it is sent again until there is an answer. */
  readonly key: string | null
  state: 'open' | 'accepted' | 'refused' | 'unknown'
}

export interface StoredRow {
  readonly call: number
  readonly i: number
  readonly note: string
}

interface ReaderKnows {
  readonly service: number
  readonly floor: number
}

export const noteOf = (call: number, i: number) => `${call}.${i}.${'x'.repeat((call * 7) % 40)}`

export class Known {
  readonly calls: Call[] = []
  /** Before this one all were thrown away with the state. */
  firstKept = 0
  /** Their keys may be forgotten, so that they may be there more than once. */
  readonly mayRepeat = new Set<number>()
  /** Of published states that were seen: the calls in it. */
  readonly #totals = new Map<string, number>()
  /** Of each service, by its number. */
  #latest: readonly number[] = [0, 0]

  begin(size: number, collector: number, hasKey: boolean): Call {
    const id = this.calls.length
    const call: Call = { id, size, collector, key: hasKey ? `key-${id}` : null, state: 'open' }
    this.calls.push(call)
    return call
  }

  /** `due`: calls that a run has to have brought; `lost`: events that the program says are damaged. */
  wrongRows(
    rows: readonly StoredRow[],
    { due, lost, mayReturn }: { due: ReadonlySet<Call>; lost: number; mayReturn: boolean },
  ): string | null {
    const found = new Map<number, Set<number>>()
    for (const { call, i, note } of rows) {
      const known = found.get(call) ?? new Set()
      if (this.calls[call] === undefined || note !== noteOf(call, i))
        return `call ${call} was changed`
      if (known.has(i) && !this.mayRepeat.has(call)) return `call ${call} is there twice`
      found.set(call, known.add(i))
    }
    let missing = 0
    let first: string | null = null
    for (const call of this.calls.slice(this.firstKept)) {
      const there = found.get(call.id)?.size ?? 0
      if (there > 0 && call.state === 'refused' && !mayReturn)
        return `call ${call.id} was refused and is there`
      if (there === call.size || (there === 0 && !due.has(call))) continue
      missing += call.size - there
      first ??= `call ${call.id} was accepted and is ${there === 0 ? 'lost' : 'there in part'}`
    }
    if (missing <= lost) return null
    return `${first}; ${missing} events are missing, and ${lost} are said to be damaged`
  }

  /** The most events that an answer of a service had until now: one to a request from now on has no fewer. */
  latest(service: number): number {
    return this.#latest[service]!
  }

  /** What a service says: the rows of a published state, call by call. `floor`: latest() when it was asked. */
  wrongAnswer(
    snapshot: string,
    calls: readonly { readonly call: number; readonly n: number }[],
    { service, floor, isDamaged }: ReaderKnows & { readonly isDamaged: boolean },
  ): string | null {
    for (const { call, n } of calls) {
      const { size = 0 } = this.calls[call] ?? {}
      const isMore = n > size && !(this.mayRepeat.has(call) && (n % size === 0 || isDamaged))
      if (isMore || (n < size && !isDamaged))
        return `an answer has ${n} events of call ${call}, which has ${size}`
    }
    const total = calls.reduce((sum, { n }) => sum + n, 0)
    return this.wrongTotal(snapshot, total, { service, floor })
  }

  /** Of whatever set of the state: all are made of the same rows. */
  wrongTotal(snapshot: string, total: number, { service, floor }: ReaderKnows): string | null {
    const before = this.#totals.get(snapshot) ?? total
    this.#totals.set(snapshot, total)
    if (before !== total) return `the state ${snapshot} has ${total} events, and ${before} as well`
    if (total < floor) return `an answer has ${total} events, and one before had ${floor}`
    this.#latest = this.#latest.map((n, i) => (i === service ? Math.max(total, n) : n))
    return null
  }

  /** The state was moved away, with all that was accepted until then. */
  throwAway(): void {
    this.firstKept = this.calls.length
    this.#latest = [0, 0]
  }
}
