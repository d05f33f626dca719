// One page of the explorer in a browser, with all that it must not do written down: errors on its console, breaches of
// its policy, requests to other hosts.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContextOptions, Page } from 'playwright-core'
import * as assert from 'uvu/assert'
import { browserTests, type WithBrowser } from './browser.ts'
import { until } from './until.ts'

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

interface Served extends AsyncDisposable {
  /** Of the OData service: http://127.0.0.1:1234/odata */
  readonly base: string
}

interface ExplorerPage {
  readonly page: Page
  /** http://127.0.0.1:1234 */
  readonly origin: string
  /** Opens a path of the page and waits until nothing is loading. */
  readonly visit: (path: string) => Promise<void>
  /** Waits until nothing is loading, and nothing new begins to. */
  readonly settled: () => Promise<void>
  /** What axe finds at least serious: rule, and where. */
  readonly axe: () => Promise<readonly string[]>
  /** What it did that it must not do; a test that provokes something takes it out of the list. */
  readonly faults: string[]
}

interface ExplorerTestOptions extends BrowserContextOptions {
  /** Schemes that it runs in; light alone unless it says otherwise. */
  readonly schemes?: readonly Scheme[]
}

type Scheme = 'light' | 'dark'
const inLight: readonly Scheme[] = ['light']
export const inBoth: readonly Scheme[] = ['light', 'dark']

type RunOnPage<T> = (explorer: ExplorerPage & { readonly served: T & WithBrowser }) => Promise<void>

/** Tests on fresh pages of one service. Each ends with the check that the page did nothing that it must not do. */
export function explorerTests<T extends Served>(
  open: () => Promise<T>,
): (name: string, run: RunOnPage<T>, options?: ExplorerTestOptions) => void {
  const browserTest = browserTests(open)
  return (name, run, { schemes = inLight, ...options } = {}) => {
    for (const colorScheme of schemes)
      browserTest(schemes.length === 1 ? name : `${name} (${colorScheme})`, async (shared) => {
        await using opened = await openPage(shared, { colorScheme, ...options })
        await run({ ...opened, served: shared })
        assert.equal(opened.faults, [])
      })
  }
}

export async function openPage(
  { base, browser }: Pick<Served, 'base'> & WithBrowser,
  options: BrowserContextOptions = {},
): Promise<ExplorerPage & AsyncDisposable> {
  const { origin } = new URL(base)
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    timezoneId: 'America/New_York',
    locale: 'en-GB',
    ...options,
  })
  const faults: string[] = []
  context.on('request', (request) => {
    const url = request.url()
    if (!url.startsWith(`${origin}/`) && !/^(?:blob|data):/.test(url)) faults.push(`asks ${url}`)
  })
  context.on('console', (message) => {
    const { url } = message.location()
    if (['error', 'warning'].includes(message.type())) faults.push(`${message.text()} ${url}`)
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  const traffic = { open: 0, seen: 0 }
  context.on('request', () => {
    traffic.open += 1
    traffic.seen += 1
  })
  context.on('requestfinished', () => (traffic.open -= 1))
  context.on('requestfailed', () => (traffic.open -= 1))
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
  // An answer is drawn, and what comes into view by that is asked for, in the frames after it.
  const settled = async () => {
    const isQuiet = async () => {
      const { seen } = traffic
      await page.evaluate(FRAMES)
      return traffic.open === 0 && traffic.seen === seen
    }
    await until(isQuiet, Boolean, TIMEOUT_MS)
  }
  return {
    page,
    origin,
    faults,
    async visit(path) {
      await page.goto(origin + path)
      // A busy machine loads nothing for a while before the script has begun.
      await page.locator('#page main, noscript p').first().waitFor({ state: 'attached' })
      await settled()
    },
    settled,
    axe: () => seriousFindings(page),
    async [Symbol.asyncDispose]() {
      // A handler may still wait for an answer that ends with the page.
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
    },
  }
}

/** Of the table of rows. */
export async function scrollToEnd(page: Page): Promise<void> {
  await page.locator('.rows-region').evaluate((region) => {
    // Elements are those of the browser, which this file is not compiled for.
    Object.assign(region, { scrollTop: 1e7 })
  })
}

/** The machine may be busy; a test that waits for what never comes should still say so before its file is stopped. */
const TIMEOUT_MS = 20_000
/** Some frames of the page, however long a busy machine takes for them. */
const FRAMES = `new Promise((resolve) => {
  const next = (left) => (left === 0 ? setTimeout(resolve, 50) : requestAnimationFrame(() => next(left - 1)))
  next(5)
})`

/** Of all that axe says, with every element that is well, only the findings leave the page: the rest are megabytes. */
const FINDINGS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`

async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axeSource)
  return page.evaluate<string[]>(FINDINGS)
}
