// What a person sees of a set before anything is done: its rows in every window.

import { spawnSync } from 'node:child_process'
import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
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
    'Studio ' || (i % 18) AS studio, i * 12345 AS takings, DATE '2001-01-01' + i::INTEGER AS released
    FROM range(400) t(i)`,
}

const peopleTest = explorerTests(() => explored([movies]))

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
