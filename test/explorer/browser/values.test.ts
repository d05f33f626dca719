// Data that nobody has made for a page: markup, a megabyte in a cell, hundreds of columns, text from right to left.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { explored } from '../../support/explored.ts'
import { explorerTests, inBoth, scrollToEnd } from '../../support/explorer-page.ts'
import type { Table } from '../../support/snapshot-files.ts'

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>'

const odd: Table = {
  model: 'odd.values',
  key: ['id'],
  description: MARKUP,
  rows: sql`SELECT i::INTEGER AS id, ${sql.value(MARKUP)} AS markup,
    repeat('0123456789', CASE WHEN i = 1 THEN 100000 ELSE 1 END) AS big,
    'javascript:document.title=3' AS link, 'שלום (abc) עולם' AS hebrew,
    CASE i WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN '-inf'::DOUBLE WHEN 2 THEN NULL ELSE 1e300 END AS number,
    170141183460469231731687303715884105727::HUGEINT AS huge, '\\x00\\xFF'::BLOB AS bytes,
    ['a', NULL, ${sql.value(MARKUP)}] AS list, {'city': 'Rome', 'deep': {'n': [1, 2]}} AS struct,
    'a''b&c#d?e/f%g+h' AS sign FROM range(5) t(i)`,
}

const columns = Array.from(
  { length: 299 },
  (_, i) => sql`i + ${sql.value(i)} AS ${sql.ident(`column_${i}`)}`,
)
const wide: Table = {
  model: 'odd.wide',
  key: ['id'],
  rows: sql`SELECT i AS id, ${sql.join(columns)} FROM range(1000) t(i)`,
}

const named: Table = {
  model: 'odd.named',
  key: ['constructor'],
  rows: sql`SELECT 1 AS "constructor", 2 AS "toString", 3 AS "größe", 4 AS "名前", 5 AS value`,
}

const keyed: Table = {
  model: 'odd.keyed',
  key: ['a', 'b'],
  rows: sql`SELECT * FROM (VALUES ('x/y', 'it''s 100%'), ('(', '#?&')) t(a, b)`,
}

const blank: Table = {
  model: 'odd.blank',
  key: ['id'],
  rows: sql`SELECT i::INTEGER AS id, CASE i WHEN 0 THEN '  between  ' ELSE '' END AS words,
    INTERVAL (i) DAY AS span FROM range(5) t(i)`,
}

const valuesTest = explorerTests(() => explored([odd, wide, named, keyed, blank]))
const cell = (page: Page, row: number, column: number) =>
  page.locator(`td[data-row="${row}"][data-column="${column}"]`)

valuesTest(
  'markup is text wherever it comes from',
  async ({ page, visit, axe }) => {
    await visit('/sets/odd_values')
    assert.is(await cell(page, 0, 1).innerText(), MARKUP)
    assert.is(await page.locator('.set-description').innerText(), MARKUP)
    assert.is(await page.locator('main img, main script').count(), 0)
    assert.is(await page.title(), 'odd_values · shop')
    assert.is(await cell(page, 0, 3).locator('a').count(), 0)
    assert.is(await cell(page, 0, 4).locator('bdi').count(), 1)
    assert.is(await cell(page, 0, 5).innerText(), 'NaN')
    assert.is(await cell(page, 0, 6).innerText(), '170141183460469231731687303715884105727')
    assert.equal(await axe(), [])
    await visit('/sets/odd_values(0)')
    await page.getByRole('table', { name: 'Properties' }).waitFor()
    assert.is(await page.locator('main img, main script').count(), 0)
    assert.is(await page.title(), 'odd_values · shop')
    assert.equal(await axe(), [])
  },
  { schemes: inBoth },
)

valuesTest('a megabyte is shown in part, and whole when it is wanted', async ({ page, visit }) => {
  await visit('/sets/odd_values')
  assert.ok((await cell(page, 1, 2).innerText()).length < 200)
  await cell(page, 1, 2).click()
  const text = page.getByRole('dialog', { name: 'big' }).locator('pre')
  assert.is((await text.textContent())?.length, 10_000)
  await page.getByRole('button', { name: /load all/ }).click()
  assert.is((await text.textContent())?.length, 1_000_000)
})

valuesTest(
  'blanks and texts without a character are seen, and durations said',
  async ({ page, visit }) => {
    await visit('/sets/odd_blank')
    const blanks = cell(page, 0, 1).locator('.blanks')
    assert.equal(await blanks.allTextContents(), ['  ', '  '])
    assert.ok((await blanks.first().boundingBox())!.width > 4)
    assert.is(await cell(page, 0, 1).textContent(), '  between  ')
    const words = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('td[data-row="1"][data-column="1"] .value-empty'), '::before').content`,
    )
    assert.is(words, '"empty text"')
    await visit('/sets/odd_blank/columns?column=span')
    await page.locator('#column-span').getByText('4 d', { exact: true }).waitFor()
  },
)

valuesTest('structs and lists are trees', async ({ page, visit }) => {
  await visit('/sets/odd_values')
  await cell(page, 0, 9).click()
  const dialog = page.getByRole('dialog', { name: 'struct' })
  assert.match(await dialog.innerText(), /city\s+Rome/)
  assert.is(await dialog.locator('details').count(), 3)
})

valuesTest('a value with every sign of an address filters by itself', async ({ page, visit }) => {
  await visit('/sets/odd_values')
  await cell(page, 0, 10).focus()
  await page.keyboard.press('Shift+Enter')
  await page.getByRole('button', { name: 'sign = ' }).first().waitFor()
  await page.reload()
  await page.getByRole('button', { name: "Remove sign = a'b&c#d?e/f%g+h" }).waitFor()
  await page.getByRole('status', { name: 'Count' }).getByText('5 rows').waitFor()
})

valuesTest('of 300 columns those in view are in the document', async ({ page, visit }) => {
  await visit('/sets/odd_wide')
  assert.ok((await page.getByRole('columnheader').count()) < 40)
  await cell(page, 3, 1).focus()
  await page.keyboard.press('End')
  await cell(page, 3, 299).waitFor()
  assert.is(await page.evaluate('document.activeElement.innerText'), '301')
  await scrollToEnd(page)
  await page.getByText('300 rows are here').waitFor()
  assert.ok((await page.locator('td').count()) < 2_500)
})

valuesTest('columns called like members of every object are columns', async ({ page, visit }) => {
  await visit('/sets/odd_named')
  const texts = []
  for (let column = 0; column < 5; column++) texts.push(await cell(page, 0, column).innerText())
  assert.equal(texts, ['1', '2', '3', '4', '5'])
  await cell(page, 0, 0).getByRole('link').click()
  await page.getByRole('heading', { name: 'odd_named(1)' }).waitFor()
})

valuesTest('keys with signs of their own lead to their rows', async ({ page, visit }) => {
  for (const row of [0, 1]) {
    await visit('/sets/odd_keyed?$orderby=b%20desc')
    const wanted = await cell(page, row, 1).innerText()
    await cell(page, row, 0).getByRole('link').click()
    await page.getByRole('table', { name: 'Properties' }).getByText(wanted).waitFor()
    await page.reload()
    await page.getByRole('table', { name: 'Properties' }).getByText(wanted).waitFor()
  }
})

test.run()
