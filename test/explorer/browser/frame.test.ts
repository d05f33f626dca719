// What is around every view: sets, search, keys, colours.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests, inBoth } from '../../support/explorer-page.ts'

const frameTest = explorerTests(() => explored(shop))
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
    // The title follows once the view has been drawn.
    await page.waitForFunction('document.title === "core_orders · shop"')
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
  // A column is found with a typing error, scrolled to and marked.
  await page.setViewportSize({ width: 1280, height: 420 })
  await page.keyboard.press('/')
  await page.keyboard.type('orders expres')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/sets/core_orders/columns?column=express')
  const express = page.locator('tr[aria-current="true"] th:focus')
  await express.waitFor()
  assert.match(await express.innerText(), 'express')
  const box = (await express.boundingBox())!
  assert.ok(box.y > 0 && box.y < 420, JSON.stringify(box))
  await page.keyboard.press('/')
  await page.keyboard.type('xyzzy')
  await page.getByText('Nothing found among sets, columns, models').waitFor()
})

frameTest(
  'single keys go from set to set and elsewhere, but not in a field',
  async ({ page, visit }) => {
    await visit('/sets/core_customers')
    await page.keyboard.press('j')
    await heading(page, 'core_orders').waitFor()
    await page.keyboard.press('k')
    await heading(page, 'core_customers').waitFor()
    await page
      .getByRole('table', { name: 'Rows of core_customers' })
      .getByRole('row')
      .nth(1)
      .waitFor()
    await page.keyboard.press('f')
    await page.getByRole('form', { name: 'Condition' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('searchbox', { name: 'Search in the rows' }).fill('j')
    await page.keyboard.press('j')
    await heading(page, 'core_customers').waitFor()
    await heading(page, 'core_customers').focus()
    // The second is to follow soon, also where the machine is busy.
    await Promise.all([page.keyboard.press('g'), page.keyboard.press('h')])
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

frameTest(
  'at 200 % the page is as wide as the window, and all of it is there',
  async ({ page, visit, axe }) => {
    for (const path of ['/', '/sets/core_orders', '/sets/core_orders/columns', '/connect']) {
      await visit(path)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      assert.is(width, 640, path)
      assert.equal(await axe(), [], path)
    }
  },
  // What 1280 by 800 have room for when everything is twice as large.
  { viewport: { width: 640, height: 400 } },
)

frameTest('an unknown set and an unknown address say so', async ({ page, visit, faults }) => {
  await visit('/sets/core_ordres')
  await heading(page, 'No set is named core_ordres').waitFor()
  // The server says 404 with the page.
  assert.is(faults.length, 1)
  await page.getByText('Did you mean').getByRole('link', { name: 'core_orders' }).click()
  await heading(page, 'core_orders').waitFor()
  faults.length = 0
})

frameTest(
  'a set that no run has built yet says why, and what to do',
  async ({ page, visit, axe, faults }) => {
    await page.route('**/catalog.json', async (route) => {
      const catalog = (await (await route.fetch()).json()) as {
        models: { name: string; set: string | null }[]
        states: Record<string, unknown>
      }
      const [model] = catalog.models
      const state = { run_id: 'r', at: '2026-11-01T17:40:00.000Z', status: 'failed', ms: 1 }
      const because = '<img src=x onerror=alert(1)> is not a number'
      const json = {
        ...catalog,
        models: [...catalog.models, { ...model, name: 'mart.new', set: 'mart_new' }],
        states: { 'mart.new': { ...state, because, warnings: [], warned: 0, builds: [] } },
      }
      await route.fulfill({ json })
    })
    await visit('/sets/mart_new')
    await heading(page, 'mart_new is not there yet').waitFor()
    await page.getByText('No build of its model has succeeded').waitFor()
    await page.getByText('onerror=alert(1)> is not a number').waitFor()
    await page.getByText('eider run mart.new').waitFor()
    assert.equal(await axe(), [])
    await page.getByRole('link', { name: 'What it is made of' }).click()
    await page.getByRole('region', { name: 'mart.new', exact: true }).waitFor()
    faults.length = 0
  },
)

test.run()
