// One random history: the events of a few orders, late and early, corrections and cancellations, and edits of the models
// that read them. Its models stand beside those of other histories in one warehouse, told apart by a number.

import { below, EVENTS, readers, type Shape, shapes, updated } from './shapes.ts'

export class History {
  readonly seed: number
  /** Its models that are compared. */
  readonly names: readonly string[]
  /** Up to three, each with positions of its own. */
  readonly collectors: number
  /** What has happened, for who looks at a failure. */
  readonly log: string[] = []
  readonly #below: (end: number) => number
  readonly #versions = new Map<number, number>()
  readonly #factors = new Map<string, number>()
  readonly #renames = new Map<string, number>()

  constructor(seed: number, random: () => number) {
    this.seed = seed
    this.#below = (end) => Math.floor(random() * end)
    const chosen = [readers, readers, updated].map((some) => {
      const all = Object.keys(some)
      return all[this.#below(all.length)]!
    })
    this.names = below(chosen)
    this.collectors = 1 + this.#below(3)
    this.log.push(chosen.join(', '), `${this.collectors} collectors`)
  }

  named = (name: string): string => `${name}_${this.seed}`

  /** The texts of its models as they are now, by names. */
  texts(): Readonly<Record<string, string>> {
    const found: Record<string, string> = { [this.named('raw.e')]: EVENTS }
    for (const name of this.names) {
      const { header, body } = shapes[name]!
      const renamed = this.#renames.get(name) ?? 0
      const line = renamed === 0 ? '' : `-- @renamed_from v${renamed}: v${renamed - 1}\n`
      const text = body
        .replaceAll('{f}', String(this.#factors.get(name) ?? 1))
        .replaceAll('{v}', `v${renamed}`)
      found[this.named(name)] =
        header +
        line +
        text.replaceAll(/\b(?:raw|core|stage|mart)\.\w+/g, (input) => this.named(input))
    }
    return found
  }

  /** With an order that stays at the beginning, so that no input looks as if it forgot its oldest rows. */
  first = () => this.#event(0, 1, 5, false)

  /** Events of one collector. */
  some(today: number): { readonly collector: number; readonly events: readonly unknown[] } {
    const events = Array.from({ length: 1 + this.#below(4) }, () => {
      const id = 1 + this.#below(12)
      const isLate = this.#below(10) < 4
      const day = isLate ? 2 + this.#below(today) : today
      return this.#event(id, day, 1 + this.#below(100), this.#below(20) < 3)
    })
    return { collector: 1 + this.#below(this.collectors), events }
  }

  #event(id: number, day: number, amount: number, gone: boolean) {
    const version = (this.#versions.get(id) ?? 0) + 1
    this.#versions.set(id, version)
    const time = Date.UTC(2026, 2, day, this.#below(24), this.#below(60))
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

  /** Models whose rows keep the rule that made them. */
  get ruled(): readonly string[] {
    return this.names.filter((name) => /@kind: (?:append|merge|period)/.test(shapes[name]!.header))
  }
}
