// What an erasure, and its run, have to say of tables and sources is said.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

async function sendTwo(space: Workspace): Promise<void> {
  await using daemon = await startDaemon(space)
  await sendOrders(space, daemon.url, [
    { order_id: 1, customer_id: 7, name: 'Ada' },
    { order_id: 3, customer_id: 8, name: 'Nils' },
  ])
}

test('a merge keeps a row that an edit leaves out', async () => {
  const people = 'SELECT order_id, customer_id, received_at FROM raw.orders'
  await using space = await workspace({
    ...eraseFiles,
    'models/core/people.sql': `${people}\n`,
    'models/core/kept.sql':
      '-- @kind: merge\n-- @unique_key: order_id\n-- @incremental: received_at\nFROM core.people\n',
  })
  await sendTwo(space)
  await space.ok(['run'])
  await space.write('models/core/people.sql', `${people} WHERE order_id <> 3\n`)
  const { stderr } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(
    stderr,
    /^warning: core\.kept: 1 row \(.*\) stays though the SELECT no longer gives it/m,
  )
})

test('a source and a seed that readers add to the rows are named, where they have the columns', async () => {
  await using space = await workspace({
    ...eraseFiles,
    'eider.yml':
      'name: t\nsources:\n  south:\n    tables:\n      orders:\n        file: data/orders.csv\n      rates:\n        file: data/rates.csv\n',
    'data/orders.csv': 'order_id,customer_id\n90,7\n',
    'data/rates.csv': 'order_id,rate\n90,2\n',
    'seeds/ref/old_orders.csv': 'order_id,customer_id\n91,7\n',
    'models/staging/all.sql':
      '-- @kind: view\nSELECT order_id, customer_id FROM raw.orders UNION ALL FROM south.orders UNION ALL FROM ref.old_orders\n',
    'models/core/all.sql':
      'SELECT order_id, customer_id, rate FROM staging.all LEFT JOIN south.rates USING (order_id)\n',
  })
  await sendTwo(space)
  await space.ok(['run'])
  const { stderr } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(
    stderr,
    /^not erased: south\.orders, which staging\.all reads and which has customer_id, too/m,
  )
  assert.match(stderr, /^not erased: ref\.old_orders, which staging\.all reads/m)
  assert.not.match(stderr, /south\.rates/)
})

test.run()
