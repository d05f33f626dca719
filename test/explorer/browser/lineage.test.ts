// The lineage of a project with 200 models that read the same one: what is to be seen of it, and who breaks.

import type { Page } from 'playwright-core'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { catalogText } from '../../support/catalog-text.ts'
import { explored } from '../../support/explored.ts'
import { explorerTests, inBoth } from '../../support/explorer-page.ts'
import { readerToken } from '../../support/reader-token.ts'
import type { Table } from '../../support/snapshot-files.ts'

const READERS = 200
const FAILED = 'mart.m7'
const HOSTILE = '<img src=x onerror=alert(1)>'

const one = (model: string): Table => ({ model, key: ['id'], rows: sql`SELECT 1::INTEGER AS id` })
const exposed = ['core.hub', 'mart.m0', 'mart.end']
const published = (name: string) => exposed.includes(name)

/** Thirty tables of a source, one model of them, 200 of that, and one of two of these. */
function catalog(snapshot: string): string {
  const sources = Array.from({ length: 30 }, (_, i) => ({ name: `crm.table_${i}`, columns: [] }))
  const model = (name: string, reads: readonly string[], of: readonly string[] = []) => ({
    name,
    kind: 'table',
    description: null,
    owner: null,
    tags: [],
    set: published(name) ? name.replace('.', '_') : null,
    depends_on: reads,
    sources: of,
    columns: [{ name: 'id', type: 'INTEGER', nullable: true, lineage: null }],
    checks: [],
    ...(name === 'mart.end' ? { contract: true } : {}),
    path: null,
    sql: null,
  })
  const fromSources = sources.map(({ name }) => name)
  const models = [
    model('core.hub', [], fromSources),
    ...Array.from({ length: READERS }, (_, i) => model(`mart.m${i}`, ['core.hub'])),
    model('mart.end', ['mart.m1', 'mart.m2']),
    model(HOSTILE, ['mart.end']),
  ]
  const state = {
    run_id: 'first',
    at: '2026-11-01T17:40:00.000Z',
    status: 'failed',
    because: 'no',
    ms: 1,
    warnings: [],
    warned: 0,
    builds: [],
  }
  const sets = exposed.map((name) => setOf(name, 1))
  return textOf(snapshot, { [FAILED]: state }, { sets, models, sources })
}

const setOf = (model: string, rows: number) => ({
  name: model.replace('.', '_'),
  model,
  description: null,
  rows,
  bytes: 1,
  key: ['id'],
  columns: [],
})

const textOf = (
  snapshot: string,
  states: object,
  made: Pick<Parameters<typeof catalogText>[0], 'sets' | 'models' | 'sources'>,
) =>
  catalogText({
    runs: { runs: [], last_run: null, rejected: [], states },
    snapshot,
    publishedAt: '2026-11-01T17:40:00.000Z',
    ...made,
  })

const tokens = [readerToken('all', {}), readerToken('bi', { sets: ['mart_*'] })]
const lineageTest = explorerTests(() => explored(exposed.map(one), { catalog, tokens }))
const asAll = { httpCredentials: { username: 'person', password: 'all' } }

const WINDOWS = [
  [360, 640],
  [390, 844],
  // 1440 by 900 at 200 %.
  [720, 450],
  [1440, 900],
] as const

interface Seen {
  readonly frame: { readonly height: number; readonly width: number }
  /** Of the chosen node, from the middle of the frame to its own. */
  readonly aside: { readonly x: number; readonly y: number }
  readonly isWhole: boolean
  readonly panelIsBeside: boolean
  readonly pageWidth: number
}

const seen = (page: Page) =>
  page.evaluate<Seen>(`(() => {
    const place = document.querySelector('.lineage-graph')
    const frame = place.getBoundingClientRect()
    const node = document.querySelector('.node.chosen').getBoundingClientRect()
    const panel = document.querySelector('.node-panel').getBoundingClientRect()
    return {
      frame: { height: frame.height, width: frame.width },
      aside: {
        x: Math.abs(node.left + node.width / 2 - frame.left - frame.width / 2),
        y: Math.abs(node.top + node.height / 2 - frame.top - frame.height / 2),
      },
      isWhole: node.top >= frame.top && node.bottom <= frame.bottom && node.left >= frame.left && node.right <= frame.right,
      panelIsBeside: panel.left >= frame.right,
      pageWidth: document.documentElement.scrollWidth,
    }
  })()`)

lineageTest(
  'of 200 that read one a single node is shown, in a frame with the chosen one in its middle',
  async ({ page, visit, axe, settled }) => {
    for (const [width, height] of WINDOWS) {
      await page.setViewportSize({ width, height })
      for (const path of ['/lineage?model=core.hub', '/lineage?model=core.hub&open=core.hub']) {
        await visit(path)
        await settled()
        const { frame, aside, isWhole, panelIsBeside, pageWidth } = await seen(page)
        const about = `${path} ${width}x${height} ${JSON.stringify({ frame, aside })}`
        assert.ok(isWhole, about)
        assert.ok(pageWidth <= width, about)
        assert.is(panelIsBeside, width === 1440, about)
        assert.ok(frame.height <= Math.max(310, height - 200), about)
        if (path.includes('open'))
          assert.ok(frame.height >= 290 && aside.y < frame.height / 4, about)
      }
    }
    assert.is(await page.locator('.node').count(), READERS + 34)
    await visit('/lineage?model=core.hub')
    const folds = page.locator('.kind-fold')
    assert.equal(await folds.locator('.node-name').allTextContents(), [
      '30 sources are read ',
      '200 tables read this ',
    ])
    // One of them has failed.
    assert.is(await folds.locator('.node-failed').count(), 1)
    assert.equal(await axe(), [])
  },
  { ...asAll, schemes: inBoth, reducedMotion: 'reduce' },
)

lineageTest(
  'who breaks by a change is told, with what is promised and who reads it',
  async ({ page, visit }) => {
    await visit('/lineage?model=core.hub')
    const panel = page.getByRole('region', { name: 'core.hub', exact: true })
    await panel.getByText('202 models and 3 sets after it').waitFor()
    const sets = panel.locator('.who-breaks')
    await sets.getByText('all, bi').first().waitFor()
    assert.equal(await sets.allTextContents(), [
      'core_hub no contract · read by all',
      'mart_m0 no contract · read by all, bi',
      'mart_end promised by @contract · read by all, bi',
    ])
    // The rest of a long list is there on demand.
    await panel.getByText('188 more').or(panel.getByText('189 more')).first().click()
    await panel.getByRole('link', { name: 'mart.m199' }).click()
    await page.getByRole('region', { name: 'mart.m199', exact: true }).waitFor()
  },
  asAll,
)

lineageTest(
  'arrow keys lead from node to node, Enter opens one and stays there',
  async ({ page, visit, settled }) => {
    await visit('/lineage?model=core.hub')
    const focused = () =>
      page.evaluate<string>(
        "(document.activeElement.querySelector('.node-name') ?? document.activeElement).textContent.trim()",
      )
    await page.getByRole('button', { name: 'Fit' }).focus()
    await page.keyboard.press('Tab')
    assert.is(await focused(), 'core.hub')
    await page.keyboard.press('ArrowLeft')
    assert.is(await focused(), '30 sources are read')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    const right = [await focused()]
    await page.keyboard.press(right[0]!.startsWith('200') ? 'ArrowDown' : 'ArrowUp')
    right.push(await focused())
    assert.equal(right.toSorted(), ['200 tables read this', 'core_hub'])
    if (right[1]!.startsWith('core_hub')) await page.keyboard.press('ArrowUp')
    if (!(await focused()).startsWith('200')) await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**open=core.hub')
    await settled()
    assert.is(await focused(), 'core.hub')
    await page.keyboard.press('ArrowRight')
    assert.match(await focused(), /^mart\.m\d+$/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/lineage?model=mart.m*')
    await settled()
    assert.match(await focused(), /^mart\.m\d+$/)
  },
  asAll,
)

lineageTest(
  'a mouse that is held moves the picture, and clicks nothing',
  async ({ page, visit }) => {
    await visit('/lineage?model=core.hub&open=core.hub')
    const frame = (await page.locator('.lineage-graph').boundingBox())!
    const top = () => page.evaluate<number>("document.querySelector('.lineage-graph').scrollTop")
    const before = await top()
    const [x, y] = [frame.x + frame.width / 2, frame.y + frame.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x, y - 60, { steps: 4 })
    await page.mouse.up()
    assert.is(Math.round((await top()) - before), 60)
    assert.match(page.url(), /model=core\.hub&open=core\.hub$/)
  },
  asAll,
)

lineageTest(
  'who sees only some sets is told of no other reader',
  async ({ page, visit, origin }) => {
    await visit('/lineage?model=mart.end')
    const headers = { Authorization: 'Bearer bi' }
    const answer = await fetch(`${origin}/readers.json`, { headers })
    assert.equal(await answer.json(), { sets: {} })
    await page.getByRole('region', { name: 'mart.end', exact: true }).waitFor()
    assert.equal(await page.locator('.who-breaks').allTextContents(), ['mart_end '])
  },
  { httpCredentials: { username: 'person', password: 'bi' } },
)

const setsTest = explorerTests(() => explored(exposed.map(one), { catalog, tokens, shows: 'sets' }))

setsTest(
  'where sets alone are shown, no page leads to runs and no node is of an unknown kind',
  async ({ page, visit }) => {
    await visit('/lineage?model=core.hub')
    const pages = page.getByRole('navigation', { name: 'Pages' })
    await pages.getByRole('link', { name: 'Lineage' }).waitFor()
    assert.is(await pages.getByRole('link', { name: 'Runs' }).count(), 0)
    const facts = await page.locator('.node-facts').allTextContents()
    assert.ok(facts.length > 0)
    assert.equal(
      facts.filter((text) => text.includes('unknown')),
      [],
    )
  },
  asAll,
)

const LAYERS = ['raw', 'staging', 'cleaned', 'core', 'mart'] as const

/** Three models in each of five layers, the last of which are sets. */
function layers(snapshot: string): string {
  const about = { description: null, owner: null, tags: [], sources: [], checks: [], path: null }
  const models = LAYERS.flatMap((layer, i) =>
    [1, 2, 3].map((n) => ({
      ...about,
      name: `${layer}.orders_of_region_${n}`,
      kind: 'table',
      set: layer === 'mart' ? `mart_orders_of_region_${n}` : null,
      depends_on: i === 0 ? [] : [`${LAYERS[i - 1]}.orders_of_region_${n}`],
      columns: [],
      sql: null,
    })),
  )
  const sets = [1, 2, 3].map((n) => setOf(`mart.orders_of_region_${n}`, 5_000_000))
  return textOf(snapshot, {}, { sets, models, sources: [] })
}

const layersTest = explorerTests(() =>
  explored([one('mart.orders_of_region_1')], { catalog: layers }),
)

layersTest(
  'six layers beside the details of a model stay in their frame on a screen of 1440 pixels',
  async ({ page, visit, settled }) => {
    await page.setViewportSize({ width: 1440, height: 900 })
    await visit('/lineage?model=core.orders_of_region_1')
    await settled()
    const widths = await page.evaluate<readonly number[]>(`(() => {
      const place = document.querySelector('.lineage-graph')
      const texts = [...place.querySelectorAll('.node-facts')].map((text) => text.getBoundingClientRect())
      return [place.scrollWidth - place.clientWidth, Math.min(...texts.map(({ height }) => height))]
    })()`)
    assert.is(widths[0], 0)
    assert.ok(widths[1]! >= 10, `facts are ${widths[1]} pixels high`)
    assert.ok((await seen(page)).panelIsBeside)
  },
  { reducedMotion: 'reduce' },
)

test.run()
