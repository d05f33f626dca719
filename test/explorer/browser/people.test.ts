// What a person sees of a set before anything is done: its rows in every window, and whether they are to be trusted.

import { spawnSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { catalogText } from '../../support/catalog-text.ts'
import { explored } from '../../support/explored.ts'
import { explorerTests } from '../../support/explorer-page.ts'
import type { Table } from '../../support/snapshot-files.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { repository } from '../../support/workspace.ts'

/** Sixteen genres and five ratings to choose from, below a description that fills half of a telephone. */
const movies: Table = {
  model: 'core.movies',
  key: ['movie_id'],
  description: 'Movies that were shown in cinemas, with their genre, rating and takings. '.repeat(
    5,
  ),
  rows: sql`SELECT i::INTEGER AS movie_id, 'Film ' || i AS title, 'Genre ' || (i % 16) AS genre,
    CASE WHEN i % 5 > 0 THEN 'Rated ' || (i % 5) END AS rating, (i % 16)::INTEGER AS screens,
    'Studio ' || (i % 18) AS studio, i * 12345 AS takings, DATE '2001-01-01' + i::INTEGER AS released,
    TIMESTAMPTZ '2024-01-01 01:00:00+00' + INTERVAL (i * 2) HOUR AS seen_at
    FROM range(400) t(i)`,
}

const orders: Table = {
  model: 'core.orders',
  key: ['order_id'],
  rows: sql`SELECT i::INTEGER AS order_id, (i % 250)::DECIMAL(12,2) AS goods_total FROM range(900) t(i)`,
}

const revenue: Table = {
  model: 'mart.revenue',
  key: ['day'],
  rows: sql`SELECT DATE '2024-01-01' + i::INTEGER AS day, 7.5 AS revenue FROM range(9) t(i)`,
}

const BUILT_AT = '2026-11-01T17:40:00.000Z'
const FAILED_AT = '2026-11-02T06:00:00.000Z'
const UNIQUE = { severity: 'fail', text: 'unique(order_id)' }
const HOSTILE = '<img src=x onerror=alert(1)>'

/** Orders have failed a check since their rows were made, so that revenue was not built, and a check of movies warned. */
function catalog(snapshot: string): string {
  const model = (name: string, checks: readonly object[], reads: readonly string[] = []) => ({
    name,
    kind: 'table',
    description: null,
    owner: `${HOSTILE} of ${name}`,
    tags: [],
    set: name.replace('.', '_'),
    depends_on: reads,
    sources: [],
    columns: [],
    checks,
    path: null,
    sql: null,
  })
  const models = [
    model('core.movies', [{ severity: 'warn', text: 'screens > 0' }]),
    model('core.orders', [UNIQUE, { severity: 'fail', text: 'goods_total < 100' }]),
    model('mart.revenue', [UNIQUE], ['core.orders']),
  ]
  const builds = [{ at: BUILT_AT, rows: 9, ms: 5 }]
  const state = (status: string, because: string, warnings: readonly string[] = []) => ({
    run_id: 'second',
    at: FAILED_AT,
    status,
    because,
    ms: 1,
    warnings,
    warned: warnings.length,
    builds,
  })
  const broken = `models/core/orders.sql:6:4: goods_total < 100 does not hold for 540 rows: {'a': ${HOSTILE}}`
  const warned = 'models/core/movies.sql:6:4: screens > 0 does not hold for 25 rows: {}'
  const run = (run_id: string, started_at: string, failed: number) => ({
    run_id,
    started_at,
    ms: 1,
    ok: failed === 0,
    built: 0,
    unchanged: 1,
    failed,
    skipped: 1,
    warned: 0,
    events: 0,
    rejected: 0,
    ...(failed === 0 ? {} : { failures: [{ model: 'core.orders', because: broken }] }),
  })
  const runs = {
    runs: [
      run('third', '2026-11-02T07:00:00.000Z', 1),
      run('second', FAILED_AT, 1),
      run('first', BUILT_AT, 0),
    ],
    last_run: { run_id: 'third', flushed: [], models: [] },
    rejected: [],
    states: {
      'core.movies': state('unchanged', 'nothing changed', [warned]),
      'core.orders': state('failed', broken),
      'mart.revenue': state('skipped', 'core.orders failed'),
    },
  }
  const sets = models.map(({ name, set }) => ({
    name: set,
    model: name,
    rows: 9,
    key: [],
    columns: [],
  }))
  return catalogText({ runs, snapshot, publishedAt: BUILT_AT, sets, models })
}

const peopleTest = explorerTests(() => explored([movies, orders, revenue], { catalog }))

const WINDOWS = [
  [360, 640],
  [390, 844],
  // 1440 by 900 at 200 %.
  [720, 450],
  [1440, 900],
] as const

/** Rows of which all is to be seen without scrolling. */
const rowsInView = (page: Page) =>
  page.evaluate<number>(`(() => {
    const { top, bottom } = document.querySelector('.rows-region').getBoundingClientRect()
    return [...document.querySelectorAll('.rows-region tbody tr[aria-rowindex]')].filter((row) => {
      const at = row.getBoundingClientRect()
      return at.top >= top && at.bottom <= Math.min(bottom, innerHeight)
    }).length
  })()`)

peopleTest(
  'rows are in view in small windows, by day and by night',
  async ({ page, visit, axe, settled }) => {
    await visit('/sets/core_movies')
    for (const [width, height] of WINDOWS) {
      await page.setViewportSize({ width, height })
      await settled()
      const shown = await rowsInView(page)
      assert.ok(shown >= 5, `${width}x${height}: ${shown} rows`)
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        assert.equal(await axe(), [], `${width}x${height} ${colorScheme}`)
      }
    }
  },
  { reducedMotion: 'reduce' },
)

peopleTest(
  'in a small window values and tools are behind buttons',
  async ({ page, visit, axe, settled }) => {
    await visit('/sets/core_movies')
    assert.is(await page.getByRole('region', { name: 'Values of genre' }).count(), 0)
    await page.getByRole('button', { name: 'Values' }).click()
    const values = page.getByRole('dialog', { name: 'Values' })
    await values.getByRole('button', { name: /^Genre 3/ }).click()
    await page.waitForURL(/filter=genre/)
    assert.equal(await axe(), [])
    await page.keyboard.press('Escape')
    await values.waitFor({ state: 'detached' })
    const request = page.getByRole('textbox', { name: 'Request', exact: true })
    assert.not(await request.isVisible())
    await page.getByText('Tools', { exact: true }).click()
    await settled()
    assert.match(decodeURIComponent(await request.inputValue()), "$filter=genre eq 'Genre 3'")
    await page.getByRole('link', { name: 'CSV' }).waitFor()
    assert.equal(await axe(), [])
    await page.keyboard.press('Escape')
    assert.not(await request.isVisible())
    // A button is as wide as its text, in every view.
    for (const view of ['columns', 'chart']) {
      await visit(`/sets/core_movies/${view}`)
      const box = await page.getByRole('button', { name: '+ filter' }).boundingBox()
      assert.ok(box!.width < 120, `${view}: ${box!.width}`)
    }
  },
  { viewport: { width: 360, height: 640 }, reducedMotion: 'reduce' },
)

peopleTest(
  'a set says whether it is to be trusted, and a failure is louder than a warning',
  async ({ page, visit, axe }) => {
    await visit('/sets/core_orders')
    const sets = page.getByRole('navigation', { name: 'Sets' })
    const markOf = (set: string) =>
      sets
        .getByRole('link', { name: new RegExp(set) })
        .locator('.trust-mark')
        .innerText()
    assert.equal(await Promise.all(['core_orders', 'mart_revenue', 'core_movies'].map(markOf)), [
      '✕',
      '✕',
      '⚠',
    ])
    const line = page.locator('.trust')
    const summary = line.locator('summary')
    assert.match(await summary.innerText(), /✕ goods_total < 100 · 540 rows · failed /)
    assert.match(await summary.innerText(), 'these rows are of 2026-11-01 17:40')
    assert.match(await summary.innerText(), '✓ unique(order_id)')
    assert.match(await summary.innerText(), `${HOSTILE} of core.orders`)
    await summary.press('Enter')
    assert.match(await line.innerText(), `{'a': ${HOSTILE}}`)
    assert.equal(await axe(), [])
    await line.getByRole('link', { name: '2026-11-01 17:40' }).click()
    await page.waitForURL('**/runs/first')

    await visit('/sets/mart_revenue/columns')
    assert.match(await summary.innerText(), '✕ core.orders failed before it')
    await visit('/sets/core_movies/chart')
    assert.match(await summary.innerText(), /data of .*! screens > 0 · 25 rows · warns/)
    await visit('/lineage?model=core.orders')
    const checks = page.locator('.node-panel .checks')
    assert.match(await checks.innerText(), /✓ unique\(order_id\)\n✕ goods_total < 100 · 540 rows/)
    // Of a run of the past, too, it is known why it failed.
    await visit('/runs/second')
    await page.getByText('goods_total < 100 does not hold for 540 rows').first().waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await visit('/sets/core_orders')
    assert.equal(await axe(), [])
  },
  { reducedMotion: 'reduce' },
)

const filterOf = (page: Page) => new URL(page.url()).searchParams.get('$filter')

peopleTest(
  'time is said in words, and is a filter that keeps the whole last day',
  async ({ page, visit, axe, settled }) => {
    await visit('/sets/core_movies')
    const count = page.getByRole('status', { name: 'Count' })
    const open = () => page.getByText('Time', { exact: true }).click()
    await open()
    await page.getByLabel('Column of times').selectOption('seen_at')
    assert.equal(await axe(), [])
    const words = page.getByLabel('Time in words')
    await words.fill('05/01/2024')
    await words.press('Enter')
    assert.match(await page.getByRole('alert').innerText(), 'write one like 2026-01-31')
    assert.is(filterOf(page), null)
    await words.fill('2024-01')
    await words.press('Enter')
    await settled()
    const january = 'seen_at ge 2024-01-01T00:00:00Z and seen_at lt 2024-02-01T00:00:00Z'
    assert.is(filterOf(page), january)
    assert.is(await count.innerText(), 'Σ 372 rows')
    await page.getByRole('button', { name: 'seen_at in January 2024', exact: true }).waitFor()

    // By hand, a date as the end is that whole day.
    await page.getByRole('button', { name: 'Remove seen_at in January 2024' }).click()
    await page.getByRole('button', { name: '+ filter' }).click()
    await page.getByLabel('Column', { exact: true }).selectOption('seen_at')
    await page.getByLabel('Operator').selectOption('between')
    await page.getByLabel('Value', { exact: true }).fill('2024-01-01')
    await page.getByLabel('Last value').fill('soon')
    await page.getByRole('button', { name: 'Apply' }).click()
    assert.match(await page.getByRole('alert').innerText(), '"soon" is not a time')
    await page.getByLabel('Last value').fill('2024-01-31')
    await page.getByRole('button', { name: 'Apply' }).click()
    await settled()
    assert.is(filterOf(page), january)

    // The same control on the other views, with the calendar of the browser.
    for (const view of ['Columns', 'Chart']) {
      await page.getByRole('navigation', { name: 'Views of the set' }).getByText(view).click()
      await page.getByRole('button', { name: 'seen_at in January 2024', exact: true }).waitFor()
    }
    await open()
    await page.getByLabel('First day').fill('2024-01-05')
    await page.getByLabel('Last day').fill('2024-01-04')
    await page.getByRole('button', { name: 'Show these days' }).click()
    await page.getByText('the range ends before it begins').waitFor()
    await page.getByLabel('Last day').fill('2024-01-06')
    await page.getByRole('button', { name: 'Show these days' }).click()
    await settled()
    assert.is(filterOf(page), 'seen_at ge 2024-01-05T00:00:00Z and seen_at lt 2024-01-07T00:00:00Z')
    await open()
    await page.getByRole('button', { name: 'last 7 days', exact: true }).click()
    await settled()
    assert.match(filterOf(page)!, /^seen_at ge .*T00:00:00Z and seen_at lt .*T00:00:00Z$/)
    await open()
    await page.getByRole('button', { name: 'any time' }).click()
    await settled()
    assert.is(filterOf(page), null)
  },
  { reducedMotion: 'reduce' },
)

peopleTest(
  'from a picture to its rows and back, each by a filter in the address',
  async ({ page, visit, axe, settled }) => {
    await visit('/sets/core_movies/chart?x=genre')
    await page.locator('.picture g.picture-pick').first().click()
    await settled()
    assert.match(filterOf(page)!, /^genre eq 'Genre \d+'$/)
    assert.is(new URL(page.url()).pathname, '/sets/core_movies')
    await page.goBack()
    await settled()
    // The numbers below have the same as links, for keys.
    const numbers = page.getByRole('table', { name: 'Numbers of the chart' })
    assert.equal(await axe(), [])
    await numbers.getByRole('link', { name: 'Genre 3', exact: true }).press('Enter')
    await settled()
    assert.is(filterOf(page), "genre eq 'Genre 3'")

    // A stroke over a line is a range of days, and a click one of them.
    await visit('/sets/core_movies/chart?x=seen_at&per=day')
    const box = (await page.locator('.picture-touch').boundingBox())!
    const at = (share: number) => [box.x + box.width * share, box.y + 60] as const
    await page.mouse.move(...at(0.05))
    await page.mouse.down()
    await page.mouse.move(...at(0.2))
    await page.mouse.move(...at(0.3))
    await page.mouse.up()
    await settled()
    assert.is(filterOf(page), 'seen_at ge 2024-01-02T00:00:00Z and seen_at lt 2024-01-12T00:00:00Z')
    assert.match(new URL(page.url()).pathname, /chart$/)
    await page.getByLabel('compare with').check()
    await page.getByText('The grey line is 2023-12-23 to 2024-01-01.').waitFor()
    await settled()
    assert.is(await page.locator('.picture-before').count(), 1)
    // 12 movies a day, and none before the first of January, which is a gap and not 0.
    const rows = await numbers.getByRole('row').allInnerTexts()
    assert.equal([rows[1], rows.at(-1)], ['2024-01-02\t12\tnone', '2024-01-11\t12\t12'])
    assert.equal(await axe(), [])

    await visit('/sets/core_movies/chart?x=seen_at&per=month')
    await page.getByText('The last month is incomplete.').waitFor()
    assert.is(await page.locator('.picture-incomplete').count(), 1)

    // Values are ticked one after the other, and searched.
    await visit('/sets/core_movies')
    const genres = page.getByRole('region', { name: 'Values of genre' })
    await genres.getByRole('searchbox').fill('re 1')
    assert.is(await genres.getByRole('button').count(), 7)
    for (const genre of [/^Genre 1\s/, /^Genre 12\s/])
      await genres.getByRole('button', { name: genre }).click()
    await settled()
    assert.is(filterOf(page), "genre in ('Genre 1','Genre 12')")
    // The eye sees groups of digits, and what is copied has none.
    const taking = page.locator('td.number').filter({ hasText: '12345' }).first()
    assert.is(await taking.innerText(), '12345')
    assert.is(await taking.locator('.digits').count(), 1)
  },
  { reducedMotion: 'reduce' },
)

peopleTest('the documentation begins with its text on a telephone', async ({ served }) => {
  await using directory = await temporaryDirectory()
  const made = spawnSync(process.execPath, ['.ci/site.js', directory.path], { cwd: repository })
  assert.is(made.status, 0, String(made.stderr))
  const page = await served.browser.newPage({ viewport: { width: 360, height: 640 } })
  await page.goto(`file://${directory.path}/annotations.html`)
  const pages = page.getByRole('navigation', { name: 'Pages' })
  assert.not(await pages.isVisible())
  assert.ok((await page.getByRole('heading', { level: 1 }).boundingBox())!.y < 200)
  assert.is(await page.evaluate('document.documentElement.scrollWidth'), 360)
  await page.getByRole('button', { name: 'Pages' }).press('Enter')
  assert.ok(await pages.isVisible())
  await page.keyboard.press('Escape')
  assert.not(await pages.isVisible())
  await page.setViewportSize({ width: 1440, height: 900 })
  assert.ok(await pages.isVisible())
  await page.close()
})

test.run()
