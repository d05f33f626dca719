// How many messages commands send to PostgreSQL: each is a round trip, and over a network a command takes as long as they
// do. What a run sends is in leases.test.ts.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

/** At most so many, and two for each model. */
const bounds = { run: 80, ls: 110, plan: 140 } as const

lakeTest('plan, ls and an idle run send few messages, with tables of events too', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, {
    'models/mart/shown.sql': '-- @expose id\nSELECT 1 AS id\n',
  })
  let models = 1
  for (const more of [0, 8]) {
    for (let i = 0; i < more; i++) {
      const text = i % 2 === 0 ? `SELECT ${i} AS id\n` : '-- @kind: events\nid BIGINT NOT NULL\n'
      await space.write(`models/mart/t${i}.sql`, text)
    }
    models += more
    await space.ok(['run'])
    for (const [command, bound] of Object.entries(bounds)) {
      lake.catalog.forget()
      await space.ok([command])
      const { length } = lake.catalog.queries
      const what = `${command} of ${models} models: ${length} messages`
      assert.ok(length > 10 && length <= bound + 2 * models, what)
    }
  }
})

test.run()
