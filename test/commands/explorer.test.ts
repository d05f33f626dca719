// What `odata.explorer` lets people see who open the service in a browser.

import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../src/core/catalog.ts'
import { ask } from '../support/odata-service.ts'
import { until } from '../support/until.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/hidden/stage.sql': '-- @owner: ana@example.com\nselect 1 as hidden_id, 2 as amount',
  'models/core/orders.sql':
    '-- @kind: table\n-- @expose: id\nselect hidden_id as id, amount from hidden.stage',
}
// A term of $metadata is called SelectionFields.
const HIDDEN = /(?<!aria-)hidden|ana@|select(?!ionfields)|models\//i

const hashOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`

async function catalogOf(space: Workspace, args: readonly string[], headers = {}) {
  await using service = await space.start(['serve', '--port', '0', ...args])
  const root = service.url.replace(/\/odata$/, '')
  const answer = await ask(`${root}/catalog.json`, { headers })
  return { answer, page: await ask(`${root}/`, { headers }), started: service.stdout() }
}

test('on a loopback address the project is shown, and said where', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const { answer, page, started } = await catalogOf(space, [])
  assert.is(page.status, 200)
  assert.match(started, /"explorer_url":"http:\/\/127\.0\.0\.1:\d+\/"/)
  const catalog = answer.json as Catalog
  assert.is(catalog.shows, 'project')
  assert.is(catalog.project, 'shop')
  assert.ok(catalog.is_whole)
  assert.equal(
    catalog.models.map(({ name }) => name),
    ['hidden.stage', 'core.orders'],
  )
  assert.is(catalog.runs.length, 1)
})

test('on any other address only what is exposed is shown, unless the project says otherwise', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  const token = ['--host', '0.0.0.0', '--token', 'secret']
  const headers = { authorization: 'Bearer secret' }
  const open = await catalogOf(space, token, headers)
  assert.is((open.answer.json as Catalog).shows, 'sets')
  assert.not.match(open.answer.text, HIDDEN)
  await space.write('eider.yml', 'name: shop\nodata:\n  explorer: project\n')
  const said = await catalogOf(space, token, headers)
  assert.is((said.answer.json as Catalog).shows, 'project')
})

test('with `sets` no answer has a byte of other models, whoever asks for what', async () => {
  await using space = await workspace(files)
  await space.write('eider.yml', 'name: shop\nodata:\n  explorer: sets\n')
  await space.ok(['run'])
  // A model that is exposed and fails says so, in words that are about what it reads.
  await space.write(
    'models/core/orders.sql',
    "-- @kind: table\n-- @expose: id\n-- @description: new\nselect hidden_id as id, error('hidden') as amount from hidden.stage",
  )
  await space.ok(['run'], { exitCode: 1 })
  await using service = await space.start(['serve', '--port', '0'])
  const root = service.url.replace(/\/odata$/, '')
  for (const path of [
    '/',
    '/catalog.json',
    '/lineage',
    '/runs',
    '/connect',
    '/sets/core_orders',
    '/sets/nope',
    '/health',
    '/metrics',
    '/nope',
    '/explorer/nope.js',
    '/odata',
    '/odata/$metadata',
    '/odata/nope',
    '/odata/core_orders',
    '/odata/core_orders(7)',
    '/odata/core_orders(x)',
    '/odata/core_orders?$filter=nope%20eq%201',
    '/odata/core_orders?$apply=nope',
    '/odata/core_orders?$format=csv',
    '/odata/core_orders?$expand=nope',
  ]) {
    const { text, headers } = await ask(root + path, {})
    assert.not.match(text + JSON.stringify(headers), HIDDEN, path)
    assert.not.match(text, space.path(''), path)
  }
})

test('with `sets` nothing of other models is shown, with `off` there is no page', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await space.write('eider.yml', 'name: shop\nodata:\n  explorer: sets\n')
  const { answer } = await catalogOf(space, [])
  const catalog = answer.json as Catalog
  assert.not.match(answer.text, HIDDEN)
  assert.equal(
    catalog.models.map(({ name }) => name),
    ['core.orders'],
  )
  await space.write('eider.yml', 'name: shop\nodata:\n  explorer: off\n')
  const off = await catalogOf(space, [])
  assert.is(off.answer.status, 404)
  assert.is(off.page.status, 404)
  assert.not.match(off.started, 'explorer_url')
})

test('another word is refused with those that there are', async () => {
  await using space = await workspace({
    ...files,
    'eider.yml': 'name: shop\nodata:\n  explorer: all\n',
  })
  const { stderr } = await space.ok(['serve', '--port', '0'], { exitCode: 1 })
  assert.match(stderr, 'one of project, sets, off')
})

test('before the first run there is a page and no catalog', async () => {
  await using space = await workspace(files)
  const { answer, page } = await catalogOf(space, [])
  assert.is(page.status, 200)
  assert.is(answer.status, 404)
})

test('a set whose first build fails says so to those who will see it, and to nobody else', async () => {
  await using space = await workspace({
    ...files,
    'eider.yml': `name: shop
odata:
  tokens:
    - {name: all, hash: "${hashOf('all-of-it')}"}
    - {name: sales, hash: "${hashOf('of-sales')}", sets: [core_orders]}
    - {name: people, hash: "${hashOf('of-people')}", sets: ['mart_*']}
`,
  })
  await space.write(
    'models/core/orders.sql',
    "-- @kind: table\n-- @expose: id\nselect hidden_id as id, error('no') as amount from hidden.stage",
  )
  await space.ok(['run'], { exitCode: 1 })
  await using service = await space.start(['serve', '--port', '0'])
  const asked = async (token: string, set: string) => {
    const headers = { authorization: `Bearer ${token}` }
    const { status, text } = await ask(`${service.url}/${set}?$top=1`, { headers })
    assert.is(status, 404)
    return (JSON.parse(text) as { error: { message: string } }).error.message
  }
  const unbuilt =
    'the entity set "core_orders" is not there yet: no build of its model core.orders has succeeded; "eider status" says why'
  assert.is(await asked('all-of-it', 'core_orders'), unbuilt)
  assert.is(await asked('of-sales', 'core_orders'), unbuilt)
  assert.is(await asked('of-people', 'core_orders'), 'there is no entity set "core_orders"')
  // It is not exposed.
  assert.is(await asked('all-of-it', 'hidden_stage'), 'there is no entity set "hidden_stage"')
  const { stdout } = await space.eider(['status'])
  assert.match(
    stdout,
    /the set core_orders is not there yet, no build of core\.orders has succeeded: models\/core\/orders\.sql:3:\d+: no\n.*eider run core\.orders/,
  )
  await space.write('models/core/orders.sql', '-- @expose: id\nselect gone as id from hidden.stage')
  await space.ok(['run'], { exitCode: 1 })
  assert.match(
    (await space.eider(['status'])).stdout,
    'the set core_orders is not there yet, no build of core.orders has succeeded: models/core/orders.sql:2:8: no column "gone"',
  )
  await until(async () => (await asked('of-sales', 'core_orders')) === unbuilt)
})

test('whether a model that does not compile is exposed is read from its header', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/core/indented.sql': '  -- @expose: id\nselect gone as id\n',
    'models/core/later.sql': 'select gone as id\n-- @expose: id\n',
    'models/core/reader.sql': '-- @expose: id\nfrom core.indented\n',
    'models/core/merged.sql': '-- @expose: id\n<<<<<<< a\nselect 1 as id\n=======\n>>>>>>> b\n',
    'models/core/good.sql': '-- @expose: id\nselect 1 as id\n',
  })
  await space.ok(['run'], { exitCode: 1 })
  const { stdout } = await space.ok(['ls', '--json'])
  const listed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { model?: string; entity_set?: string | null })
  const sets = listed.flatMap(({ model, entity_set: set }) => (model ? [[model, set]] : []))
  assert.equal(Object.fromEntries(sets), {
    'core.good': 'core_good',
    'core.indented': 'core_indented',
    'core.later': null,
    'core.merged': 'core_merged',
    'core.reader': 'core_reader',
  })
  const status = (await space.eider(['status'])).stdout
  for (const set of ['core_indented', 'core_merged', 'core_reader'])
    assert.match(status, `the set ${set} is not there yet`)
  assert.not.match(status, 'core_later')
})

test.run()
