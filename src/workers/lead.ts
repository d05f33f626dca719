// The process that leads the workers: starts them, replaces those that die, and ends them.

import cluster, { type Worker } from 'node:cluster'
import type { Readable } from 'node:stream'
import { EnvironmentError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { Logger } from '../core/logger.ts'
import { pause } from '../supervisor/restarts.ts'
import { Restarts } from '../supervisor/restarts.ts'
import { WorkerCounts } from './counts.ts'
import type { FromWorker, Listening, Orders, ToWorker } from './messages.ts'
import { TakeOver } from './take-over.ts'

interface WorkersOptions {
  readonly orders: Orders
  /** The program that each runs, with the command line and the directory of this process. */
  readonly program: {
    readonly exec: string
    readonly args: readonly string[]
    readonly cwd: string
  }
  /** Whether their log goes to the terminal; else it comes here, so that each of its lines stays whole. */
  readonly isTerminal: boolean
  readonly onLog: (lines: string) => void
  readonly logger: Logger
}

interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export class Workers implements AsyncDisposable {
  readonly #options: WorkersOptions
  readonly #stop = new AbortController()
  readonly #takeOver: TakeOver<Worker>
  readonly #counts: WorkerCounts<Worker>
  readonly #living = new Map<Worker, Promise<Exit>>()
  #where: Listening | null = null
  /** Each keeps one worker alive. */
  #places: readonly Promise<void>[] = []

  private constructor(options: WorkersOptions) {
    const { program, isTerminal, logger } = options
    this.#options = options
    const tell = (worker: Worker, message: ToWorker) => void worker.send(message, () => {})
    const giveUp = (worker: Worker, because: string) => {
      logger.warn('worker-given-up', { pid: worker.process.pid, because })
      worker.process.kill('SIGKILL')
    }
    this.#takeOver = new TakeOver({ tell, giveUp })
    this.#counts = new WorkerCounts(tell)
    cluster.schedulingPolicy = cluster.SCHED_RR
    const { exec, args, cwd } = program
    const stdio = ['ignore', 'inherit', isTerminal ? 'inherit' : 'pipe', 'ipc'] as const
    cluster.setupPrimary({ exec, args: [...args], cwd, stdio: [...stdio] })
  }

  /**
   * Starts them; resolves when all listen. null where the first has ended before, with an exit code by which it has said
   * why: that is the end of this process, too. Throws EnvironmentError where they die too often.
   */
  static async open(options: WorkersOptions): Promise<Workers | { readonly exitCode: number }> {
    const workers = new Workers(options)
    const { workers: count } = options.orders
    const first = workers.#place()
    workers.#places = [first.done]
    // What is wrong with the project is said once.
    const exitCode = await Promise.race([first.ready, first.done.then(() => null)])
    if (typeof exitCode === 'number') return { exitCode }
    const others = Array.from({ length: count - 1 }, () => workers.#place())
    workers.#places = [first, ...others].map(({ done }) => done)
    await Promise.race([Promise.all(others.map(({ ready }) => ready)), workers.failed])
    return workers
  }

  get listening(): Listening {
    return this.#where!
  }

  /** Rejects with EnvironmentError when one dies too often; resolves after the end. */
  get failed(): Promise<unknown> {
    return Promise.all(this.#places)
  }

  /** Each finishes its open requests. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    const timer = setTimeout(() => this.#signal('SIGKILL'), limits.shutdownMs + limits.lastLinesMs)
    this.#signal('SIGTERM')
    await Promise.all(this.#living.values())
    clearTimeout(timer)
    this.#takeOver.close()
    await Promise.allSettled(this.#places)
  }

  #signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    for (const worker of this.#living.keys()) worker.process.kill(signal)
  }

  /** `ready`: null when its first worker listens, or the exit code of one that could not. */
  #place() {
    let sayReady: (exitCode: number | null) => void = () => {}
    const ready = new Promise<number | null>((resolve) => (sayReady = resolve))
    const done = this.#keepAlive(sayReady)
    done.catch(() => {}) // those who wait for it get the error
    return { ready, done }
  }

  async #keepAlive(sayReady: (exitCode: number | null) => void): Promise<void> {
    const { signal } = this.#stop
    const restarts = new Restarts()
    while (!signal.aborted) {
      const startedMs = performance.now()
      const worker = this.#start(() => sayReady(null))
      const exit = await this.#living.get(worker)!
      if (signal.aborted) return
      const isMistake = this.#where === null && exit.code !== null && exit.code > 0
      if (isMistake) return sayReady(exit.code)
      const because = exit.signal ?? `exit code ${exit.code}`
      const delayMs = restarts.delayAfter(startedMs, performance.now())
      const { pid } = worker.process
      this.#options.logger.warn('worker-ended', { pid, because, again_in_ms: delayMs })
      if (delayMs === null) throw tooManyDeaths(because)
      await pause(delayMs, signal)
    }
  }

  #start(onReady: () => void): Worker {
    const worker = cluster.fork()
    this.#takeOver.join(worker)
    this.#counts.join(worker)
    worker.on('message', (message: FromWorker) => this.#hear(worker, message, onReady))
    worker.on('error', () => {}) // of its channel; its end is seen below
    const { stderr } = worker.process
    if (stderr !== null) wholeLines(stderr, this.#options.onLog)
    const ended = endOf(worker).then((exit) => {
      this.#living.delete(worker)
      this.#takeOver.leave(worker)
      this.#counts.leave(worker)
      return exit
    })
    this.#living.set(worker, ended)
    return worker
  }

  #hear(worker: Worker, message: FromWorker, onReady: () => void): void {
    switch (message.say) {
      case 'hello':
        worker.send({ say: 'orders', orders: this.#options.orders } satisfies ToWorker, () => {})
        return
      case 'listening':
        this.#where = message
        this.#takeOver.listens(worker)
        return onReady()
      case 'opened':
        return this.#takeOver.opened(worker, message.mark)
      case 'paused':
        return this.#takeOver.paused(worker, message.mark)
      case 'add-up':
        return this.#counts.addUp(worker, message.ask, message.own)
      case 'counts':
        return this.#counts.said(worker, message.ask, message.own)
    }
  }
}

const tooManyDeaths = (because: string) =>
  new EnvironmentError(
    'service-failed',
    `a worker ended ${limits.restartDeaths} times within ${limits.restartWindowMs / 1000} seconds, the last time with ${because}`,
    { hint: 'its log is above; with fewer --workers each has more memory' },
  )

function endOf(worker: Worker): Promise<Exit> {
  return new Promise((resolve) => {
    worker.process.once('error', ({ message }) => resolve({ code: null, signal: message }))
    worker.process.once('exit', (code, signal) => resolve({ code, signal }))
  })
}

/** What comes of a stream, but no part of a line: those of several workers go to one place. */
function wholeLines(stream: Readable, onLines: (lines: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1
    if (end === 0) return void (rest += text)
    onLines(rest + text.slice(0, end))
    rest = text.slice(end)
  })
  stream.on('end', () => {
    if (rest !== '') onLines(`${rest}\n`)
  })
  stream.on('error', () => {})
}
