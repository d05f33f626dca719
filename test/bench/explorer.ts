// The explorer: how long until the rows of a set are on the screen, and what other clients notice of a person who looks at
// pictures of columns. Needs a Chromium (test/support/browser.ts).

import { get } from 'node:http'
import type { Browser } from 'playwright-core'
import { launch } from '../support/browser.ts'
import { type Benchmark, type Figure, interleaved, median } from './figure.ts'
import { publishedTable, type Served, serveTable } from './served.ts'

/** A person who waits longer begins to think of something else. */
const FIRST_SET_MS = 1_000

export const explorerBenchmark: Benchmark = {
  name: 'explorer',
  async *run({ quick }) {
    const rows = quick ? 100_000 : 1_000_000
    await using space = await publishedTable(rows)
    await using service = await serveTable(space.dir, { cacheBytes: 0 })
    const browser = await launch()
    try {
      const rounds = quick ? 3 : 9
      yield* [
        await firstSet(browser, service, rounds),
        await besideOthers(browser, service, rounds),
      ]
    } finally {
      await browser.close()
    }
  },
}

/** The page itself notes when its first cell has been painted: to ask it again and again would slow it. */
const NOTE_FIRST_CELL = `new MutationObserver((_changes, observer) => {
  if (document.querySelector('tbody td') === null) return
  observer.disconnect()
  requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => performance.mark('first-cell')
    port2.postMessage(null)
  })
}).observe(document, { childList: true, subtree: true })`
const FIRST_CELL_MS = `new Promise((resolve) => {
  new PerformanceObserver((list) => {
    for (const { name, startTime } of list.getEntries()) if (name === 'first-cell') resolve(startTime)
  }).observe({ type: 'mark', buffered: true })
})`

/** Each time in a browser that has nothing of the page yet. */
async function firstSet(browser: Browser, { port }: Served, rounds: number): Promise<Figure> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.addInitScript(NOTE_FIRST_CELL)
    await page.goto(`http://127.0.0.1:${port}/sets/mart_rows`)
    times.push(await page.evaluate<number>(FIRST_CELL_MS))
    await context.close()
  }
  const ms = median(times)
  return {
    name: `first set on the screen of the explorer / ${FIRST_SET_MS} ms`,
    ratio: ms / FIRST_SET_MS,
    bound: { at: 'most', ratio: 1 },
    measured: `${ms.toFixed(0)} ms from the navigation to the frame with the first cell, median of ${rounds}`,
  }
}

/** One client asks for one row after the other, alone and while all columns are counted and drawn. */
async function besideOthers(browser: Browser, served: Served, rounds: number): Promise<Figure> {
  const page = await browser.newPage()
  const ours = async () => {
    const looking = page.goto(`http://127.0.0.1:${served.port}/sets/mart_rows/columns`)
    const ms = await lookups(served)
    await looking
    return ms
  }
  const found = await interleaved(rounds, ours, () => lookups(served))
  return {
    name: 'a lookup while the explorer counts its columns / alone',
    ratio: found.ours / found.baseline,
    bound: { at: 'most', ratio: 4 },
    measured: `${found.ours.toFixed(2)} ms against ${found.baseline.toFixed(2)} ms, medians of a second`,
  }
}

/** The median time of one row by its key, over a second. */
async function lookups({ port }: Served): Promise<number> {
  const times: number[] = []
  const end = performance.now() + 1_000
  for (let key = 1; performance.now() < end; key++) {
    const startedAt = performance.now()
    await answered(port, `/odata/mart_rows(${key})`)
    times.push(performance.now() - startedAt)
  }
  return median(times)
}

function answered(port: number, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path }, (response) => {
      response.resume().once('end', () => resolve())
    }).once('error', reject)
  })
}
