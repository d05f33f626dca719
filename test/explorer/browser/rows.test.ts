// The rows of a set as a person uses them: by role and name.

import type { Page, Route } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explored, shop } from '../../support/explored.ts'
import { until } from '../../support/until.ts'
import { explorerTests, inBoth, scrollToEnd } from '../../support/explorer-page.ts'

const rowsTest = explorerTests(() => explored(shop))

const table = (page: Page) => page.getByRole('table', { name: 'Rows of core_orders' })
const cell = (page: Page, row: number, column: number) =>
  page.locator(`td[data-row="${row}"][data-column="${column}"]`)
const header = (page: Page, name: string) =>
  page.getByRole('columnheader', { name }).getByRole('button').first()
const request = (page: Page) => page.getByRole('textbox', { name: 'Request', exact: true })
const queryOf = (page: Page) => decodeURIComponent(new URL(page.url()).search)

/** Waits until the table has answered. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.locator('.rows-region[aria-busy="false"]').waitFor()
}

rowsTest(
  'a set is a table with its count, and its request is there to copy',
  async ({ page, origin, visit, axe }) => {
    await visit('/sets/core_orders')
    assert.is(await request(page).inputValue(), `${origin}/odata/core_orders`)
    assert.is(await page.getByRole('status', { name: 'Count' }).innerText(), 'Σ 450 rows')
    assert.is(await cell(page, 0, 4).innerText(), '0.50')
    assert.is(await cell(page, 0, 5).innerText(), '9007199254740993')
    assert.is(await cell(page, 0, 6).innerText(), '2026-01-01 10:00:00Z')
    assert.is(await cell(page, 0, 3).innerText(), 'null')
    assert.is(await cell(page, 1, 3).innerText(), '')
    assert.is(await page.locator('tbody tr[aria-rowindex]').count(), 100)
    assert.equal(await axe(), [])
  },
  { schemes: inBoth },
)

rowsTest(
  'nothing is counted until the rows are there, which are asked for once',
  async ({ page, origin, settled: allSettled }) => {
    const asked: string[] = []
    page.on('request', (one) => asked.push(decodeURIComponent(one.url().slice(origin.length))))
    const held: { rows?: Route } = {}
    await page.route('**/odata/core_orders?$count=true', (route) => void (held.rows = route))
    await page.goto(`${origin}/sets/core_orders`)
    await until(() => held.rows !== undefined)
    await table(page).waitFor()
    await page.waitForTimeout(100)
    assert.equal(
      asked.filter((path) => path.includes('$apply')),
      [],
    )
    await held.rows!.continue()
    await allSettled()
    assert.is(asked.filter((path) => path.startsWith('/odata/core_orders?$count')).length, 1)
    await page.getByRole('region', { name: 'Values of status' }).waitFor()
  },
)

rowsTest('a header sorts, with Shift a second column too', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  await header(page, 'total').click()
  await settled(page)
  await header(page, 'total').click()
  await settled(page)
  assert.is(queryOf(page), '?$orderby=total desc')
  assert.is(await cell(page, 0, 0).innerText(), '450')
  const sorted = await page.getByRole('columnheader', { name: 'total' }).getAttribute('aria-sort')
  assert.is(sorted, 'descending')
  await header(page, 'status').click()
  await settled(page)
  await header(page, 'order_id').click({ modifiers: ['Shift'] })
  await settled(page)
  assert.is(queryOf(page), '?$orderby=status,order_id')
  await page.goBack()
  await settled(page)
  assert.is(queryOf(page), '?$orderby=status')
})

rowsTest('a condition is written in the filter row, with suggestions', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  await page.getByRole('button', { name: '+ filter' }).click()
  await page.getByLabel('Column', { exact: true }).selectOption('status')
  await page.locator('datalist option').first().waitFor({ state: 'attached' })
  const suggested = await page.locator('datalist option').evaluateAll((options) =>
    // The options are those of the browser, which this file is not compiled for.
    options.map((option) => String((option as { value?: unknown }).value)),
  )
  assert.equal(suggested.toSorted(), ["it's late", 'open', 'paid'])
  await page.getByLabel('Value', { exact: true }).fill("it's late")
  await page.getByRole('button', { name: 'Apply' }).click()
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'it''s late'")
  assert.is(await page.getByRole('status', { name: 'Count' }).innerText(), 'Σ 150 rows')

  await page.getByRole('button', { name: '+ filter' }).click()
  await page.getByLabel('Column', { exact: true }).selectOption('total')
  await page.getByLabel('Operator').selectOption('between')
  await page.getByLabel('Value', { exact: true }).fill('100')
  await page.getByLabel('Last value').fill('200.50')
  await page.keyboard.press('Enter')
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'it''s late' and total ge 100 and total le 200.50")
  await page.getByRole('button', { name: "Remove status = it's late" }).click()
  await settled(page)
  assert.is(queryOf(page), '?$filter=total ge 100 and total le 200.50')
})

rowsTest(
  'what the row cannot show stays text, and the words of the service stand at it',
  async ({ page, visit, faults }) => {
    await visit("/sets/core_orders?$filter=tolower(statsu)%20eq%20'paid'")
    const alert = page.getByRole('alert')
    assert.match(await alert.innerText(), 'did you mean "status"?')
    faults.length = 0
    await page.getByRole('button', { name: "tolower(statsu) eq 'paid'", exact: true }).click()
    await page.getByLabel('Condition in OData').fill("tolower(status) eq 'paid'")
    await page.getByRole('button', { name: 'Apply' }).click()
    await settled(page)
    assert.is(queryOf(page), "?$filter=tolower(status) eq 'paid'")
    assert.is(await page.getByRole('status', { name: 'Count' }).innerText(), 'Σ 150 rows')
    assert.is(await alert.count(), 0)
  },
)

rowsTest('facets count values, and clicks filter by one or several', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  const facet = page.getByRole('region', { name: 'Values of status' })
  assert.match(await facet.innerText(), /paid\s+150/)
  await facet.getByRole('button', { name: /^paid/ }).click()
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'paid'")
  // The others are still counted, so that one can go over to them.
  assert.match(await facet.innerText(), /open\s+150/)
  await facet.getByRole('button', { name: /^open/ }).click()
  await settled(page)
  assert.is(queryOf(page), "?$filter=status in ('paid','open')")
  assert.is(await page.getByRole('status', { name: 'Count' }).innerText(), 'Σ 300 rows')
  await facet.getByRole('button', { name: /paid/ }).click()
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'open'")
  await facet.getByRole('button', { name: /late/ }).click({ modifiers: ['Alt'] })
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'it''s late'")
  await facet.getByRole('button', { name: /^open/ }).click({ modifiers: ['Alt'] })
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'open'")
  await page.getByText('Requests', { exact: true }).click()
  const asked = async (name: string) =>
    decodeURIComponent(await page.getByRole('textbox', { name, exact: true }).inputValue())
  assert.match(await asked('Different values'), 'status with countdistinct as status')
  assert.match(await asked('Values of status'), 'groupby((status),aggregate($count as ')
  await facet.getByRole('button', { name: /open/ }).click()
  await settled(page)
  assert.is(queryOf(page), '')
})

rowsTest('more rows come as one scrolls, and few are in the document', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  for (const foot of ['300 rows are here; more', 'All 450 rows are here.']) {
    await scrollToEnd(page)
    await page.getByText(foot).waitFor()
  }
  await scrollToEnd(page)
  await page.getByRole('link', { name: '450', exact: true }).waitFor()
  assert.ok((await page.locator('tbody tr[aria-rowindex]').count()) < 60)
  assert.is(await table(page).getAttribute('aria-rowcount'), '451')
})

rowsTest(
  'columns are hidden, moved and kept at the left by the address',
  async ({ page, visit }) => {
    await visit('/sets/core_customers')
    const choose = async (column: string, item: string) => {
      await page.getByRole('button', { name: `Menu of ${column}` }).click()
      await page.getByRole('menuitem', { name: item }).click()
      await settled(page)
    }
    await choose('customer_id', 'Move right')
    assert.is(queryOf(page), '?$select=name,customer_id,country')
    await choose('country', 'Hide')
    assert.is(queryOf(page), '?$select=name,customer_id')
    await choose('customer_id', 'Keep it at the left')
    assert.is(queryOf(page), '?$select=customer_id,name&pin=1')
    assert.is(
      decodeURIComponent(await request(page).inputValue()).split('?')[1],
      '$select=customer_id,name',
    )
    await page.locator('summary', { hasText: 'Columns' }).click()
    await page.getByRole('checkbox', { name: 'country' }).check()
    await settled(page)
    assert.is(queryOf(page), '?pin=1')
  },
)

rowsTest(
  'a header is dragged onto another, and moved by Shift and arrows',
  async ({ page, visit }) => {
    await visit('/sets/core_customers')
    await header(page, 'country').dragTo(header(page, 'customer_id'))
    await settled(page)
    assert.is(queryOf(page), '?$select=country,customer_id,name')
    assert.is(await page.getByRole('columnheader').first().getAttribute('data-name'), 'country')
    await header(page, 'country').focus()
    await page.keyboard.press('Shift+ArrowRight')
    await settled(page)
    assert.is(queryOf(page), '?$select=customer_id,country,name')
    const focused = () => page.evaluate<string>('document.activeElement.innerText')
    assert.match(await focused(), 'country')
    // At the end there is nowhere to go, and all is in the order of the set.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Shift+ArrowRight')
    await settled(page)
    assert.is(queryOf(page), '')
    assert.match(await focused(), 'country')
  },
)

rowsTest('a cell opens its whole value, and filters by it', async ({ page, visit, axe }) => {
  await visit('/sets/core_orders')
  await cell(page, 1, 2).click()
  const dialog = page.getByRole('dialog', { name: 'status' })
  assert.match(await dialog.innerText(), 'open')
  assert.equal(await axe(), [])
  await dialog.getByRole('button', { name: 'leave this out' }).click()
  await settled(page)
  assert.is(queryOf(page), "?$filter=status ne 'open'")
  await cell(page, 0, 1).click({ position: { x: 4, y: 4 } })
  const customer = page.getByRole('dialog', { name: 'customer_id' })
  await customer.getByText('Customer 1', { exact: true }).waitFor()
  await customer.getByRole('link', { name: 'core_customers(1)' }).click()
  await page.getByRole('heading', { name: 'core_customers(1)' }).waitFor()
})

rowsTest('a pointer on a key shows the row that it leads to', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  await cell(page, 0, 1).getByRole('link').hover()
  const peek = page.getByRole('tooltip')
  await peek.getByText('Customer 1', { exact: true }).waitFor()
  await page.keyboard.press('Escape')
  await peek.waitFor({ state: 'detached' })
})

rowsTest('arrows move in the table, which is one stop of the Tab key', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  await header(page, 'order_id').focus()
  for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowDown'])
    await page.keyboard.press(key)
  const focused = () => page.evaluate<string>('document.activeElement.innerText')
  assert.is(await focused(), 'open')
  assert.is(await page.locator('.rows-region [tabindex="0"]').count(), 1)
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'status' }).waitFor()
  await page.keyboard.press('Escape')
  assert.is(await focused(), 'open')
  await page.keyboard.press('Shift+Enter')
  await settled(page)
  assert.is(queryOf(page), "?$filter=status eq 'open'")
  await page.keyboard.press('Control+End')
  await settled(page)
  assert.equal(await page.evaluate('({ ...document.activeElement.dataset })'), {
    row: '99',
    column: '7',
  })
})

rowsTest('the search of rows is $search', async ({ page, visit }) => {
  await visit('/sets/core_customers')
  await page.getByRole('searchbox', { name: 'Search in the rows' }).fill('customer 7')
  await page.waitForURL(/search/)
  await settled(page)
  assert.is(queryOf(page), '?$search=customer 7')
  await page.getByRole('status', { name: 'Count' }).getByText(' 5 rows').waitFor()
})

rowsTest('an aggregation in the address is a table too', async ({ page, visit }) => {
  await visit('/sets/core_orders?$apply=groupby((customer/country),aggregate($count%20as%20n))')
  const headers = await page.getByRole('columnheader').allInnerTexts()
  assert.equal(
    headers.map((text) => text.replace(/\s*▾\s*/, '')),
    ['customer/country', 'n'],
  )
  assert.is(await cell(page, 0, 1).innerText(), '225')
})

rowsTest('a set without a key says why its rows have no links', async ({ page, visit }) => {
  await visit('/sets/mart_totals')
  await page.getByText('mart_totals has no key').waitFor()
  assert.is(await page.locator('tbody a').count(), 0)
})

rowsTest('widths of columns are kept in the browser', async ({ page, visit }) => {
  await visit('/sets/core_orders')
  const widthOf = async () =>
    (await page.getByRole('columnheader', { name: 'status' }).boundingBox())?.width ?? 0
  const before = await widthOf()
  const handle = page.getByRole('separator', { name: 'Width of status' })
  await handle.focus()
  for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight')
  assert.is(await widthOf(), before + 80)
  await page.reload()
  await settled(page)
  assert.is(await widthOf(), before + 80)
  assert.equal(await page.evaluate('Object.keys(localStorage)'), ['eider-widths'])
})

test.run()
