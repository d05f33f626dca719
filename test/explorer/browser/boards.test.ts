// Numbers and charts that a project has defined, as `eider serve` shows them: measures and boards.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { exploredProject } from '../../support/explored-project.ts'
import { explorerTests } from '../../support/explorer-page.ts'

const boardTest = explorerTests(exploredProject)

const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, level: 1 })

boardTest(
  'a measure is the first chart of its set, and lineage leads to it',
  async ({ page, visit, axe }) => {
    await visit('/lineage?model=mart.sales')
    const sales = panel(page, 'mart.sales')
    await sales.getByText('takings / sum(orders)', { exact: true }).waitFor()
    const orders = sales.getByRole('link', { name: 'orders', exact: true })
    await orders.last().click()
    await sales.getByText('Measures of orders').waitFor()
    await sales.getByText('mart.sales: per_order').waitFor()
    assert.is(await sales.getByText('mart.sales: Takings').count(), 0)
    await sales.getByRole('link', { name: 'Takings' }).click()
    await page.getByRole('heading', { name: 'Takings (EUR) by day per day' }).waitFor()
    const value = page.getByRole('combobox', { name: 'Value', exact: true })
    await value.selectOption({ label: 'per_order' })
    await page.getByRole('heading', { name: 'Per_order by day per day' }).waitFor()
    await page.getByRole('combobox', { name: 'Per', exact: true }).selectOption('month')
    const numbers = page.getByRole('table', { name: 'Numbers of the chart' })
    await numbers.getByRole('row', { name: /^2026-01 192\.8$/ }).waitFor()
    await numbers.getByTitle(/^192\.82\d/).waitFor()
    assert.equal(await axe(), [])
    await visit('/sets/mart_sales/chart')
    await page.getByRole('link', { name: 'Takings (EUR) by day', exact: true }).waitFor()
  },
)

boardTest(
  'a board has its charts with their sentences, says what is missing, and leads to rows',
  async ({ page, visit, axe, origin }) => {
    await visit('/')
    await page.getByRole('link', { name: 'The <b>shop</b>' }).click()
    await heading(page, 'The <b>shop</b>').waitFor()
    await page.getByText('Without <img src=x onerror=alert(1)> anything.').waitFor()
    await page.getByRole('img', { name: /^Takings by month, 2026-01 to 2026-04\. / }).waitFor()
    await page.getByRole('img', { name: /^Rows by status, / }).waitFor()
    await page.getByText('core_orders: there is no column gone in core_orders.').waitFor()
    await page.getByText('1 more chart is of sets that are not published').waitFor()
    assert.equal(await axe(), [])
    await page.setViewportSize({ width: 390, height: 800 })
    assert.ok((await page.evaluate<number>('document.documentElement.scrollWidth')) <= 390)
    assert.equal(await axe(), [])
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByRole('link', { name: 'Takings by month' }).click()
    await page.getByRole('heading', { name: 'Takings (EUR) by day per month' }).waitFor()
    await visit('/lineage?model=mart.sales')
    await panel(page, 'mart.sales').getByRole('link', { name: 'The <b>shop</b>' }).waitFor()
    await visit('/boards/nothing')
    await heading(page, 'No board is named nothing').waitFor()
    const { boards } = (await (await fetch(`${origin}/boards.json`)).json()) as {
      boards: readonly { name: string; hidden: number }[]
    }
    assert.equal(
      boards.map(({ name, hidden }) => [name, hidden]),
      [['shop', 1]],
    )
  },
)

test.run()
