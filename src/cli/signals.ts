// SIGINT and SIGTERM: the first asks the command to stop, a second SIGINT ends the process at once.

const EXIT_CODE = { SIGINT: 130, SIGTERM: 143 } as const
type StopSignal = keyof typeof EXIT_CODE

export interface StopRequest extends Disposable {
  readonly signal: AbortSignal
  /** Resolves when a stop is asked for. */
  readonly asked: Promise<void>
  /** Exit code of a command that was cut short; null when none was asked for. */
  exitCode(): number | null
}

export function onStop(): StopRequest {
  const controller = new AbortController()
  let received: StopSignal | null = null
  const stop = (name: StopSignal) => {
    if (received !== null && name === 'SIGINT') process.exit(EXIT_CODE[name])
    received ??= name
    controller.abort()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return {
    signal: controller.signal,
    asked: new Promise((resolve) => controller.signal.addEventListener('abort', () => resolve())),
    exitCode: () => (received === null ? null : EXIT_CODE[received]),
    [Symbol.dispose]() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
    },
  }
}
