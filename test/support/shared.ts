import { test } from 'uvu'

/**
 * For tests of one file that only look at what they are given: it is opened by the first of them that runs, and closed
 * by the last one. A test that changes it opens its own.
 */
export function testsSharing<T extends AsyncDisposable>(
  open: () => Promise<T>,
  declare: (name: string, run: () => Promise<void>) => void = test,
): (name: string, run: (shared: T) => unknown) => void {
  let opened: Promise<T> | null = null
  let left = 0
  return (name, run) => {
    left += 1
    declare(name, async () => {
      opened ??= open()
      try {
        await run(await opened)
      } finally {
        left -= 1
        if (left === 0) {
          const last = await opened
          // The next file in this process opens its own.
          opened = null
          await last[Symbol.asyncDispose]()
        }
      }
    })
  }
}
