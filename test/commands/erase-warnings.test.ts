// What the run of an erasure has to say of the tables that it builds is said.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { eraseFiles, sendOrders } from '../support/erase-project.ts'
import { startDaemon } from '../support/daemon-process.ts'
import { workspace } from '../support/workspace.ts'

test('a merge keeps a row that an edit leaves out', async () => {
  const people = 'SELECT order_id, customer_id, received_at FROM raw.orders'
  await using space = await workspace({
    ...eraseFiles,
    'models/core/people.sql': `${people}\n`,
    'models/core/kept.sql':
      '-- @kind: merge\n-- @unique_key: order_id\n-- @incremental: received_at\nFROM core.people\n',
  })
  {
    await using daemon = await startDaemon(space)
    await sendOrders(space, daemon.url, [
      { order_id: 1, customer_id: 7, name: 'Ada' },
      { order_id: 3, customer_id: 8, name: 'Nils' },
    ])
  }
  await space.ok(['run'])
  await space.write('models/core/people.sql', `${people} WHERE order_id <> 3\n`)
  const { stderr } = await space.ok(['erase', 'raw.orders', 'customer_id = 7'])
  assert.match(
    stderr,
    /^warning: core\.kept: 1 row \(.*\) stays though the SELECT no longer gives it/m,
  )
})

test.run()
