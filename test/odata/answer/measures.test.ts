// Measures of a project that was run, asked of the service by their names.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { writeFiles } from '../../support/golden.ts'
import { type Answer, serveSnapshots } from '../../support/odata-service.ts'
import { runProject } from '../../support/pipeline-project.ts'
import { bearer, readerToken } from '../../support/reader-token.ts'
import { workspaceOnTarget } from '../../support/workspace-on-target.ts'

const MODEL = `-- @expose order_id
-- @measure revenue: sum(amount) where state = 'paid'
-- @measure orders: count(*)
-- @measure share: revenue / sum(amount)
-- @measure worth: sum(amount) / sum(c1)
-- @dimension country
SELECT * FROM (VALUES
  (1, 'NO', 'paid', 10.50, 0), (2, 'NO', 'open', 20.00, 0), (3, 'DE', 'paid', 30.25, 2),
  (4, 'DE', 'paid', 5.00, 3), (5, NULL, 'open', 7.00, 0)
) t(order_id, country, state, amount, c1)
`

async function serveOrders(resources: Resources) {
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'orders' }))
  await writeFiles(dir, [{ path: 'models/core/orders.sql', content: Buffer.from(MODEL) }])
  await runProject(paths)
  const tokens = [
    readerToken('all', {}),
    readerToken('no', { rows: { 'core.orders': "country = 'NO'" } }),
  ]
  const served = await serveSnapshots(resources, paths.snapshots, { tokens })
  const asked = (name: string) => async (apply: string, rest: string) =>
    await served.get(
      `core_orders?$apply=${encodeURIComponent(apply)}${encodeURI(rest)}`,
      bearer(name),
    )
  return { all: asked('all'), no: asked('no') }
}

/** The values of each row, with commas between them. */
const lines = ({ status, text, json }: Answer) =>
  status === 200
    ? (json as { value: object[] }).value
        .map((row) =>
          Object.values(row)
            .map((value) => value ?? '-')
            .join(),
        )
        .join(' ')
    : text

test('a measure is asked for by its name, alone and in groups, and whatever is done to the rows before and after', async () => {
  await using resources = new Resources()
  const { all, no } = await serveOrders(resources)
  const is = async (apply: string, answer: string, rest = '') =>
    assert.is(lines(await all(apply, rest)), answer, apply + rest)
  await is('aggregate(revenue)', '45.75')
  await is('aggregate(revenue as r,orders)', '45.75,5')
  await is('groupby((country),aggregate(revenue,orders))', '-,-,1 DE,35.25,2 NO,10.5,2')
  // A sum over no rows divides nothing, and one by zero gives null.
  await is('groupby((country),aggregate(share,worth))', '-,-,- DE,1,7.05 NO,0.3442622950819672,-')
  await is('filter(amount gt 6)/groupby((country),aggregate(orders))', '-,1 DE,1 NO,2')
  await is(
    'groupby((country),aggregate(revenue))',
    'DE,35.25',
    '&$filter=revenue gt 5&$orderby=revenue desc&$top=1',
  )
  await is('compute(amount mul 2 as double)/aggregate(revenue,worth)', '45.75,14.55')
  await is(
    'orderby(amount desc)/top(2)/groupby((state),aggregate(orders,worth))',
    'open,1,- paid,1,15.125',
  )
  await is('topcount(3,amount)/aggregate(orders,revenue)', '3,40.75')
  await is('groupby((rollup($all,country)),aggregate(orders))', '-,1 DE,2 NO,2 5')
  await is(
    'concat(aggregate(share),groupby((country),aggregate(share)))',
    '0.6288659793814433 -,- 0.3442622950819672,NO 1,DE',
  )
  await is('aggregate(revenue from country with max as best)', '35.25')
  await is('groupby((country),aggregate(revenue))/aggregate(revenue with sum as sum)', '45.75')
  // Of the rows that a token may see.
  assert.is(lines(await no('aggregate(revenue,orders)', '')), '10.5,2')
})

test('what is no measure needs a method, and groups have no measure', async () => {
  await using resources = new Resources()
  const { all } = await serveOrders(resources)
  const says = async (apply: string, words: RegExp) => {
    const { status, text } = await all(apply, '')
    assert.is(status, 400, apply)
    assert.match(text, words)
  }
  await says('aggregate(amount)', /needs a method.*the measures are revenue, orders/)
  await says('aggregate(revenu as r)', /needs a method.*did you mean \\"revenue\\"/)
  await says('groupby((country),aggregate(revenue))/aggregate(revenue)', /here the rows are groups/)
  await says('aggregate(revenue with sum as r)', /has no property \\"revenue\\"/)
})

test('a measure where a property is expected is named as one', async () => {
  await using resources = new Resources()
  const { dir, paths } = resources.use(await workspaceOnTarget({ name: 'orders' }))
  await writeFiles(dir, [{ path: 'models/core/orders.sql', content: Buffer.from(MODEL) }])
  await runProject(paths)
  const served = await serveSnapshots(resources, paths.snapshots)
  for (const url of [
    '?$select=revenue',
    '?$orderby=revenue desc',
    '?$filter=revenue gt 1',
    '?$apply=aggregate(revenue with sum as total)',
    '?$apply=groupby((revenue))',
    '/revenue',
  ]) {
    const { status, text } = await served.get(`core_orders${encodeURI(url)}`)
    assert.is(status, url.startsWith('/') ? 404 : 400, url)
    assert.match(
      text,
      /no property \\"revenue\\".*; it is a measure: \$apply=aggregate\(revenue\)"/,
      url,
    )
  }
})

test.run()
