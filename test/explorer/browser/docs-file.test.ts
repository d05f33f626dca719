// The file of eider docs in a browser, opened from disk.

import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { browserTests } from '../../support/browser.ts'
import { type Workspace, workspace } from '../../support/workspace.ts'

const hostile = '<img src=x onerror=alert(1)></script>'

const browserTest = browserTests(async () => {
  const space: Workspace = await workspace({
    'eider.yml': 'name: shop\n',
    'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL, amount DECIMAL(10,2)',
    'models/core/orders.sql': `-- @description: ${hostile}\n-- @kind: table\n-- @expose: id\nselect id, amount from raw.orders`,
    'models/mart/sums.sql': '-- @kind: table\nselect sum(amount) as total from core.orders',
  })
  await space.ok(['run'])
  await space.write(
    'models/mart/sums.sql',
    '-- @kind: table\n-- @measure all_of_it: max(total)\nselect sum(amount) as total from core.orders',
  )
  await writeFile(space.path('before.json'), await readFile(space.path('target/manifest.json')))
  await space.write('models/mart/new.sql', '-- @kind: table\nselect total from mart.sums')
  await space.ok(['docs', '--against', 'before.json'])
  return { space, [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() }
})

browserTest(
  'it shows models, lineage and runs without a server, and asks nobody',
  async ({ browser, space }) => {
    const context = await browser.newContext()
    const faults: string[] = []
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(message.text())
    })
    context.on('weberror', (error) => faults.push(String(error.error())))
    context.on('request', (request) => {
      if (!request.url().startsWith('file:')) faults.push(request.url())
    })
    const page = await context.newPage()
    await page.goto(pathToFileURL(space.path('target', 'docs.html')).href)
    await page.getByRole('heading', { name: 'shop' }).waitFor()
    const changes = page.getByRole('table', { name: 'Changes' })
    await changes.getByText('mart.new').waitFor()
    const models = page.getByRole('table', { name: 'Models of core' })
    await models.getByText(hostile).waitFor()
    // By schema, and only those that somebody looks for.
    const tables = page.getByRole('table', { name: /^Models of/ })
    assert.is(await tables.count(), 3)
    const filter = page.getByRole('searchbox', { name: 'Filter models' })
    await filter.fill('mart NEW')
    await tables.getByRole('link', { name: 'mart.new' }).waitFor()
    assert.is(await tables.getByRole('row').count(), 2)
    await filter.fill('')
    await models.getByRole('link', { name: 'core.orders' }).click()
    await page.getByRole('heading', { name: 'Lineage' }).waitFor()
    assert.match(page.url(), '#/lineage?model=core.orders')
    const mark = page.locator('.lineage-picture .change-added')
    await mark.waitFor()
    assert.match((await mark.textContent())!, '+ added')
    await page.goto(`${page.url().split('#')[0]}#/lineage?model=mart.sums`)
    const sums = page.getByRole('region', { name: 'mart.sums', exact: true })
    await sums.getByText('max(total)', { exact: true }).waitFor()
    assert.is(await sums.getByRole('link', { name: 'all_of_it' }).count(), 0)
    await page.getByRole('link', { name: 'Runs' }).click()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Lineage' }).waitFor()
    await page.getByRole('searchbox').fill('total')
    await page.getByRole('option').first().click()
    await page.getByRole('heading', { name: 'Lineage' }).waitFor()
    assert.equal(faults, [])
    await context.close()
  },
)

test.run()
