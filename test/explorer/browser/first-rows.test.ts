// The first rows are in the HTML: they are there without the script, and stay where they are when it takes over.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests } from '../../support/explorer-page.ts'
import type { Table } from '../../support/snapshot-files.ts'

const markup = `</script></td><img src=x onerror="document.title='hostile'"><script>document.title='hostile'</script>`

const hostile: readonly Table[] = [
  {
    model: 'odd.values',
    key: ['id'],
    description: markup,
    rows: sql`SELECT i::INTEGER AS id, ${sql.value(markup)} AS text, {'a': ${sql.value(markup)}} AS struct,
      '"><b>&amp;' AS quoted FROM range(5) t(i)`,
  },
]

const firstRowsTest = explorerTests(() => explored([...shop, ...hostile]))

const watched = [
  'h1',
  '.request-url',
  '.rows-bar',
  'th:nth-child(2)',
  'tr:nth-child(1) td:nth-child(1)',
]

/** Nothing of a page without JavaScript can be asked but where its elements are. */
const places = (page: Page, within: string) =>
  Promise.all(watched.map((part) => page.locator(`${within} ${part}`).first().boundingBox()))

firstRowsTest(
  'without JavaScript a person sees the first rows, what they answer, and where the rest is',
  async ({ page, origin }) => {
    await page.goto(`${origin}/sets/core_orders?$filter=status%20eq%20'paid'`)
    const table = page.getByRole('table', { name: 'Rows of core_orders' })
    assert.is(await table.getByRole('row').count(), 41)
    const cell = (column: number) => table.getByRole('row').nth(1).getByRole('cell').nth(column)
    const row = [
      '1',
      '1',
      'paid',
      'null',
      '0.50',
      '9007199254740993',
      '2026-01-01 10:00:00Z',
      'true',
    ]
    for (const [column, text] of row.entries()) assert.is(await cell(column).innerText(), text)
    const request = await page.getByRole('textbox', { name: 'Request', exact: true }).inputValue()
    assert.match(decodeURIComponent(request), "/odata/core_orders?$filter=status eq 'paid'")
    await page.getByRole('link', { name: 'Σ 150 rows' }).waitFor()
    await page.getByRole('link', { name: 'All of them' }).waitFor()
  },
  { javaScriptEnabled: false },
)

firstRowsTest(
  'markup in values and names is text without the script too',
  async (opened) => {
    const { page, origin } = opened
    await page.goto(`${origin}/sets/odd_values`)
    assert.is(await page.locator('#first-rows img, #first-rows script').count(), 0)
    assert.is(await page.locator('td').nth(1).innerText(), markup)
    assert.is(await page.locator('td').nth(3).innerText(), '"><b>&amp;')
    assert.not.match(await page.title(), /hostile/)
  },
  { javaScriptEnabled: false },
)

firstRowsTest('markup in values does not get out of what the script reads', async (opened) => {
  const { page, visit } = opened
  await visit('/sets/odd_values')
  assert.is(await page.locator('#page td').nth(1).innerText(), markup)
  assert.is(await page.locator('img, #page script').count(), 0)
  assert.not.match(await page.title(), /hostile/)
})

firstRowsTest('the script takes the rows over: it does not ask for them again', async (opened) => {
  const { page, visit } = opened
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await visit('/sets/core_customers')
  await page.getByText('All 50 rows are here.').waitFor()
  assert.is(await page.locator('#first-rows, #first-rows-data').count(), 0)
  const rows = asked.filter((url) => /core_customers\?(?!.*apply)/.test(url))
  assert.equal(rows, [])
  await page.reload()
  await page.getByText('All 50 rows are here.').waitFor()
})

firstRowsTest(
  'rows behind the first ones go on from those of the HTML',
  async ({ page, visit }) => {
    await visit('/sets/core_orders?$orderby=order_id')
    await page.locator('.rows-region').evaluate((region) => {
      Object.assign(region, { scrollTop: 1e7 })
    })
    await page.getByText('300 rows are here').waitFor()
  },
)

for (const path of [
  'core_orders',
  "core_orders?$filter=status%20eq%20'paid'&$orderby=total",
  'mart_totals',
])
  firstRowsTest(`nothing moves when the script takes over: ${path}`, async (opened) => {
    const { page, origin, settled, served } = opened
    const without = await served.browser.newContext({
      viewport: { width: 1280, height: 800 },
      javaScriptEnabled: false,
    })
    const still = await without.newPage()
    await still.goto(`${origin}/sets/${path}`)
    const before = await places(still, '#first-rows')
    await without.close()
    await page.goto(`${origin}/sets/${path}`)
    await page.locator('#page tbody td').first().waitFor()
    await settled()
    assert.ok(!before.includes(null))
    assert.equal(before, await places(page, '#page'))
  })

test.run()
