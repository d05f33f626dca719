// Senders and readers, on other machines: nothing that befalls this one befalls them. They know what they were answered.

import type { Project } from '../../src/project/project.ts'
import { type Call, type Known, noteOf } from './known.ts'
import { ask } from './machine.ts'
import type { SimulatedProcess, World } from './world.ts'

interface Asked {
  readonly known: Known
  /** By the number of the collector. */
  readonly projects: readonly Project[]
  /** Ports of services, by their number. */
  readonly services: readonly number[]
  readonly find: (wrong: string | null) => void
}

const MOST_OPEN_CALLS = 3

export class Outside {
  readonly process: SimulatedProcess
  readonly world: World
  readonly known: Known
  readonly #projects: readonly Project[]
  readonly #services: readonly number[]
  readonly #find: (wrong: string | null) => void
  /** Bits of the buffer have changed. */
  isDamaged = false
  answers = 0
  #openCalls = 0
  /** Requests that are sent again later. */
  #waitingCalls = 0
  #openReads = 0

  constructor(world: World, { known, projects, services, find }: Asked) {
    this.world = world
    this.known = known
    this.#projects = projects
    this.#services = services
    this.#find = find
    this.process = world.start('client')
  }

  get mayCall(): boolean {
    return this.#openCalls < MOST_OPEN_CALLS
  }

  /** Every request has its answer, and none is sent again. */
  get isDone(): boolean {
    return this.#openCalls + this.#waitingCalls === 0
  }

  get hasRead(): boolean {
    return this.#openReads === 0
  }

  send(): void {
    const { world } = this
    const collector = world.upTo(this.#projects.length - 1)
    const call = this.known.begin(1 + world.upTo(4), collector, world.chance(0.6))
    void this.#deliver(call)
  }

  async #deliver(call: Call): Promise<void> {
    this.#openCalls++
    const { key, size, collector, id } = call
    const events = Array.from({ length: size }, (_, i) => ({ call: id, i, note: noteOf(id, i) }))
    const options = {
      port: this.#projects[collector]!.settings['collect.port'],
      method: 'POST',
      path: '/collect/raw/events/batch',
      headers: {
        'Content-Type': 'application/json',
        Connection: 'close',
        ...(key !== null && { 'Idempotency-Key': key }),
      },
    }
    const answer = await ask(this.process, options, JSON.stringify(events))
    this.#openCalls--
    this.world.note(`call ${id}: ${answer?.status ?? 'no answer'}`)
    if (answer?.status === 202) call.state = 'accepted'
    else if (answer !== null) call.state = 'refused'
    else call.state = 'unknown'
    if (answer !== null && ![202, 503].includes(answer.status))
      this.#find(`call ${id} was answered by ${answer.status} ${answer.text}`)
    const isAgain = key !== null && (call.state !== 'accepted' || this.world.chance(0.2))
    if (isAgain && id >= this.known.firstKept) this.#again(call)
  }

  /** A sender with a key sends again: where it had no answer, and where it forgets that it had one. */
  #again(call: Call): void {
    const wasAccepted = call.state === 'accepted'
    this.#waitingCalls++
    this.world.after(this.process, 50 + this.world.upTo(400), () => {
      this.#waitingCalls--
      if (!wasAccepted) call.state = 'open'
      void this.#deliver(call).then(() => {
        if (wasAccepted) call.state = 'accepted'
      })
    })
  }

  read(service = this.world.upTo(this.#services.length - 1)): void {
    const set = this.world.oneOf(['mart_calls', 'mart_totals'])
    const floor = this.known.latest(service)
    const thrown = this.known.firstKept
    const options = {
      port: this.#services[service]!,
      method: 'GET',
      path: `/odata/${set}`,
      headers: { Connection: 'close' },
    }
    this.#openReads++
    void ask(this.process, options, '').then((answer) => {
      this.#openReads--
      this.world.note(`read ${set} of ${service}: ${answer?.status ?? 'no answer'}`)
      if (answer === null || thrown !== this.known.firstKept) return
      // Nothing is published yet, or the disk refuses.
      if ([404, 503].includes(answer.status)) return
      if (answer.status !== 200) return this.#find(`a reader got ${answer.status} ${answer.text}`)
      this.answers++
      this.#judge(set, answer.text, answer.snapshot ?? '', { service, floor })
    })
  }

  #judge(
    set: string,
    text: string,
    snapshot: string,
    reader: { readonly service: number; readonly floor: number },
  ): void {
    const { value } = JSON.parse(text) as { value: { call: number; n: number }[] }
    const { isDamaged } = this
    if (set === 'mart_calls')
      this.#find(this.known.wrongAnswer(snapshot, value, { ...reader, isDamaged }))
    else this.#find(this.known.wrongTotal(snapshot, value[0]?.n ?? 0, reader))
  }
}
