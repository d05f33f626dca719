// What the page says when data are newer than it, late or not there at all.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests, openPage, scrollToEnd } from '../../support/explorer-page.ts'
import { publish } from '../../support/snapshot-files.ts'

const troubleTest = explorerTests(() => explored(shop))
const counted = (page: Page, rows: string) =>
  page.getByRole('status', { name: 'Count' }).getByText(rows).waitFor()

troubleTest('new data are said, and come when they are wanted', async ({ served }) => {
  await using own = await explored(shop)
  await using opened = await openPage({ base: own.base, browser: served.browser })
  const { page, visit } = opened
  await page.clock.install()
  await visit('/sets/core_orders')
  await counted(page, '450 rows')
  await publish(own.dir, 'second', [
    { ...shop[1]!, rows: sql`SELECT i::INTEGER AS order_id FROM range(50) t(i)` },
  ])
  const news = page.getByRole('button', { name: 'new data, reload' })
  // The service takes a moment to open it.
  for (let i = 0; i < 20 && !(await news.isVisible()); i++) {
    await page.clock.fastForward(31_000)
    await page.waitForTimeout(100)
  }
  await counted(page, '450 rows')
  await news.click()
  await counted(page, '50 rows')
})

troubleTest(
  'what a run says just after it has published comes without a reload',
  async ({ page, visit }) => {
    let answers = 0
    await page.route('**/catalog.json', async (route) => {
      const catalog = (await (await route.fetch()).json()) as object
      const isLate = ++answers === 3
      const json = isLate ? { ...catalog, project: 'known now', is_whole: true } : catalog
      await route.fulfill({ json })
    })
    await visit('/')
    await page.getByRole('heading', { name: 'known now' }).waitFor()
    assert.is(answers, 3)
  },
)

troubleTest(
  'a server that is gone is said, and what failed comes when it is back',
  async ({ page, visit, faults }) => {
    await visit('/')
    await page.clock.install()
    await page.route('**/odata/**', (route) => route.abort())
    await page.route('**/health', (route) => route.abort())
    await page
      .getByRole('link', { name: /core_customers/ })
      .first()
      .click()
    await page.getByText('The server does not answer. The page tries again').waitFor()
    await page.unroute('**/odata/**')
    await page.unroute('**/health')
    await page.clock.fastForward(6_000)
    await counted(page, '50 rows')
    assert.is(await page.getByText('The page tries again').count(), 0)
    faults.length = 0
  },
)

troubleTest(
  'a service that is too slow or too busy is asked again',
  async ({ page, visit, faults }) => {
    let status = 504
    await page.route(/core_customers\?/, (route) => {
      if (status === 200) return route.continue()
      const error = { code: 'timeout', message: 'the query took longer than 30 s' }
      return route.fulfill({ status, json: { error } })
    })
    await visit('/sets/core_customers')
    await page.getByText('This took longer than the service allows.').first().waitFor()
    await page.getByText('the query took longer than 30 s').first().waitFor()
    const button = page.getByRole('button', { name: 'again' }).first()
    const { height, width } = (await button.boundingBox())!
    assert.ok(height < 60 && width < 120, `${width}x${height}`)
    assert.is(await page.getByRole('region', { name: /^Values of/ }).count(), 0)
    status = 200
    await page.getByRole('button', { name: 'again' }).first().click()
    await counted(page, '50 rows')
    faults.length = 0
  },
)

troubleTest(
  'while rows are asked for the count of those before is not shown, and an expired token is said',
  async ({ page, visit, faults }) => {
    await visit('/sets/core_orders')
    await counted(page, '450 rows')
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route(/core_orders\?\$filter/, async (route) => {
      await held
      const error = { code: 'token-expired', message: 'the token has expired' }
      return route.fulfill({ status: 401, json: { error } })
    })
    await page.getByRole('button', { name: /^paid/ }).click()
    await counted(page, '…')
    release()
    await page.getByText('The service no longer takes your token.').waitFor()
    await page.getByText('the token has expired').waitFor()
    faults.length = 0
  },
)

troubleTest(
  'a next link whose snapshot is gone begins at the top',
  async ({ page, visit, faults }) => {
    await page.route(/skiptoken/, (route) =>
      route.fulfill({ status: 410, json: { error: { code: 'snapshot-gone', message: 'gone' } } }),
    )
    await visit("/sets/core_orders?$filter=status%20eq%20'paid'")
    await counted(page, '150 rows')
    await scrollToEnd(page)
    await page.getByText('New data came; from the top.').waitFor()
    assert.match(decodeURIComponent(page.url()), "status eq 'paid'")
    faults.length = 0
  },
)

const emptyTest = explorerTests(() => explored([]))

emptyTest(
  'before the first run it says what to do, and nothing else',
  async ({ page, visit, faults }) => {
    await visit('/')
    assert.match(await page.getByRole('main').innerText(), 'run eider run first')
    assert.is(await page.getByRole('navigation').count(), 0)
    faults.length = 0
  },
)

emptyTest(
  'without script the page says where the data are',
  async ({ page, origin }) => {
    // Nothing of the page can be asked whether it is done.
    await page.goto(`${origin}/`)
    await page.getByRole('link', { name: '$metadata' }).waitFor()
  },
  { javaScriptEnabled: false },
)

test.run()
