// One random history: the events of a few orders, late and of the future, corrections and cancellations, and edits of the models
// that read them. Its models stand beside those of other histories in one warehouse, told apart by a number.

import { below, EVENTS, outlasting, readers, type Shape, shapes, updated } from './shapes.ts'

/** From here on, ids of those that stay at the beginning. */
export const GUARD = 100

export type Event = ReturnType<History['first']>

/** Of a source that is files; the first one has a row that is older than all others, and stays. */
const FILES = ['0.csv', '1.csv', '2.csv']

export class History {
  readonly seed: number
  /** Its models that are compared. */
  readonly names: readonly string[]
  /** Up to three, each with positions of its own. */
  readonly collectors: number
  /** Events older than so many days go; null: none do. */
  readonly keepDays: number | null
  /** What has happened, for who looks at a failure. */
  readonly log: string[] = []
  readonly #below: (end: number) => number
  readonly #versions = new Map<number, number>()
  readonly #factors = new Map<string, number>()
  readonly #renames = new Map<string, number>()
  readonly #files = new Map<string, readonly Event[]>()

  constructor(seed: number, random: () => number) {
    this.seed = seed
    this.#below = (end) => Math.floor(random() * end)
    this.keepDays = this.#below(5) === 0 ? 14 : null
    const chosen: string[] = []
    for (const some of [readers, readers, updated]) chosen.push(this.#oneMore(some, chosen))
    this.names = below(chosen)
    this.collectors = 1 + this.#below(3)
    this.log.push(chosen.join(', '), `${this.collectors} collectors`)
    if (this.keepDays !== null) this.log.push(`events are kept ${this.keepDays} days`)
  }

  /** Of three the one that reads most of what the others read: models that share inputs cost less. */
  #oneMore(some: Readonly<Record<string, Shape>>, chosen: readonly string[]): string {
    const all = Object.keys(some).filter(
      (name) => !chosen.includes(name) && (this.keepDays === null || !outlasting.includes(name)),
    )
    const three = Array.from({ length: 3 }, () => all[this.#below(all.length)]!)
    const tablesWith = (name: string) => below([...chosen, name]).length
    return three.reduce((one, other) => (tablesWith(other) < tablesWith(one) ? other : one))
  }

  named = (name: string): string => `${name}_${this.seed}`

  /** Whether it reads files. */
  get hasFiles(): boolean {
    return this.names.includes('core.lines')
  }

  /** What is in its files from now on, by their names: more rows, fewer rows, or no file. */
  files(today: number): ReadonlyMap<string, string> {
    for (const name of FILES) {
      const rows = this.#files.get(name) ?? (name === FILES[0] ? [this.first()] : [])
      const more = this.#below(2) === 0 ? this.some(today).events : []
      const [guard, others] = name === FILES[0] ? [rows.slice(0, 1), rows.slice(1)] : [[], rows]
      const kept = this.#below(3) > 0 ? others : others.filter(() => this.#below(3) > 0)
      if (kept.length < others.length) this.log.push(`${name} loses ${others.length - kept.length}`)
      const isGone = name !== FILES[0] && this.#below(8) === 0
      if (isGone && others.length > 0) this.log.push(`${name} goes`)
      this.#files.set(name, isGone ? [] : [...guard, ...kept, ...more])
    }
    const all = Array.from(this.#files, ([name, rows]) => [name, csvOf(rows)] as const)
    return new Map(all.filter(([name]) => this.#files.get(name)!.length > 0))
  }

  /** The texts of its models as they are now, by names; `dir` has its files. */
  texts(dir: string): Readonly<Record<string, string>> {
    const keep = this.keepDays === null ? '' : `-- @keep: ${this.keepDays} days of ts\n`
    const found: Record<string, string> = {
      [this.named('raw.e')]: EVENTS.replace('\n', `\n${keep}`),
    }
    for (const name of this.names) {
      const { header, body } = shapes[name]!
      const renamed = this.#renames.get(name) ?? 0
      const line = renamed === 0 ? '' : `-- @renamed_from v${renamed}: v${renamed - 1}\n`
      const text = body
        .replaceAll('{f}', String(this.#factors.get(name) ?? 1))
        .replaceAll('{v}', `v${renamed}`)
        .replaceAll('{files}', dir)
      found[this.named(name)] =
        header +
        line +
        text.replaceAll(/\b(?:raw|core|stage|mart)\.\w+/g, (input) => this.named(input))
    }
    return found
  }

  first = () => this.#event(0, 1, 5, false)

  /**
   * Where events go by their age, tables of them are windows that move on, and nobody can tell whether their oldest row has
   * gone with time or was corrected. So the oldest ones are always the same, whichever of the next days it will be.
   */
  oldest(today: number): readonly Event[] {
    const first = this.keepDays === null ? null : today + 1 - this.keepDays
    return first === null ? [] : [0, 1, 2].map((i) => this.#guard(GUARD + i, first + i))
  }

  #guard(id: number, day: number): Event {
    const event = this.#event(id, day, 1, false)
    return { ...event, ts: `${event.day}T00:00:00.000Z` }
  }

  /** Events of one collector. */
  some(today: number): { readonly collector: number; readonly events: readonly Event[] } {
    const events = Array.from({ length: 1 + this.#below(4) }, () => {
      const id = 1 + this.#below(12)
      const when = this.#below(20)
      const day = when < 8 ? 2 + this.#below(today) : when < 10 ? today + this.#below(6) : today
      return this.#event(id, day, 1 + this.#below(100), this.#below(20) < 3)
    })
    return { collector: 1 + this.#below(this.collectors), events }
  }

  #event(id: number, day: number, amount: number, gone: boolean) {
    const version = (this.#versions.get(id) ?? 0) + 1
    this.#versions.set(id, version)
    // No two versions of an order have the same time.
    const time = Date.UTC(2026, 2, day, this.#below(24), this.#below(60), version)
    const date = new Date(Date.UTC(2026, 2, day)).toISOString().slice(0, 10)
    return { id, version, ts: new Date(time).toISOString(), day: date, amount, gone }
  }

  /** Few factors, so that a rule comes back. A column is renamed where its last name is built. */
  edit(): void {
    const name = this.names[this.#below(this.names.length)]!
    const { body } = shapes[name]!
    if (body.includes('{v}') && this.#below(4) === 0) {
      const renamed = (this.#renames.get(name) ?? 0) + 1
      this.#renames.set(name, renamed)
      this.log.push(`rename of ${name} to v${renamed}`)
    } else if (body.includes('{f}')) {
      const factor = 1 + this.#below(3)
      this.#factors.set(name, factor)
      this.log.push(`${name} times ${factor}`)
    }
  }

  /** Models of which a range of days can be built again. */
  get ranged(): readonly string[] {
    const isRanged = ({ takesRange, is }: Shape) => takesRange === true && is === 'time'
    return this.names.filter((name) => isRanged(shapes[name]!))
  }

  /** Models that keep what is gone from their inputs. */
  get lasting(): readonly string[] {
    const isLasting = (name: string) => /@kind: append|@deletes: keep/.test(shapes[name]!.header)
    return this.names.filter(isLasting).map(this.named)
  }

  /** Models that say how many rows stay in them. */
  get counting(): readonly string[] {
    const isCounting = (name: string) => /@incremental/.test(shapes[name]!.header)
    return this.names.filter(isCounting).map(this.named)
  }

  /** Tables of it in which somebody may delete rows. */
  get stored(): readonly string[] {
    const isStored = (name: string) =>
      name !== 'core.lines' && !shapes[name]!.header.includes('@kind: view')
    return this.names.filter(isStored)
  }

  /** Models whose rows keep the rule that made them. */
  get ruled(): readonly string[] {
    return this.names.filter((name) => /@kind: (?:append|merge|period)/.test(shapes[name]!.header))
  }
}

const csvOf = (rows: readonly Event[]): string =>
  [
    'id,version,ts,day,amount',
    ...rows.map(({ id, version, ts, day, amount }) => [id, version, ts, day, amount].join(',')),
    '',
  ].join('\n')
