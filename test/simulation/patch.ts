// Replaces a function of the system by one that the world knows of. Where no process of a world asks, it is as it was.

import { currentProcess, type SimulatedProcess } from './world.ts'

export type Call = (...args: unknown[]) => unknown

/** `instead` gets what it replaces, bound. Returns that. */
export function patch(
  object: object,
  name: string,
  instead: (process: SimulatedProcess, original: Call, args: unknown[], self: unknown) => unknown,
): Call {
  const original = Reflect.get(object, name) as Call
  const replaced = function (this: unknown, ...args: unknown[]): unknown {
    const process = currentProcess()
    if (process === undefined) return Reflect.apply(original, this, args)
    return instead(process, original.bind(this), args, this)
  }
  // Such as the symbol by which promisify() knows another form.
  for (const key of Object.getOwnPropertySymbols(original))
    Reflect.set(replaced, key, Reflect.get(original, key))
  Reflect.defineProperty(object, name, { value: replaced, writable: true, configurable: true })
  return original
}
