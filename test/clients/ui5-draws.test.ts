// OpenUI5 in a browser draws sets that it has never heard of by what $metadata says of them: a list, and a page of its first
// row. The views are templates of UI5 over the annotations; the only controls are boxes and texts, since the list report and
// the object page of SAP are not open source.

import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { browserTests } from '../support/browser.ts'
import { workspace } from '../support/workspace.ts'

const sources = join(
  dirname(createRequire(import.meta.url).resolve('@openui5/sap.ui.core/package.json')),
  'src',
)

const files = {
  'eider.yml': 'name: shop\n',
  'models/shop/customers.sql': `-- @kind: table
-- @expose customer_id
SELECT * FROM (VALUES (1, 'Alice', 'Berlin'), (2, 'O''Neil {0}', NULL)) v(customer_id, name, city)`,
  'models/shop/orders.sql': `-- @kind: table
-- @expose order_id
-- @measure revenue: sum(amount)
-- @label amount: Sum
-- @unit amount: EUR
-- @dimension state
-- @time day
-- @rollup month, state
SELECT * FROM (VALUES
  (10, 1, 'open', 1100.50::DECIMAL(18,2), DATE '2026-01-01'), (11, 1, 'paid', 20.00, DATE '2026-02-01'),
  (12, 2, '<b>', NULL, DATE '2025-12-31')
) v(order_id, customer_id, state, amount, day)`,
}

const PAGE = `<!doctype html><html><head><meta charset="utf-8"><title>UI5</title>
<script id="sap-ui-bootstrap" src="/resources/sap-ui-core.js" data-sap-ui-async="true" data-sap-ui-compat-version="edge"></script>
</head><body><div id="content"></div></body></html>`

/** Of the list of a set, and of the page of the row of its context. */
const VIEW = `<mvc:View xmlns:mvc="sap.ui.core.mvc" xmlns:own="own"
  xmlns:t="http://schemas.sap.com/sapui5/extension/sap.ui.core.template/1">
  <t:alias name="AH" value="sap.ui.model.odata.v4.AnnotationHelper">
  <own:Box tag="section">
    <own:Text tag="h1" text="{type>@com.sap.vocabularies.UI.v1.HeaderInfo/TypeNamePlural}"/>
    <own:Box tag="nav">
      <t:repeat list="{type>@com.sap.vocabularies.UI.v1.SelectionFields}" var="filter">
        <own:Text tag="label" text="{filter>$PropertyPath@com.sap.vocabularies.Common.v1.Label}"/>
      </t:repeat>
    </own:Box>
    <own:Box tag="table">
      <own:Box tag="tr">
        <t:repeat list="{type>@com.sap.vocabularies.UI.v1.LineItem}" var="field">
          <own:Text tag="th" text="{field>Value/$Path@com.sap.vocabularies.Common.v1.Label}"/>
        </t:repeat>
      </own:Box>
      <own:Box tag="tbody" items="ROWS">
        <own:Box tag="tr">
          <t:repeat list="{type>@com.sap.vocabularies.UI.v1.LineItem}" var="field">
            <own:Text tag="td" text="{field>Value/$Path@@AH.format}"/>
          </t:repeat>
        </own:Box>
      </own:Box>
    </own:Box>
  </own:Box>
  <own:Box tag="article" binding="{PATH}">
    <own:Text tag="h2" text="{type>@com.sap.vocabularies.UI.v1.HeaderInfo/Title/Value/$Path@@AH.format}"/>
    <t:repeat list="{type>@com.sap.vocabularies.UI.v1.Facets}" var="facet">
      <own:Text tag="h3" text="{facet>Label}"/>
      <t:if test="{= \${facet>Target/$AnnotationPath}.startsWith('@')}">
        <t:then>
          <t:repeat list="{facet>Target/$AnnotationPath}" var="field">
            <own:Text tag="dd" text="{field>Value/$Path@@AH.format}"/>
          </t:repeat>
        </t:then>
        <t:else>
          <own:Box tag="ul" items="{facet>Target/$AnnotationPath@@AH.getNavigationBinding}">
            <own:Box tag="li">
              <t:repeat list="{facet>Target/$AnnotationPath}" var="field">
                <own:Text tag="i" text="{= '{' + \${field>Value/$Path} + '}' }"/>
              </t:repeat>
            </own:Box>
          </own:Box>
        </t:else>
      </t:if>
    </t:repeat>
  </own:Box>
  </t:alias>
</mvc:View>`

const browserTest = browserTests(async () => {
  const space = await workspace(files)
  await space.ok(['run'])
  const { url } = await space.start(['serve', '--port', '0', '--quiet'])
  return { url, [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() as Promise<void> }
})

browserTest('three sets are drawn without annotations of the page', async ({ browser, url }) => {
  const context = await browser.newContext({ locale: 'en-US' })
  const page = await context.newPage()
  const faults: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.route('**/page.html', (route) =>
    route.fulfill({ body: PAGE, contentType: 'text/html' }),
  )
  await page.route('**/resources/**', async (route) => {
    const { pathname } = new URL(route.request().url())
    const path = join(sources, decodeURIComponent(pathname).slice('/resources/'.length))
    // Themes and the like are not in the sources.
    if (existsSync(path)) await route.fulfill({ path })
    else await route.fulfill({ status: 404 })
  })
  await page.goto(new URL('/page.html', url).href)
  const textsOfRows = async (rows: string, cells: string) =>
    await Promise.all(
      (await page.locator(`#content ${rows}`).all()).map((row) =>
        row.locator(cells).allTextContents(),
      ),
    )
  const drawn = async (set: string) => {
    const asked = JSON.stringify({ set, view: VIEW, url: `${url}/` })
    const measure = await page.evaluate(`(${DRAW})(${asked})`)
    await page.locator('#content tbody tr').first().waitFor()
    await page.waitForFunction('document.querySelector("#content h2")?.textContent !== ""')
    const texts = (selector: string) => page.locator(`#content ${selector}`).allTextContents()
    return {
      measure,
      title: await texts('h1'),
      filters: await texts('nav label'),
      head: await texts('th'),
      rows: await textsOfRows('tbody tr', 'td'),
      // The page of the row with the least key.
      page: [await texts('h2'), await texts('h3'), await texts('dd')],
    }
  }
  assert.equal(await drawn('shop_customers'), {
    measure: null,
    title: ['Customers'],
    filters: ['Name', 'City', 'Customer ID'],
    head: ['Customer ID', 'Name', 'City'],
    rows: [
      ['1', 'Alice', 'Berlin'],
      ['2', "O'Neil {0}", ''],
    ],
    page: [['Alice'], ['Customer', 'Orders'], ['1', 'Alice', 'Berlin']],
  })
  await page.locator('#content li', { hasText: '2026-02-01' }).waitFor()
  assert.equal(await textsOfRows('li', 'i'), [
    ['10', '1', 'open', '1100.50', '2026-01-01'],
    ['11', '1', 'paid', '20.00', '2026-02-01'],
  ])
  assert.equal(await drawn('shop_orders'), {
    measure: 'Edm.Decimal',
    title: ['Orders'],
    filters: ['State', 'Day', 'Customer ID', 'Order ID'],
    head: ['Order ID', 'Customer ID', 'State', 'Sum', 'Day'],
    // The newest day comes first.
    rows: [
      ['11', '1', 'paid', '20.00', '2026-02-01'],
      ['10', '1', 'open', '1100.50', '2026-01-01'],
      ['12', '2', '<b>', '', '2025-12-31'],
    ],
    page: [['10'], ['Order'], ['10', '1', 'open', '1100.50', '2026-01-01']],
  })
  assert.equal(await drawn('shop_orders_by_month_state'), {
    measure: 'revenue',
    title: ['Orders by month state'],
    filters: ['State', 'Month'],
    head: ['Month', 'State', 'Revenue'],
    rows: [
      ['2026-02-01', 'paid', '20.00'],
      ['2026-01-01', 'open', '1100.50'],
      ['2025-12-01', '<b>', ''],
    ],
    page: [['2025-12-01'], ['Orders by month state'], ['2025-12-01', '<b>', '']],
  })
  assert.equal(faults, [])
  await context.close()
})

/** A function of the page: it draws a set with the view. */
const DRAW = `async ({ set, view, url }) => {
  const modules = (...names) =>
    new Promise((resolve, reject) => sap.ui.require(names, (...all) => resolve(all), reject))
  const [Core, Control, View, Preprocessor, ODataModel] = await modules(
    'sap/ui/core/Core', 'sap/ui/core/Control', 'sap/ui/core/mvc/XMLView',
    'sap/ui/core/util/XMLPreprocessor', 'sap/ui/model/odata/v4/ODataModel',
    'sap/ui/model/odata/v4/AnnotationHelper')
  await Core.ready()
  const control = (name, more, render) =>
    Control.extend('own.' + name, {
      metadata: { properties: { tag: 'string', text: 'any' }, ...more },
      renderer: { apiVersion: 2, render(rm, it) {
        rm.openStart(it.getTag(), it).openEnd()
        render(rm, it)
        rm.close(it.getTag())
      } },
    })
  const define = (name, made) => sap.ui.define('own/' + name, [], () => made)
  if (window.model === undefined) {
    define('Text', control('Text', {}, (rm, it) => rm.text(String(it.getText() ?? ''))))
    define('Box', control('Box', {
      aggregations: { items: { type: 'sap.ui.core.Control', multiple: true, bindable: true } },
      defaultAggregation: 'items',
    }, (rm, it) => it.getItems().forEach((item) => rm.renderControl(item))))
    await modules('own/Text', 'own/Box')
    window.model = new ODataModel({ serviceUrl: url, operationMode: 'Server', autoExpandSelect: true })
  }
  const { model } = window
  const meta = model.getMetaModel()
  const said = '/' + set + '/@com.sap.vocabularies.UI.v1.'
  const { SortOrder: order = [] } = await meta.requestObject(said + 'PresentationVariant')
  const sorter = order.map((one) => ({ path: one.Property.$PropertyPath, descending: one.Descending }))
  const rows = JSON.stringify({ path: '/' + set, sorter }).replaceAll('"', "'")
  const [first] = await model.bindList('/' + set).requestContexts(0, 1)
  const type = meta.getMetaContext('/' + set + '/')
  const drawn = await View.create({
    definition: view.replace('ROWS', rows).replace('PATH', first.getPath()),
    models: model,
    preprocessors: { xml: { bindingContexts: { type }, models: { type: meta, meta } } },
  })
  window.drawn?.destroy()
  window.drawn = drawn
  drawn.setModel(model)
  drawn.placeAt('content')
  const chart = await meta.requestObject(said + 'Chart')
  const path = chart?.DynamicMeasures?.[0].$AnnotationPath
  return path === undefined ? (chart?.Measures?.[0].$PropertyPath ?? null) : await meta.requestObject(path)
}`

test.run()
