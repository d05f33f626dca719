// eider docs: one file with everything in it, and what a branch changes.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { DocsData } from '../../src/core/catalog.ts'
import { workspace, type Workspace } from '../support/workspace.ts'

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)><!-- ' "`

const project = {
  'eider.yml': 'name: shop\n',
  'models/raw/orders.sql': '-- @kind: events\nid INTEGER NOT NULL, amount DECIMAL(10,2)',
  'models/core/orders.sql': `-- @description: ${hostile}\n-- @kind: table\n-- @expose: id\nselect id, amount from raw.orders`,
  'models/mart/sums.sql': '-- @kind: table\nselect sum(amount) as total from core.orders',
  'models/mart/other.sql': 'select 1 as one',
}

async function written(space: Workspace, path = 'target/docs.html') {
  const html = await readFile(space.path(path), 'utf8')
  const [, json = ''] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)!
  return { html, data: JSON.parse(json) as DocsData }
}

test('the file has all of the project and nothing of other hosts', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  const { stdout } = await space.ok(['docs'])
  assert.is(stdout, 'wrote target/docs.html\n')
  const { html, data } = await written(space)
  const { catalog, changes } = data
  assert.is(changes, null)
  assert.is(catalog.project, 'shop')
  assert.equal(catalog.models.map(({ name }) => name).toSorted(), [
    'core.orders',
    'mart.other',
    'mart.sums',
    'raw.orders',
  ])
  const orders = catalog.models.find(({ name }) => name === 'core.orders')!
  assert.is(orders.description, hostile)
  assert.equal(orders.columns[1]!.lineage, [{ model: 'raw.orders', column: 'amount' }])
  assert.is(catalog.sets[0]!.name, 'core_orders')
  assert.is(catalog.runs.length, 1)
  assert.is(catalog.states['core.orders']!.status, 'built')
  assert.not.match(html, /(?:src|href)="(?!#)/)
  assert.not.match(html, '<script>alert')
  assert.is(html.match(/<script/g)!.length, 2, 'the data, and the program')
  assert.match(html, "default-src 'none'")
})

test('it is written before any run, of files as they are now, to where it is asked for', async () => {
  await using space = await workspace(project)
  await space.write('models/mart/broken.sql', 'select nothing from nowhere')
  await space.ok(['docs', '--out', 'site/index.html'])
  const { catalog } = (await written(space, 'site/index.html')).data
  assert.is(catalog.published_at, '')
  assert.equal(catalog.runs, [])
  const broken = catalog.models.find(({ name }) => name === 'mart.broken')!
  assert.equal(broken.columns, [])
})

test('--against marks what is added, changed and removed, and what reads it', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await space.write('before.json', await readFile(space.path('target/manifest.json')))
  await space.write(
    'models/core/orders.sql',
    '-- @kind: table\nselect id, amount::DOUBLE as amount, 1 as extra from raw.orders',
  )
  await space.write('models/mart/new.sql', 'select 1 as one')
  await space.ok(['mv', 'mart.other', 'mart.moved'])
  await space.ok(['docs', '--against', 'before.json'])
  const { changes, catalog } = (await written(space)).data
  assert.is(changes!.against, 'before.json')
  assert.equal(changes!.models, {
    'core.orders': {
      is: 'changed',
      columns: [
        { name: 'amount', is: 'changed', before: 'DECIMAL(10,2)', after: 'DOUBLE' },
        { name: 'extra', is: 'added', before: null, after: 'INTEGER' },
      ],
    },
    'mart.sums': {
      is: 'changed',
      columns: [{ name: 'total', is: 'changed', before: 'DECIMAL(38,2)', after: 'DOUBLE' }],
    },
    'mart.new': { is: 'added', columns: [] },
    'mart.moved': { is: 'added', columns: [] },
    'mart.other': { is: 'removed', columns: [] },
  })
  assert.ok(catalog.models.some(({ name }) => name === 'mart.other'))
  const diagram = (await space.ok(['docs', '--mermaid', '--against', 'before.json'])).stdout
  assert.match(diagram, /\["~ core\.orders"\]:::changed/)
  assert.match(diagram, /\["− mart\.other"\]:::removed/)
})

test('a model that reads a changed one and is the same is affected', async () => {
  await using space = await workspace(project)
  await space.ok(['run'])
  await space.write('before.json', await readFile(space.path('target/manifest.json')))
  await space.write(
    'models/core/orders.sql',
    '-- @kind: table\n-- @expose: id\nselect id, amount from raw.orders where id > 3',
  )
  await space.ok(['docs', '--against', 'before.json'])
  const { changes } = (await written(space)).data
  assert.equal(changes!.models, {
    'core.orders': { is: 'changed', columns: [] },
    'mart.sums': { is: 'affected', columns: [] },
  })
})

test('a file that is no manifest is refused', async () => {
  await using space = await workspace(project)
  await space.write('list.json', '[]')
  for (const path of ['list.json', 'eider.yml', 'nowhere.json']) {
    const { stderr } = await space.ok(['docs', '--against', path], { exitCode: 2 })
    assert.match(stderr, `--against ${path} cannot be read`)
  }
})

test('the diagram names models safely', async () => {
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/a/odd "name].sql': '-- @kind: table\n-- @expose\nselect 1 as x',
    'models/a/next.sql': 'select x from a."odd ""name]"',
  })
  const { stdout } = await space.ok(['docs', '--mermaid'])
  const lines = stdout.trim().split('\n')
  assert.is(lines[0], 'graph LR')
  assert.ok(lines.some((line) => line.includes('["a.odd #quot;name]"]')))
  assert.ok(lines.some((line) => /^ {2}n\d --> n\d$/.test(line)))
})

test.run()
