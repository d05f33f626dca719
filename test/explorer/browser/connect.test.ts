// One row with what belongs to it, and how tools get the rows that one looks at.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests, inBoth } from '../../support/explorer-page.ts'

const connectTest = explorerTests(() => explored(shop))

connectTest(
  'a row has its properties, what it belongs to, and counts of what belongs to it',
  async ({ page, origin, visit, axe }) => {
    await visit('/sets/core_orders(7)')
    const request = page.getByRole('textbox', { name: 'Request' })
    assert.is(await request.inputValue(), `${origin}/odata/core_orders(7)?$expand=customer`)
    const properties = page.getByRole('table', { name: 'Properties' })
    assert.match(await properties.innerText(), /total\s+7\.10/)
    assert.match(await page.getByRole('region', { name: 'customer' }).innerText(), 'Customer 7')
    assert.equal(await axe(), [])
    await page.getByRole('link', { name: 'customer', exact: true }).click()
    await page.getByRole('heading', { name: 'core_customers(7)' }).waitFor()
    await page.getByRole('link', { name: '9 orders' }).click()
    await page.waitForURL(/core_orders\?/)
    assert.is(decodeURIComponent(new URL(page.url()).search), '?$filter=customer_id eq 7')
    await page.getByRole('status', { name: 'Count' }).getByText('9 rows').waitFor()
  },
  { schemes: inBoth },
)

connectTest('a key without a row says so', async ({ page, visit, faults }) => {
  await visit('/sets/core_orders(9999)')
  await page.getByText('There is no row with this key.').waitFor()
  faults.length = 0
})

connectTest(
  'the buttons below the request are recipes for just that',
  async ({ page, origin, visit }) => {
    await visit("/sets/core_orders?$filter=status%20eq%20'paid'")
    await page.getByRole('button', { name: 'curl', exact: true }).click()
    const region = page.getByRole('region', { name: 'Connect' })
    assert.match(
      await region.getByLabel('sh for curl', { exact: true }).innerText(),
      `curl -fsS -o core_orders.csv '${origin}/odata/core_orders?$filter=status%20eq%20%27paid%27&$format=csv'`,
    )
    await page.getByRole('button', { name: 'Excel', exact: true }).click()
    assert.match(await region.innerText(), 'From OData Feed')
    await region.getByRole('button', { name: 'Close' }).click()
    assert.is(await region.count(), 0)
  },
)

connectTest(
  'one row and a chart go into every tool as what they ask for',
  async ({ page, origin, visit }) => {
    const request = () => page.getByRole('textbox', { name: 'Request', exact: true }).inputValue()
    await visit('/sets/core_orders(7)')
    await page.getByRole('link', { name: 'More …' }).click()
    await page.getByRole('heading', { name: 'Connect' }).waitFor()
    const row = `${origin}/odata/core_orders?$filter=order_id%20eq%207`
    assert.is(await request(), `${row}&$expand=customer`)
    await page.getByRole('link', { name: 'DuckDB' }).click()
    assert.is(
      await page.getByLabel('CSV for DuckDB', { exact: true }).innerText(),
      `FROM read_csv('${row}&$format=csv');`,
    )
    await visit('/sets/core_orders/chart?x=status')
    const shown = await request()
    assert.match(shown, 'groupby((status),aggregate($count%20as%20value))')
    await page.getByRole('link', { name: 'Connect', exact: true }).last().click()
    await page.getByRole('heading', { name: 'Connect' }).waitFor()
    assert.is(await request(), shown)
    for (const tool of ['Excel', 'Power BI', 'Qlik', 'pandas', 'R', 'curl', 'JavaScript']) {
      await page.getByRole('link', { name: tool, exact: true }).click()
      await page.getByRole('region', { name: tool, exact: true }).waitFor()
      const code = page.getByRole('region', { name: tool, exact: true }).locator('pre').last()
      assert.match(await code.innerText(), 'groupby((status)', tool)
    }
    await page.getByRole('link', { name: 'Tableau' }).click()
    await page.getByText('Tableau asks for whole sets').waitFor()
  },
)

connectTest('CSV is the rows that one looks at', async ({ page, visit }) => {
  await visit('/sets/core_orders?$filter=order_id%20eq%207&$select=order_id,total')
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'CSV' }).click()
  const download = await downloading
  assert.match(download.suggestedFilename(), /^core_orders, order_id 7, \d{4}-\d{2}-\d{2}\.csv$/)
  assert.is(await readFile(await download.path(), 'utf8'), '"order_id","total"\r\n7,7.10\r\n')
})

connectTest(
  'every tool has its page, and Power BI a file',
  async ({ page, origin, visit, axe }) => {
    await visit('/connect?set=core_orders')
    const tools = page.getByRole('navigation', { name: 'Tools' }).getByRole('link')
    assert.equal(await tools.allInnerTexts(), [
      'Excel',
      'Power BI',
      'Tableau',
      'Qlik',
      'Grafana',
      'pandas',
      'polars',
      'DuckDB',
      'R',
      'curl',
      'JavaScript',
    ])
    assert.equal(await axe(), [])
    await page.getByRole('link', { name: 'Power BI' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'core_orders.pbids' }).click()
    const file = await (await downloading).path()
    assert.match(await readFile(file, 'utf8'), `"url": "${origin}/odata"`)
    await page.getByRole('combobox', { name: 'Set' }).selectOption('core_customers')
    await page.waitForURL(/set=core_customers/)
  },
  { schemes: inBoth },
)

connectTest('Copy puts the request on the clipboard', async ({ page, origin, visit }) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await visit('/sets/core_customers?$top=5')
  await page.getByRole('status', { name: 'Count' }).getByText('50 rows').waitFor()
  await page.keyboard.press('c')
  await page.getByRole('button', { name: 'Copy the request' }).getByText('Copied').waitFor()
  assert.is(
    await page.evaluate('navigator.clipboard.readText()'),
    `${origin}/odata/core_customers?$top=5`,
  )
})

test.run()
