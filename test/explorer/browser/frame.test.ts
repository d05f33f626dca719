// What is around every view: sets, search, keys, freshness, and what it says when things are not well.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests, inBoth, openPage, scrollToEnd } from '../../support/explorer-page.ts'
import { publish } from '../../support/snapshot-files.ts'

const frameTest = explorerTests(() => explored(shop))
const counted = (page: Page, rows: string) =>
  page.getByRole('status', { name: 'Count' }).getByText(rows).waitFor()
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 })

frameTest(
  'the first page lists the sets by schema, and what is new',
  async ({ page, visit, axe }) => {
    await visit('/')
    const sets = page.getByRole('navigation', { name: 'Sets' })
    assert.equal(await sets.getByRole('heading').allInnerTexts(), ['core', 'mart'])
    assert.match(await sets.getByRole('link', { name: /core_orders/ }).innerText(), '450')
    await heading(page, 'shop').waitFor()
    assert.equal(await axe(), [])
    await sets.getByRole('link', { name: /core_orders/ }).click()
    await heading(page, 'core_orders').waitFor()
    const current = sets.locator('[aria-current="page"]')
    assert.match(await current.innerText(), 'core_orders')
    assert.is(await page.title(), 'core_orders · shop')
    await page.goBack()
    await heading(page, 'shop').waitFor()
  },
  { schemes: inBoth },
)

frameTest('the search finds sets and columns, by keys alone', async ({ page, visit, axe }) => {
  await visit('/')
  await page.keyboard.press('/')
  await page.keyboard.type('custom')
  const found = page.getByRole('listbox', { name: 'Found' })
  assert.equal(
    (await found.getByRole('option').allInnerTexts()).map((text) => text.split('\n')[0]),
    ['customer_id', 'customer_id', 'core_customers'],
  )
  assert.equal(await axe(), [])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await heading(page, 'core_customers').waitFor()
})

frameTest(
  'single keys go from set to set and elsewhere, but not in a field',
  async ({ page, visit }) => {
    await visit('/sets/core_customers')
    await page.keyboard.press('j')
    await heading(page, 'core_orders').waitFor()
    await page.keyboard.press('k')
    await heading(page, 'core_customers').waitFor()
    await page.keyboard.press('f')
    await page.getByRole('form', { name: 'Condition' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox', { name: 'Search in the rows' }).fill('j')
    await page.keyboard.press('j')
    await heading(page, 'core_customers').waitFor()
    await heading(page, 'core_customers').focus()
    await page.keyboard.press('g')
    await page.keyboard.press('h')
    await heading(page, 'shop').waitFor()
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keys' })
    await keys.getByRole('checkbox').uncheck()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    assert.is(new URL(page.url()).pathname, '/')
  },
)

frameTest('the colours follow the system, or what somebody chose', async ({ page, visit }) => {
  await visit('/')
  const ground = () =>
    page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const light = await ground()
  await page.getByRole('button', { name: 'Colours: system' }).click()
  await page.getByRole('button', { name: 'Colours: light' }).click()
  const dark = await ground()
  assert.is.not(dark, light)
  await page.reload()
  await heading(page, 'shop').waitFor()
  assert.is(await ground(), dark)
  assert.equal(await page.evaluate('Object.keys(localStorage)'), ['eider-theme'])
  assert.is(await page.evaluate('document.cookie'), '')
})

frameTest(
  'on a telephone the sets are a menu',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders')
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    assert.is(width, 390)
    const sets = page.getByRole('navigation', { name: 'Sets' })
    assert.not(await sets.isVisible())
    await page.getByRole('button', { name: 'Sets', exact: true }).click()
    assert.equal(await axe(), [])
    await sets.getByRole('link', { name: /core_customers/ }).click()
    await heading(page, 'core_customers').waitFor()
    assert.not(await sets.isVisible())
  },
  { viewport: { width: 390, height: 844 }, schemes: inBoth },
)

frameTest('an unknown set and an unknown address say so', async ({ page, visit, faults }) => {
  await visit('/sets/core_ordres')
  await heading(page, 'Nothing is here').waitFor()
  // The server says 404 with the page.
  assert.is(faults.length, 1)
  faults.length = 0
})

frameTest('new data are said, and come when they are wanted', async ({ served }) => {
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

frameTest(
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

frameTest(
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
    status = 200
    await page.getByRole('button', { name: 'again' }).first().click()
    await counted(page, '50 rows')
    faults.length = 0
  },
)

frameTest(
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
  async ({ page, visit }) => {
    await visit('/')
    await page.getByRole('link', { name: '$metadata' }).waitFor()
  },
  { javaScriptEnabled: false },
)

test.run()
