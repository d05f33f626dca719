// The explorer of a project as `eider serve` has it: every address, the lineage down to the column, and the runs.

import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explorerTests, inBoth } from '../../support/explorer-page.ts'
import { until } from '../../support/until.ts'
import { exploredProject } from '../../support/explored-project.ts'

const projectTest = explorerTests(exploredProject)

const routes = [
  '/',
  '/sets/core_orders',
  "/sets/core_orders?$filter=status eq 'paid'&$orderby=placed_at desc",
  '/sets/core_orders/columns',
  '/sets/core_orders/chart',
  '/sets/core_orders/chart?x=status&by=is_paid',
  '/sets/core_orders(7)',
  '/lineage',
  '/lineage?model=core.orders&column=goods_total',
  '/runs',
  '/connect?set=core_orders',
]

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

const wide = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth')

for (const route of routes)
  projectTest(
    `for everybody: ${route}`,
    async ({ page, visit, axe }) => {
      await visit(route)
      await page.getByRole('heading', { level: 1 }).waitFor()
      assert.equal(await axe(), [], 'light')
      await page.emulateMedia({ colorScheme: 'dark' })
      assert.equal(await axe(), [], 'dark')
      // A page at 200 % has half the width for its text; a telephone has less.
      for (const width of [640, 390]) {
        await page.setViewportSize({ width, height: 800 })
        await until(
          () => wide(page),
          (found) => found <= width,
        )
      }
      assert.equal(await axe(), [], 'narrow')
    },
    // Colours change at once then, and are not looked at on their way.
    { reducedMotion: 'reduce' },
  )

projectTest(
  'on a telephone the chosen model is in view, and the sets are a menu',
  async ({ page, visit }) => {
    await page.setViewportSize({ width: 390, height: 800 })
    await visit('/lineage?model=mart.sales')
    await until(() => page.evaluate<number>("document.querySelector('.lineage-graph').scrollLeft"))
    await page.getByRole('button', { name: 'Sets' }).click()
    await page
      .getByRole('link', { name: /core_orders/ })
      .first()
      .click()
    await heading(page, 'core_orders').waitFor()
  },
)

projectTest('the script is small', async ({ page, visit }) => {
  const sizes: Record<string, number> = {}
  page.on('response', async (response) => {
    if (!response.url().endsWith('.js')) return
    const body = await response.body()
    sizes[new URL(response.url()).pathname] = body.length
    sizes[`${new URL(response.url()).pathname} gz`] = gzipSync(body).length
  })
  for (const route of ['/sets/core_orders', '/sets/core_orders/chart', '/lineage'])
    await visit(route)
  const sum = (isWanted: (name: string) => boolean) =>
    Object.entries(sizes)
      .filter(([name]) => isWanted(name))
      .reduce((total, [, size]) => total + size, 0)
  assert.ok(sum((name) => name.endsWith('.js')) <= 250 * 1024, JSON.stringify(sizes))
  assert.ok(sum((name) => name.endsWith(' gz')) <= 90 * 1024, JSON.stringify(sizes))
})

projectTest('a model shows what it is made of, and what is made of it', async ({ page, visit }) => {
  await visit('/lineage')
  await page.locator('.lineage-picture').getByText('core.orders', { exact: true }).first().click()
  await page.waitForURL('**/lineage?model=core.orders')
  const orders = panel(page, 'core.orders')
  await orders.getByText('Orders in their newest state', { exact: true }).waitFor()
  await orders.getByRole('link', { name: 'staging.orders' }).click()
  await panel(page, 'staging.orders').waitFor()
  await page.goBack()
  await orders.getByRole('link', { name: 'Rows of core_orders' }).click()
  await heading(page, 'core_orders').waitFor()
})

projectTest(
  'a column is followed from the field of an event to the property of a set',
  async ({ page, visit }) => {
    await visit('/lineage?model=mart.sales')
    const sales = panel(page, 'mart.sales')
    await sales.getByText('table · 100 rows · sales@example.com').waitFor()
    await sales.getByRole('link', { name: 'revenue', exact: true }).first().click()
    await page.waitForURL('**/lineage?model=mart.sales&column=revenue')
    await sales.getByRole('link', { name: 'raw.orders.amount' }).waitFor()
    await sales.getByRole('link', { name: 'mart_sales.revenue' }).waitFor()
    assert.is(await page.locator('.edge.column').count(), 4)
    await sales.getByRole('link', { name: 'raw.orders.amount' }).click()
    await panel(page, 'raw.orders').getByRole('link', { name: 'core_orders.goods_total' }).waitFor()
  },
  { schemes: inBoth },
)

projectTest('lineage is there for keys alone, as nested links', async ({ page, visit, axe }) => {
  await visit('/lineage')
  const list = page.getByText('As a list')
  await list.focus()
  await page.keyboard.press('Enter')
  assert.equal(await axe(), [])
  const item = page
    .getByRole('listitem')
    .filter({ hasText: /^core\.orders reads staging\.orders$/ })
  await item.getByRole('link', { name: 'core.orders' }).focus()
  await page.keyboard.press('Enter')
  await panel(page, 'core.orders').waitFor()
})

projectTest('the graph is searched, and as large as somebody wants it', async ({ page, visit }) => {
  await visit('/lineage')
  const find = page.getByRole('combobox', { name: 'Find a model or a column' })
  await find.fill('goods')
  await page.getByRole('status').getByText('found, Enter: core.orders').waitFor()
  assert.ok((await page.locator('.node.dim').count()) > 0)
  await find.press('Enter')
  await panel(page, 'core.orders').waitFor()
  const picture = page.locator('.lineage-picture')
  const width = async () => (await picture.boundingBox())?.width ?? 0
  // As it is drawn: 12 and 13 pixels for its texts.
  const drawn = Number((await picture.getAttribute('viewBox'))?.split(' ')[2])
  assert.is(Math.round(await width()), Math.round(drawn))
  await page.getByRole('button', { name: 'Larger' }).click()
  assert.is(Math.round(await width()), Math.round(drawn * 1.25))
  await page.setViewportSize({ width: 390, height: 800 })
  await page.getByRole('button', { name: 'Fit' }).click()
  assert.ok((await width()) < 390)
  // The whole of a small project is seen at once, also where its picture would be a little wider.
  await page.setViewportSize({ width: 1124, height: 900 })
  await visit('/lineage')
  const frame = (await page.locator('.lineage-graph').boundingBox())!
  assert.ok((await width()) <= frame.width, `${await width()} of ${frame.width}`)
  assert.ok((await width()) < drawn)
})

projectTest('the SQL of a model is there to read', async ({ page, visit }) => {
  await visit('/lineage?model=core.customers')
  const customers = panel(page, 'core.customers')
  await customers.getByText('models/core/customers.sql', { exact: true }).click()
  await customers.getByText('SELECT i::INTEGER AS customer_id').waitFor()
  await customers.getByText('⚠').first().waitFor()
})

projectTest(
  'runs are a strip and a table, and a run says why each model was built',
  async ({ page, visit, axe, served }) => {
    await visit('/runs')
    await page.getByText(/^The last 3 runs: 1 failed$/).waitFor()
    const rows = page.getByRole('table', { name: 'Runs' }).getByRole('row')
    assert.is(await rows.count(), 4)
    assert.match(await rows.nth(3).innerText(), /\t300\t0$/)
    await rows
      .nth(2)
      .getByRole('link', { name: /^failed/ })
      .click()
    await page.waitForURL(`**/runs/${served.failedRun}`)
    await heading(page, /^Run of /).waitFor()
    assert.equal(await axe(), [])
    await page.getByText('1 failed', { exact: false }).first().waitFor()
    await page.goBack()
    await rows.nth(1).getByRole('link').click()
    const models = page.getByRole('table', { name: 'Models of the run' })
    const sales = models.getByRole('row', { name: /^mart\.sales/ })
    assert.match(await sales.innerText(), /unchanged|built/)
    await models.getByRole('link', { name: 'core.orders' }).click()
    await panel(page, 'core.orders').waitFor()
  },
  { schemes: inBoth },
)

projectTest('a run that is not remembered says so', async ({ page, visit }) => {
  await visit('/runs/nothing')
  await page
    .getByText('This run is not among those that are remembered.', { exact: false })
    .waitFor()
})

projectTest(
  'on paper there is no navigation, and the request is there',
  async ({ page, visit }) => {
    await page.emulateMedia({ media: 'print' })
    for (const route of ['/sets/core_orders/chart?x=status', '/lineage?model=core.orders']) {
      await visit(route)
      assert.not.ok(await page.getByRole('navigation', { name: 'Sets' }).isVisible())
      assert.not.ok(await page.getByRole('searchbox').first().isVisible())
    }
    await visit('/sets/core_orders/chart?x=status')
    assert.ok(await page.getByRole('textbox', { name: 'Request' }).isVisible())
  },
)

projectTest(
  'nothing moves for those who do not want it',
  async ({ page, visit }) => {
    await visit('/sets/core_orders/columns')
    const moving = await page.evaluate<number>(
      `[...document.querySelectorAll('*')].filter((element) => {
        const { transitionDuration, animationDuration } = getComputedStyle(element)
        return /[1-9]/.test(transitionDuration) || /[1-9]/.test(animationDuration)
      }).length`,
    )
    assert.is(moving, 0)
  },
  { reducedMotion: 'reduce' },
)

test.run()
