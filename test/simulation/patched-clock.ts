// Time, chance and the numbers of processes, as a process of a world sees them.

import crypto from 'node:crypto'
import timers from 'node:timers/promises'
import { patch } from './patch.ts'
import { currentProcess, type SimulatedProcess, type World } from './world.ts'

export function patchClock(): void {
  patchDate()
  patch(performance, 'now', (process) => process.world.monotonicMs(process))
  patch(timers, 'setTimeout', sleep)
  patch(globalThis, 'setTimeout', (process, _, [callback, ms, ...args]) =>
    once(process, () => (callback as (...args: unknown[]) => void)(...args), ms as number),
  )
  patch(globalThis, 'setInterval', (process, _, [callback, ms, ...args]) =>
    again(process, () => (callback as (...args: unknown[]) => void)(...args), ms as number),
  )
  for (const name of ['clearTimeout', 'clearInterval'])
    patch(globalThis, name, (_, original, [timer]) => {
      if (timer instanceof Pending) timer.cancel()
      else original(timer)
    })
  patch(AbortSignal, 'timeout', (process, _, [ms]) => {
    const controller = new AbortController()
    const late = () => controller.abort(new DOMException('it took too long', 'TimeoutError'))
    process.world.after(process, ms as number, late)
    return controller.signal
  })
  patchChance()
  patchPids()
}

function patchDate(): void {
  const RealDate = Date
  globalThis.Date = new Proxy(RealDate, {
    construct(target, args: [], newTarget) {
      const world = currentProcess()?.world
      const given = args.length === 0 && world !== undefined ? [Math.floor(world.wallMs)] : args
      return Reflect.construct(target, given, newTarget) as object
    },
    get(target, key, receiver) {
      const world = currentProcess()?.world
      if (key === 'now' && world !== undefined) return () => Math.floor(world.wallMs)
      return Reflect.get(target, key, receiver) as unknown
    },
  })
}

class Pending {
  cancel: () => void
  constructor(cancel: () => void) {
    this.cancel = cancel
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return false
  }
  refresh(): this {
    return this
  }
  [Symbol.toPrimitive](): number {
    return 0
  }
}

const once = (process: SimulatedProcess, fire: () => void, ms: number) =>
  new Pending(process.world.after(process, ms, fire))

function again(process: SimulatedProcess, fire: () => void, ms: number): Pending {
  const timer = new Pending(() => {})
  const next = () => {
    timer.cancel = process.world.after(process, Math.max(1, ms), () => {
      next()
      fire()
    })
  }
  next()
  return timer
}

function sleep(process: SimulatedProcess, _: unknown, args: unknown[]): Promise<unknown> {
  const [ms, value, options] = args as [number, unknown, { signal?: AbortSignal } | undefined]
  return new Promise((resolve, reject) => {
    const signal = options?.signal
    const cancel = process.world.after(process, ms, () => resolve(value))
    signal?.addEventListener('abort', () => {
      cancel()
      reject(new DOMException('aborted', 'AbortError'))
    })
  })
}

function patchChance(): void {
  const bytes = (world: World, size: number) =>
    Buffer.from(Array.from({ length: size }, () => world.upTo(255)))
  patch(Math, 'random', ({ world }) => world.random())
  patch(crypto, 'randomBytes', ({ world }, _, [size]) => bytes(world, size as number))
  patch(crypto, 'randomUUID', ({ world }) => {
    const hex = bytes(world, 16).toString('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  })
  patch(crypto, 'randomInt', ({ world }, _, args) => {
    const [from, to] = args.length === 1 ? [0, args[0]] : args
    return (from as number) + world.upTo((to as number) - (from as number) - 1)
  })
}

function patchPids(): void {
  const { pid } = process
  Reflect.defineProperty(process, 'pid', {
    get: () => currentProcess()?.pid ?? pid,
    configurable: true,
  })
  patch(process, 'kill', ({ world }, _, [asked]) => {
    if (world.processes.some((one) => one.pid === asked)) return true
    throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH', syscall: 'kill' })
  })
}
