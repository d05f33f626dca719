// A Chromium without a window, for tests of pages: the one that CHROMIUM_PATH names or that is installed. Where there is
// none, these tests are skipped; with EIDER_TEST_PARTS=required, as in CI, they fail then.

import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { test } from 'uvu'
import { testsSharing } from './shared.ts'

/** The first one has no windows at all, and opens a page in a quarter of the time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
]
const places = [
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((dir) => names.map((name) => join(dir, name))),
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = process.env['CHROMIUM_PATH'] || (places.find(isExecutable) ?? null)
const isRequired = process.env['EIDER_TEST_PARTS'] === 'required'

export interface WithBrowser {
  readonly browser: Browser
}

/** Tests that share one browser and what `open` gives; closed after the last of them. */
export function browserTests<T extends AsyncDisposable>(
  open: () => Promise<T>,
): (name: string, run: (shared: T & WithBrowser) => unknown) => void {
  if (executablePath === null && !isRequired) return (name) => test.skip(name)
  return testsSharing(async () => {
    const opened = await open()
    try {
      const browser = await launch()
      return {
        ...opened,
        browser,
        async [Symbol.asyncDispose]() {
          await browser.close()
          await opened[Symbol.asyncDispose]()
        },
      }
    } catch (error) {
      await opened[Symbol.asyncDispose]()
      throw error
    }
  })
}

export async function launch(): Promise<Browser> {
  if (executablePath === null)
    throw new Error('no Chromium: install it, or name it in CHROMIUM_PATH')
  const isRoot = process.getuid?.() === 0
  // The sandbox of Chromium refuses to start as root.
  return chromium.launch({ executablePath, args: isRoot ? ['--no-sandbox'] : [] })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
