// The clock of the system as this process sees it, set by somebody.

/** For as long as it is not disposed. `new Date()` goes on as before. */
export function clockSetBy(aheadMs: number): Disposable {
  const { now } = Date
  Date.now = () => now() + aheadMs
  return {
    [Symbol.dispose]() {
      Date.now = now
    },
  }
}
