// The profiles and charts of a set as a person uses them: by role and name.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests, inBoth } from '../../support/explorer-page.ts'
import { until } from '../../support/until.ts'

const pictureTest = explorerTests(() => explored(shop))

const row = (page: Page, column: string) =>
  page
    .getByRole('table', { name: 'Columns' })
    .getByRole('row', { name: new RegExp(`^${column}\\b`) })
const numbers = (page: Page) => page.getByRole('table', { name: 'Numbers of the chart' })
const picture = (page: Page, name: RegExp) => page.getByRole('img', { name })
const choice = (page: Page, name: string) => page.getByRole('combobox', { name, exact: true })
const queryOf = (page: Page) => decodeURIComponent(new URL(page.url()).search)
const requestOf = async (page: Page) =>
  decodeURIComponent(await page.getByRole('textbox', { name: 'Request', exact: true }).inputValue())

pictureTest(
  'each column has its counts and a picture with a sentence',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders/columns')
    await picture(page, /^Histogram of total, 0 to 500; most at /).waitFor()
    await picture(page, /^Values of express: /).waitFor()
    await picture(page, /^Rows by day of placed_at, 2026-01-01 to /).waitFor()
    await picture(page, /^Most frequent values of status: /).waitFor()
    assert.match(await row(page, 'coupon').innerText(), /10 %|10\.0 %/)
    assert.match(await row(page, 'coupon').innerText(), /empty text/)
    assert.match(await row(page, 'big').innerText(), /9\s007\s199\s254\s740\s993/)
    assert.match(await row(page, 'total').innerText(), /0\.50\s+494\.40/)
    assert.match(await row(page, 'order_id').innerText(), /key/)
    assert.equal(await axe(), [])
  },
  { schemes: inBoth },
)

pictureTest(
  'the requests of a column are there to copy, and say the same',
  async ({ page, visit, origin }) => {
    await visit('/sets/core_orders/columns')
    await page.getByRole('button', { name: 'Requests of total' }).click()
    const counts = await page.getByRole('textbox', { name: 'Counts of total' }).inputValue()
    assert.ok(counts.startsWith(`${origin}/odata/core_orders?$apply=aggregate(`))
    const answer = (await (await fetch(counts)).json()) as {
      value: readonly Record<string, unknown>[]
    }
    assert.is(answer.value[0]!['rows'], 450)
    await page.getByRole('textbox', { name: 'Picture of total' }).waitFor()
  },
)

pictureTest('a column leads to the set that it is the key of', async ({ page, visit }) => {
  await visit('/sets/core_orders/columns')
  await row(page, 'customer_id')
    .getByRole('link', { name: /core_customers/ })
    .click()
  await page.waitForURL('**/sets/core_customers/columns')
})

pictureTest('columns of a part of the rows', async ({ page, visit }) => {
  await visit("/sets/core_orders?$filter=status eq 'paid'")
  await page.getByRole('link', { name: 'Columns', exact: true }).click()
  await picture(page, /^Most frequent values of status: paid 150$/).waitFor()
  await page.getByRole('button', { name: 'Remove status = paid' }).click()
  await picture(
    page,
    /^Most frequent values of status: it's late 150, open 150, paid 150$/,
  ).waitFor()
})

pictureTest(
  'a mistake in the filter is said once, at the filter',
  async ({ page, visit, faults }) => {
    await visit('/sets/core_orders/columns?$filter=statsu eq 1')
    const alert = page.getByRole('alert')
    await alert.getByText('statsu').waitFor()
    assert.is(await alert.count(), 1)
    faults.length = 0
  },
)

pictureTest(
  'a chart is proposed, and drawn with its numbers below',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders/chart')
    await page.getByRole('heading', { name: 'Sum of total by placed_at per day' }).waitFor()
    await picture(page, /^Sum of total by placed_at per day, 2026-01-01 to 2026-01-20\. /).waitFor()
    assert.is(await page.locator('.picture path').count(), 1)
    await page.locator('.picture').hover({ position: { x: 62, y: 100 } })
    assert.is(await page.locator('.picture-reading').innerText(), '2026-01-01: 107.10')
    const first = numbers(page).getByRole('row').nth(1)
    assert.is((await first.innerText()).trim(), '2026-01-01\t107.10')
    assert.match(await requestOf(page), 'compute(date(placed_at) as day)/groupby((day)')
    await choice(page, 'Per').selectOption('hour')
    await page.getByRole('heading', { name: 'Sum of total by placed_at per hour' }).waitFor()
    assert.is(queryOf(page), '?x=placed_at&y=total&method=sum&per=hour')
    await until(
      () => numbers(page).getByRole('row').count(),
      (count) => count === 451,
    )
    assert.equal(await axe(), [])
    await page.goBack()
    await page.getByRole('heading', { name: 'Sum of total by placed_at per day' }).waitFor()
  },
  { schemes: inBoth },
)

pictureTest('weeks, quarters and years are those of the service', async ({ page, visit }) => {
  for (const [per, rows, first] of [
    ['week', 4, 'week of 2025-12-29\t86'],
    ['month', 1, '2026-01\t450'],
    ['quarter', 1, '2026 Q1\t450'],
    ['year', 1, '2026\t450'],
  ] as const) {
    await visit(`/sets/core_orders/chart?x=placed_at&per=${per}`)
    await until(
      () => numbers(page).getByRole('row').count(),
      (count) => count === rows + 1,
    )
    assert.is((await numbers(page).getByRole('row').nth(1).innerText()).trim(), first)
  }
})

pictureTest(
  'bars are the greatest values, and the rest is others',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders/chart?x=coupon&y=total&first=5')
    const all = async () =>
      (await numbers(page).getByRole('row').allInnerTexts()).map((text) => text.trim())
    // Above them the head; null, the empty text, and c0 to c3.
    await until(
      async () => (await all()).length,
      (length) => length === 7,
    )
    await choice(page, 'First').selectOption('20')
    await until(
      async () => (await all()).length,
      (length) => length === 7,
    )
    await choice(page, 'By').selectOption('customer/country')
    await page.waitForURL('**x=customer/country**')
    await page.getByRole('heading', { name: 'Sum of total by customer/country' }).waitFor()
    await until(
      async () => (await all()).length,
      (length) => length === 3,
    )
    assert.match(
      await requestOf(page),
      'groupby((customer/country),aggregate(total with sum as value))',
    )
    assert.equal(await axe(), [])
  },
)

pictureTest('what a chart leaves out is one bar', async ({ page, visit }) => {
  await visit('/sets/core_customers/chart?x=name&first=5')
  const last = numbers(page).getByRole('row').last()
  assert.is((await last.innerText()).trim(), '45 others\t45')
})

pictureTest(
  'colours are told apart, with a legend',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders/chart?x=total')
    await choice(page, 'Colour').selectOption('status')
    const legend = page.getByRole('list', { name: 'Colours' })
    await legend.waitFor()
    assert.equal(await legend.getByRole('listitem').allInnerTexts(), ["it's late", 'open', 'paid'])
    assert.equal(await axe(), [])
  },
  { schemes: inBoth },
)

pictureTest(
  'a filter of a chart is that of the address, and mistakes are said',
  async ({ page, visit, faults }) => {
    await visit('/sets/core_orders/chart?x=status')
    await page.keyboard.press('f')
    await page.getByLabel('Column', { exact: true }).selectOption('status')
    await page.getByLabel('Operator').selectOption({ label: '≠' })
    await page.getByLabel('Value', { exact: true }).fill('paid')
    await page.keyboard.press('Enter')
    await page.waitForURL('**$filter=**')
    assert.is(queryOf(page), "?x=status&$filter=status ne 'paid'")
    await until(
      () => numbers(page).getByRole('row').count(),
      (count) => count === 3,
    )
    await visit('/sets/core_orders/chart?x=status&$filter=statsu eq 1')
    await page.getByRole('alert').getByText('statsu').first().waitFor()
    assert.is(faults.length, 1)
    faults.length = 0
  },
)

pictureTest(
  'a chart is copied as CSV and as a picture',
  async ({ page, visit }) => {
    for (const query of ['x=status', 'x=placed_at&per=day', 'x=total']) {
      await visit(`/sets/core_orders/chart?${query}`)
      await page.getByRole('button', { name: 'Copy as CSV' }).click()
      const text = await page.evaluate<string>('navigator.clipboard.readText()')
      assert.match(text, /^"(?:status|placed_at|total)","rows"\r?\n"/)
      await page.getByRole('button', { name: 'Copy as PNG' }).click()
      await page.getByText('Copied').last().waitFor()
      const type = await until(
        () =>
          page.evaluate<string>(
            'navigator.clipboard.read().then(([item]) => item.types.join()).catch(String)',
          ),
        (types) => types.includes('image/png'),
      )
      assert.is(type, 'image/png')
    }
  },
  { permissions: ['clipboard-read', 'clipboard-write'] },
)

pictureTest('a line has the colours of the page when they change', async ({ page, visit }) => {
  await visit('/sets/core_orders/chart?x=placed_at&per=day')
  const drawn = () =>
    page.evaluate<string>("getComputedStyle(document.querySelector('.picture path')).stroke")
  const light = await until(drawn, (colour) => colour.startsWith('rgb'))
  await page.emulateMedia({ colorScheme: 'dark' })
  await until(drawn, (colour) => colour.startsWith('rgb') && colour !== light)
})

pictureTest('profiles are two at a time, and stop when one leaves', async ({ page, visit }) => {
  let open = 0
  let most = 0
  await page.route(/apply=/, async (route) => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setTimeout(resolve, 60))
    open -= 1
    await route.continue().catch(() => undefined)
  })
  await visit('/sets/core_orders/columns')
  assert.is(most, 2)
  const asked: string[] = []
  page.on('request', (request) => asked.push(request.url()))
  await page.getByRole('link', { name: 'Lineage' }).first().click()
  await page.waitForURL('**/lineage**')
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.equal(
    asked.filter((url) => url.includes('apply')),
    [],
  )
})

pictureTest('a chart goes into the tools as it is', async ({ page, visit, axe }) => {
  await visit('/sets/core_orders/chart?x=status')
  await page.getByRole('button', { name: 'pandas' }).click()
  const connect = page.getByRole('region', { name: 'Connect' })
  await connect.getByText('groupby((status)').first().waitFor()
  assert.equal(await axe(), [])
})

test.run()
