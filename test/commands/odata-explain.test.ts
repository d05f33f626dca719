// eider odata explain: the meaning and the SQL of a query that is not run.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: explained\n',
  'models/shop/things.sql':
    '-- @expose id\nSELECT i::INTEGER AS id, 0 AS zero, i::DECIMAL(18,2) AS price FROM range(5) t(i)\n',
  'models/shop/hidden.sql': "SELECT 1 AS n, 'a' AS name\n",
}

interface Explained {
  readonly event: string
  readonly target: string
  readonly request: { readonly kind: string; readonly query: { readonly filter: unknown } }
  readonly statements: readonly { readonly what: string; readonly sql: string }[]
}

test('a preview that the service cannot answer now does not blame the query', async () => {
  await using space = await workspace({
    'eider.yml': 'name: explained\nodata:\n  request_timeout_ms: 1\n',
    'models/shop/many.sql':
      '-- @expose id\nSELECT i AS id, md5(i::VARCHAR) AS t FROM range(400000) r(i)\n',
  })
  await space.ok(['run', '--quiet'])
  const query = "shop_many?$filter=contains(toupper(t),'ABCDEF')&$orderby=t desc"
  const late = await space.ok(['odata', 'preview', query], { exitCode: 2 })
  assert.match(late.stderr, /^error: /)
  assert.not.match(late.stderr, 'queries.md')
  const wrong = await space.ok(['odata', 'preview', 'shop_many?$filter=nope eq 1'], { exitCode: 2 })
  assert.match(wrong.stderr, 'queries.md')
})

test('a query is shown with its types and its SQL, which the engine takes', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const { stdout } = await space.ok(['odata', 'explain', 'shop_things?$filter=price gt 1.5'])
  assert.match(stdout, 'filter (it.price gt 1.50:Edm.Decimal(18,2))')
  assert.match(stdout, `WHERE (("it"."price" > CAST('1.50' AS DECIMAL(18,2))));`)
  const args = ['odata', 'explain', 'shop.things', '?$count=true&$filter=id eq 2', '--json']
  const event = JSON.parse((await space.ok(args)).stdout) as Explained
  assert.is(event.event, 'explained')
  assert.is(event.target, 'shop_things?$count=true&$filter=id%20eq%202')
  assert.is(event.request.kind, 'collection')
  assert.equal(event.request.query.filter, {
    kind: 'compare',
    operator: 'eq',
    left: {
      kind: 'property',
      type: 'Edm.Int32',
      row: { alias: 'it', set: 'shop_things' },
      property: 'id',
    },
    right: { kind: 'constant', type: 'Edm.Int32', value: '2' },
  })
  assert.equal(
    event.statements.map(({ what }) => what),
    ['count', 'rows'],
  )
})

test('nothing is run: what fails in the engine is explained all the same', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const query = 'shop_things?$filter=1 div zero gt 0'
  const preview = await space.ok(['odata', 'preview', query], { exitCode: 2 })
  assert.match(preview.stderr, 'division by zero')
  const { stdout } = await space.ok(['odata', 'explain', query])
  assert.match(stdout, 'checkedWholeDiv(')
})

test('a model that is not published is explained too, and mistakes are those of a request', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  assert.match(
    (await space.ok(['odata', 'explain', 'shop.hidden?$search=a'])).stdout,
    "search(it.name, 'a')",
  )
  const query = 'shop_things?$filter=prise gt 1'
  const [preview, explained] = await Promise.all(
    ['preview', 'explain'].map((command) => space.ok(['odata', command, query], { exitCode: 2 })),
  )
  assert.match(explained!.stderr, 'did you mean "price"?')
  assert.is(explained!.stderr, preview!.stderr)
})

test('a query is taken as it stands in a log or in an address bar', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const target = async (resource: string) =>
    (JSON.parse((await space.ok(['odata', 'explain', resource, '--json'])).stdout) as Explained)
      .target
  for (const typed of [
    'shop_things?$top=1',
    '/shop_things?$top=1',
    '/odata/shop_things?$top=1',
    'http://127.0.0.1:8090/odata/shop_things?$top=1',
    'https://data.example/shop/odata/shop_things?$top=1',
  ])
    assert.is(await target(typed), 'shop_things?$top=1', typed)
})

test('a format that the service does not serve is refused as there', async () => {
  await using space = await workspace(files)
  await space.ok(['run', '--quiet'])
  const { stderr } = await space.ok(['odata', 'explain', 'shop_things?$format=docx'], {
    exitCode: 2,
  })
  assert.match(stderr, /only served as application\/json/)
  await space.ok(['odata', 'explain', 'shop_things?$format=csv'])
})

test.run()
