// Data that pages break on: markup, megabytes, what is no number, other directions of writing, and a great many of all.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { explored } from '../../support/explored.ts'
import { explorerTests } from '../../support/explorer-page.ts'
import type { Table } from '../../support/snapshot-files.ts'

const markup = `<img src=x onerror="document.title='hostile'"><script>document.title='hostile'</script>`

const tables: readonly Table[] = [
  {
    model: 'odd.values',
    key: ['id'],
    description: markup,
    rows: sql`SELECT i::INTEGER AS id,
      CASE i % 4 WHEN 0 THEN ${sql.value(markup)} WHEN 1 THEN 'שלום ' || chr(8238) || 'abc' WHEN 2 THEN '' END AS text,
      CASE i % 4 WHEN 0 THEN 'NaN'::DOUBLE WHEN 1 THEN 'inf'::DOUBLE WHEN 2 THEN '-inf'::DOUBLE
        ELSE i / 7.0 END AS real,
      'NaN'::FLOAT AS nan, NULL::INTEGER AS nothing,
      {'n': i, 'city': ${sql.value(markup)}} AS struct, [NULL, ${sql.value(markup)}] AS list,
      DATE '0001-01-01' + (i * 36000)::INTEGER AS day
      FROM range(100) t(i)`,
  },
  {
    model: 'odd.large',
    key: ['id'],
    rows: sql`SELECT i::INTEGER AS id, repeat('<b>x', 262144) || i AS text,
      range(100000) AS list, DATE '2026-01-01' + i::INTEGER AS day FROM range(4) t(i)`,
  },
  {
    model: 'odd.names',
    key: ['constructor'],
    rows: sql`SELECT 1 AS "constructor", 2 AS "__proto__", 3 AS "null", 4 AS "toString", 5.5 AS "value",
      'x' AS "größe", DATE '2026-01-01' AS "day", true AS "and"`,
  },
  {
    model: 'odd.empty',
    key: ['id'],
    rows: sql`SELECT 1 AS id, 'x' AS text, 1.5 AS n, DATE '2026-01-01' AS day WHERE false`,
  },
  {
    model: 'odd.words',
    key: ['id'],
    rows: sql`SELECT i AS id, 'word' || i AS word, (i % 3)::VARCHAR AS part, i / 3.0 AS x FROM range(6000) t(i)`,
  },
]

const hostileTest = explorerTests(() => explored(tables))
const numbers = (page: Page) => page.getByRole('table', { name: 'Numbers of the chart' })

const titleIsOurs = async (page: Page) => assert.not.match(await page.title(), /hostile/)

hostileTest('markup is text, wherever it comes', async ({ page, visit, axe }) => {
  for (const view of ['', '/columns', '/chart?x=text', '(0)', '/chart?x=real&by=text']) {
    await visit(`/sets/odd_values${view}`)
    await page.getByText('<img src=x').first().waitFor({ state: 'attached' })
    assert.is(await page.locator('#page img, #page script').count(), 0, view)
    await titleIsOurs(page)
    assert.equal(await axe(), [], view)
  }
})

hostileTest('what is no number is in no histogram, and is counted', async ({ page, visit }) => {
  await visit('/sets/odd_values/columns')
  await page.getByRole('img', { name: /^Histogram of real, 0 to 15; / }).waitFor()
  const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) })
  await row('nan').getByText('no finite values').waitFor()
  await row('nothing').getByText('no values').waitFor()
  await row('nothing').getByText('100 %').waitFor()
  await row('struct').scrollIntoViewIfNeeded()
  await row('struct').getByText('no picture of this type').waitFor()
  await page.getByRole('img', { name: /^Lengths of list, 2 items to 2 items/ }).waitFor()
  await page.getByRole('img', { name: /^Rows by year of day/ }).waitFor()
})

hostileTest('cells of a megabyte do not come into a profile', async ({ page, visit }) => {
  let received = 0
  page.on('response', async (response) => {
    if (response.url().includes('apply=')) received += (await response.body()).length
  })
  await visit('/sets/odd_large/columns')
  await page.getByRole('img', { name: /^Lengths of list/ }).waitFor()
  assert.ok(received > 0 && received < 20_000, `${received} bytes`)
})

hostileTest(
  'rows of megabytes come with the beginnings of their values, and one whole when it is wanted',
  async ({ page, visit }) => {
    await visit('/sets/odd_large')
    const cell = (column: number) => page.locator(`td[data-row="1"][data-column="${column}"]`)
    await page.getByText('these rows came with the beginnings').waitFor()
    assert.is((await cell(1).innerText()).length, 161)
    assert.is(await cell(2).innerText(), '…')
    assert.is(await cell(3).innerText(), '2026-01-02')
    const asked = page.getByRole('textbox', { name: 'Request of the beginnings' })
    assert.match(decodeURIComponent(await asked.inputValue()), 'substring(text,0,161)')
    // What begins so is not what the cell has.
    await cell(1).focus()
    await page.keyboard.press('Shift+Enter')
    await page.getByRole('button', { name: 'load all (1 048 577 characters)' }).waitFor()
    await page.keyboard.press('Escape')
    await cell(2).click()
    await page.getByText('100000 items').waitFor()
  },
)

hostileTest('names that mean something else are names', async ({ page, visit }) => {
  await visit('/sets/odd_names/columns')
  for (const name of ['constructor', '__proto__', 'null', 'toString', 'value', 'größe', 'and'])
    await page
      .getByRole('row', { name: new RegExp(`^${name} `) })
      .getByText('0 %')
      .waitFor()
  for (const name of ['null', 'value', 'größe', '__proto__', 'and']) {
    await visit(`/sets/odd_names/chart?x=${encodeURIComponent(name)}&y=null&method=sum`)
    assert.match((await numbers(page).getByRole('row').nth(1).innerText()).trim(), /\t3$/, name)
  }
})

hostileTest(
  'a set without rows has columns and charts without pictures',
  async ({ page, visit, axe }) => {
    await visit('/sets/odd_empty/columns')
    await page.getByText('no values').first().waitFor()
    for (const x of ['text', 'n', 'day']) {
      await visit(`/sets/odd_empty/chart?x=${x}`)
      await page.getByText('No rows.').waitFor()
    }
    assert.equal(await axe(), [])
  },
)

hostileTest('more than 5,000 groups are refused with what to do', async ({ page, visit }) => {
  await visit('/sets/odd_words/chart?x=word&by=part')
  await page.getByText(/There are more than 5\s000 groups\./).waitFor()
  await visit('/sets/odd_words/chart?x=word')
  assert.is(
    (await numbers(page).getByRole('row').last().innerText()).replaceAll(/\s/g, ''),
    '5980others5980',
  )
})

hostileTest('an address of nonsense is said in words', async ({ page, visit, faults }) => {
  await visit('/sets/odd_words/chart?x=nowhere&method=drop&first=-1')
  await page.getByText('There is no column nowhere to make a chart of.').waitFor()
  await visit(`/lineage?model=${encodeURIComponent(markup)}&column=x&open=,,`)
  await visit(`/runs/${encodeURIComponent(markup)}`)
  await titleIsOurs(page)
  faults.length = 0 // the service refuses none of these but the last, which is no run
})

const columns = Array.from(
  { length: 300 },
  (_, i) => sql`i + ${sql.value(i)} AS ${sql.ident(`column_${i}`)}`,
)
const wideRows = sql`SELECT ${sql.join(columns)} FROM range(3) t(i)`
const many: readonly Table[] = Array.from({ length: 200 }, (_, set) => ({
  model: `wide.set_${set}`,
  key: ['column_0'],
  rows: wideRows,
}))

const wideTest = explorerTests(() => explored(many))

wideTest(
  'of 200 sets of 300 columns only what is in view is asked for',
  async ({ page, visit }) => {
    await visit('/')
    const links = page.getByRole('navigation', { name: 'Sets' }).getByRole('link')
    // A schema of many is closed, so that few stops of the Tab key come before the rows, and is searched by name.
    assert.is(await links.count(), 0)
    await page.getByText('200 sets', { exact: true }).click()
    assert.is(await links.count(), 200)
    await page.getByText('200 sets', { exact: true }).click()
    await page.getByRole('searchbox', { name: 'Filter sets' }).fill('19 SET')
    assert.is(await links.count(), 12)
    await page.getByRole('searchbox', { name: 'Filter sets' }).fill('nothing')
    await page.getByText('No set has this in its name.').waitFor()
    let asked = 0
    page.on('request', (request) => (asked += request.url().includes('apply=') ? 1 : 0))
    await visit('/sets/wide_set_7/columns')
    // Some thirty rows are in view, with a count and a picture each.
    assert.ok(asked > 2 && asked < 90, `${asked} requests`)
  },
)

test.run()
