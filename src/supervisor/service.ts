// A service that is kept alive: started again when it dies, later each time, and given up when it dies too often.

import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { ServiceName, ServiceState, UpEvent } from '../core/report/up.ts'
import { processIdentity } from '../files/process-lock.ts'
import { type Child, type ChildOutput, type Exit, exitText } from './child.ts'
import { pause } from './restarts.ts'
import { Restarts } from './restarts.ts'

interface ServiceOptions {
  readonly name: ServiceName
  /** `before`: where it listened, for a service on a free port to keep it. */
  readonly start: (output: ChildOutput, before: ServiceListening | null) => Child
  /** Whether it says when it is ready; else it is so at once. */
  readonly listens: boolean
  readonly onEvent: (event: UpEvent) => void
  readonly onLog: (line: string) => void
}

export interface ServiceListening {
  readonly url: string
  readonly adminUrl: string | null
}

export class ServiceChild {
  readonly name: ServiceName
  readonly #options: ServiceOptions
  readonly #stop = new AbortController()
  #child: Child | null = null
  #listening: ServiceListening | null = null
  #isReady = false
  #restarts = 0
  #state: Pick<ServiceState, 'state' | 'since' | 'pid' | 'process' | 'last_end'>
  readonly #firstReady: Promise<void>
  #sayReady: () => void = () => {}
  /** Rejects with EnvironmentError when it is given up; resolves when it was ended. */
  readonly done: Promise<void>

  constructor(options: ServiceOptions) {
    this.#options = options
    this.name = options.name
    this.#state = { state: 'starting', since: now(), pid: null, process: null, last_end: null }
    this.#firstReady = new Promise((resolve) => (this.#sayReady = resolve))
    this.done = this.#keepAlive()
    this.done.catch(() => {}) // those who wait for it get the error
  }

  /** Resolves when it listens for the first time; rejects when it is given up before. */
  get ready(): Promise<void> {
    return Promise.race([this.#firstReady, this.done])
  }

  get listening(): ServiceListening | null {
    return this.#listening
  }

  state(): ServiceState {
    return {
      service: this.name,
      ...this.#state,
      url: this.#listening?.url ?? null,
      admin_url: this.#listening?.adminUrl ?? null,
      restarts: this.#restarts,
    }
  }

  async end(graceMs: number): Promise<void> {
    this.#stop.abort()
    await this.#child?.end(graceMs)
    await this.done.catch(() => {})
  }

  kill(): void {
    this.#stop.abort()
    this.#child?.kill()
  }

  async #keepAlive(): Promise<void> {
    const { signal } = this.#stop
    const restarts = new Restarts()
    while (!signal.aborted) {
      const startedMs = performance.now()
      const exit = await this.#live()
      if (signal.aborted) break
      const endedMs = performance.now()
      const delayMs = this.#cannotStart(exit) ? null : restarts.delayAfter(startedMs, endedMs)
      this.#ended(exit, delayMs)
      if (delayMs === null) throw this.#givenUp(exit)
      await pause(delayMs, signal)
      this.#restarts++
    }
    this.#change('stopped', null)
  }

  /** A mistake of the project or of the machine, of which the service has said what it is: nothing to try again. */
  #cannotStart({ code }: Exit): boolean {
    return !this.#isReady && code !== null && code >= 1 && code <= 3
  }

  async #live(): Promise<Exit> {
    const output = { onResult: (line: string) => this.#result(line), onLog: this.#options.onLog }
    const child = this.#options.start(output, this.#listening)
    this.#child = child
    this.#change(this.#restarts === 0 ? 'starting' : 'restarting', child.pid)
    if (!this.#options.listens) this.#started()
    const exit = await child.ended
    this.#child = null
    return exit
  }

  #result(line: string): void {
    if (!line.includes('"event":"listening"')) return
    const said = JSON.parse(line) as { readonly url: string; readonly admin_url?: string }
    this.#listening = { url: said.url, adminUrl: said.admin_url ?? null }
    this.#started()
  }

  #started(): void {
    this.#isReady = true
    this.#change('running', this.#child?.pid ?? 0)
    const { service, pid, url, restarts } = this.state()
    this.#options.onEvent({ event: 'service-started', service, pid: pid ?? 0, url, restarts })
    this.#sayReady()
  }

  #ended(exit: Exit, delayMs: number | null): void {
    const because = exitText(exit)
    this.#state = { ...this.#state, last_end: `${because} at ${now()}` }
    this.#change(delayMs === null ? 'stopped' : 'restarting', null)
    const service = this.name
    this.#options.onEvent({ event: 'service-ended', service, because, again_in_ms: delayMs })
  }

  #givenUp(exit: Exit): EnvironmentError {
    const { restartDeaths, restartWindowMs } = limits
    const because = exitText(exit)
    const [what, hint] = this.#isReady
      ? [
          `ended ${restartDeaths} times within ${restartWindowMs / 1000} seconds, the last time with ${because}`,
          'its output is above; eider doctor checks the machine',
        ]
      : [`does not start: ${because}`, 'its output is above']
    return new EnvironmentError('service-failed', `${this.name} ${what}`, { hint })
  }

  #change(state: ServiceState['state'], pid: number | null): void {
    const process = pid === null ? null : processIdentity(pid)
    this.#state = { ...this.#state, state, pid, process, since: now() }
  }
}

const now = () => new Date().toISOString()
