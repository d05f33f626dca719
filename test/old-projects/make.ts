// Writes a project of a version that is to be replaced, for old-projects.test.ts:
// `EIDER_BINARY=../old/bin/run.js node dist/test/old-projects/make.js 0.1.0`. It has a model of each kind, two published
// states, runs in its history, a run that did not open the warehouse, and events that wait in the buffer.

import { startDaemon } from '../support/daemon-process.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { packProject } from './old-project.ts'

const FILES = {
  'eider.yml': 'name: shop\nodata:\n  keep_minutes: 0\n',
  'seeds/ref/countries.csv': 'country,name\nNO,Norway\nSE,Sweden\n',
  'macros/twice.sql': 'CREATE MACRO twice(x) AS x * 2\n',
  'models/raw/orders.sql':
    '-- @kind: events\n\norder_id INTEGER NOT NULL,\ncountry VARCHAR,\namount DECIMAL(10, 2)\n',
  'models/raw/visits.sql': '-- @kind: events\n\npage VARCHAR NOT NULL\n',
  'models/core/orders.sql':
    '-- @kind: merge\n-- @unique_key: order_id\n-- @expose order_id\n\nSELECT order_id, max(country) AS country, max(amount) AS amount FROM raw.orders GROUP BY order_id\n',
  'models/core/prices.sql':
    '-- @kind: table\n\nSELECT i::INTEGER AS id, twice(i) AS price FROM range(3) AS t(i)\n',
  'models/core/history.sql':
    '-- @kind: scd2\n-- @unique_key: id\n\nSELECT id, price FROM core.prices\n',
  'models/core/log.sql':
    "-- @kind: append\n-- @incremental: at\n\nSELECT id, TIMESTAMP '2026-01-01' + to_days(id) AS at FROM core.prices\n",
  'models/mart/countries.sql':
    '-- @kind: table\n-- @expose country\n\nSELECT country, name, count(order_id) AS orders, sum(amount) AS amount FROM ref.countries LEFT JOIN core.orders USING (country) GROUP BY ALL\n',
  'models/mart/busy.sql': '-- @kind: view\n\nSELECT * FROM mart.countries WHERE orders > 0\n',
}

async function collect(space: Workspace, events: readonly object[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(events)
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, {
    method: 'POST',
    headers,
    body,
  })
  if (answer.status !== 202) throw new Error(await answer.text())
  await daemon.stop('SIGTERM')
}

const [name = ''] = process.argv.slice(2)
if (!/^[\w.]+$/.test(name)) throw new Error('give a name for the project, such as its version')
await using space = await workspace(FILES)
await space.ok(['run'])
await collect(space, [
  { order_id: 1, country: 'NO', amount: 10.25 },
  { order_id: 2, country: 'SE', amount: 3 },
])
await space.ok(['run'])
await space.write(
  'models/core/prices.sql',
  FILES['models/core/prices.sql'].replace('range(3)', 'range(4)'),
)
for (let i = 0; i < 4; i++) await space.ok(['run'])
await collect(space, [{ order_id: 4, country: 'SE', amount: 7.5 }])
await packProject(space.dir, name)
