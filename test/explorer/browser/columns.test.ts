// From the picture of a column to a filter.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { explored, shop } from '../../support/explored.ts'
import { explorerTests } from '../../support/explorer-page.ts'

const columnsTest = explorerTests(() => explored(shop))

columnsTest(
  'a stroke over a histogram of a column is a range of the filter, a click on a value that value',
  async ({ page, visit, axe, settled }) => {
    const filterOf = () => new URL(page.url()).searchParams.get('$filter')
    await visit('/sets/core_orders/columns')
    const histogram = page.getByRole('img', { name: /^Histogram of total/ })
    await histogram.scrollIntoViewIfNeeded()
    await settled()
    const box = (await histogram.boundingBox())!
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.3, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 3 })
    await page.mouse.up()
    await page.waitForURL('**filter=**')
    const range = /^total ge ([\d.]+) and total lt ([\d.]+)$/.exec(filterOf() ?? '')
    assert.ok(range !== null && Number(range[1]) < Number(range[2]), `${filterOf()}`)
    await settled()
    await page
      .getByTitle(/^paid: /)
      .first()
      .click()
    await page.waitForURL('**paid**')
    assert.match(filterOf() ?? '', "status eq 'paid'")
    await settled()
    assert.equal(await axe(), [])
  },
)

test.run()
