// Waiting for what comes in its own time. A test never sleeps for a fixed time and hopes.

/** Looks again until it is so, and gives what was seen; fails after `timeoutMs` with what was seen last. */
export async function until<T>(
  look: () => T | Promise<T>,
  isSo: (seen: T) => boolean = Boolean,
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const seen = await look()
    if (isSo(seen)) return seen
    if (performance.now() > deadline)
      throw new Error(`still ${JSON.stringify(seen)} after ${timeoutMs / 1000} s: ${String(look)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
