// SIGINT and SIGTERM: the first asks the command to stop, a second SIGINT ends the process at once. A child of `eider up`
// stops as after SIGTERM when its supervisor is gone. When what was asked to stop has ended, so does the process.

import { limits } from '../core/limits.ts'

const EXIT_CODE = { SIGINT: 130, SIGTERM: 143 } as const
type StopSignal = keyof typeof EXIT_CODE

/** Set for the children of `eider up`. */
export const SUPERVISED = 'EIDER_SUPERVISED'

export type StopRequest = ReturnType<typeof onStop>

/** `atOnce` is called before the process ends for a second SIGINT. */
export function onStop(atOnce: () => void = () => {}) {
  const controller = new AbortController()
  const { signal } = controller
  let received: StopSignal | null = null
  const stop = (name: StopSignal) => {
    if (received !== null && name === 'SIGINT') {
      atOnce()
      endAtOnce(name)
    }
    received ??= name
    controller.abort()
  }
  const onLost = () => stop('SIGTERM')
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  const asked = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
  if (process.env[SUPERVISED] !== undefined) whenDisconnected(onLost)
  return {
    signal,
    /** Resolves when a stop is asked for. */
    asked,
    /** The exit code of a command that was cut short. null: nobody asked it to stop. */
    exitCode: () => (received === null ? null : EXIT_CODE[received]),
    [Symbol.dispose]() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      process.off('disconnect', onLost)
      if (received !== null) endSoon()
    },
  }
}

/** For what a library has left open, such as a watch of a directory that it began while it was closed. */
function endSoon(): void {
  setTimeout(() => process.exit(), limits.endAfterStopMs).unref()
}

/** By the signal, since process.exit() waits for the statements at which the engine is. */
function endAtOnce(name: StopSignal): never {
  process.emit('exit', EXIT_CODE[name])
  process.removeAllListeners(name)
  process.kill(process.pid, name)
  process.exit(EXIT_CODE[name]) // the first process of a container, which no signal ends
}

/** The system closes the channel to the parent when that ends, however it does. */
function whenDisconnected(onLost: () => void): void {
  if (!process.connected) return onLost()
  process.once('disconnect', onLost)
  process.channel?.unref() // or the process would live on for the listener
}
