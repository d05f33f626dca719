// What stops at publication, who accepts it, and tables that somebody has changed: in the store of the target.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CompiledProject } from '../../src/core/model.ts'
import type { ChangedByHand } from '../../src/core/report/by-hand.ts'
import type { RunEvent } from '../../src/core/report/progress.ts'
import { sql } from '../../src/core/sql.ts'
import { compareByHand, leftAlone } from '../../src/pipeline/by-hand.ts'
import { acceptChanges } from '../../src/pipeline/plan/accept.ts'
import { readSteps } from '../../src/pipeline/plan/show-changes.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { openStore } from '../../src/store/open.ts'
import { clientsOf } from '../../src/wiring/clients.ts'
import { compileTexts } from '../support/compile-texts.ts'
import { openProject, runDefaults, type TestProject } from '../support/pipeline-project.ts'

const projectOf = (columns: string) =>
  compileTexts({
    'core.orders': `-- @kind: append
-- @incremental: id
-- @expose id
SELECT id, ${columns} FROM (VALUES (1, 10), (2, 20)) AS t(id, total)`,
    'mart.sum': `-- @expose id\nSELECT id, ${columns} FROM (VALUES (1, 10)) AS t(id, total)`,
  })

async function run(space: TestProject, project: CompiledProject) {
  const events: RunEvent[] = []
  const clients = clientsOf(new Set())
  const progress = (event: RunEvent) => void events.push(event)
  const { models } = await runPipeline({ ...runDefaults(space.paths), project, clients, progress })
  const failed = models.filter(({ status }) => status === 'failed')
  return { failed, byHand: events.filter(({ event }) => event === 'changed-by-hand') }
}

async function accept(space: TestProject, project: CompiledProject): Promise<readonly string[]> {
  const store = openStore(space.paths)
  const { signal } = new AbortController()
  await using _lease = await store.lease.take({ waitMs: 0, signal })
  const options = { memoryLimit: null, lockWaitMs: 0, signal }
  await using warehouse = await store.warehouse.open(options)
  await using connection = await warehouse.connect()
  const opened = { ...store, connection }
  const clients = clientsOf(null)
  const changes = await acceptChanges({ opened, project, clients, contract: [] })
  return changes.map(({ set, change }) => `${set}: ${change}`)
}

async function compared(
  space: TestProject,
  project: CompiledProject,
): Promise<readonly ChangedByHand[]> {
  const store = openStore(space.paths)
  await using warehouse = await store.warehouse.openToRead({ memoryLimit: null })
  await using connection = await warehouse.connect()
  const request = { paths: space.paths, store, project }
  const source = { connection, withNewEvents: new Set<never>() }
  const { context, steps } = await readSteps(request, source)
  return await compareByHand(context, await leftAlone(context, steps))
}

const columnsOf = async (space: TestProject) =>
  (await space.published()).relations
    .find(({ model }) => model === 'mart.sum')!
    .columns.map(({ name }) => name)

test('a set that would break its clients waits until it is accepted, once', async () => {
  await using space = await openProject()
  const before = await projectOf('total, total AS gross')
  await run(space, before)
  const after = await projectOf('total, total AS gross, 1 AS more')
  assert.equal((await run(space, after)).failed, [])
  const other = await compileTexts({
    'core.orders': [...after.models.values()][0]!.source.text,
    'mart.sum': '-- @expose id\nSELECT 1 AS id, 2 AS total',
  })
  const [stopped] = (await run(space, other)).failed
  assert.match(stopped!.because, 'property gross removed; property more removed')
  assert.equal(await columnsOf(space), ['id', 'total', 'gross', 'more'])
  assert.equal(await accept(space, other), [
    'mart_sum: property gross removed',
    'mart_sum: property more removed',
  ])
  assert.equal((await run(space, other)).failed, [])
  assert.equal(await columnsOf(space), ['id', 'total'])
  assert.equal(await space.rows(sql`FROM _eider.accepted`), [])
})

test('rows that somebody changes are counted by runs, and their values compared', async () => {
  await using space = await openProject()
  const project = await projectOf('total')
  await run(space, project)
  assert.equal((await run(space, project)).byHand, [])
  assert.equal(await compared(space, project), [])
  await space.alter(sql`UPDATE core.orders SET total = 11 WHERE id = 1`)
  assert.equal((await run(space, project)).byHand, [])
  assert.equal(await compared(space, project), [{ model: 'core.orders', rows: 2, published: 2 }])
  await space.alter(sql`DELETE FROM core.orders WHERE id = 1`)
  const found = { model: 'core.orders', rows: 1, published: 2 }
  // A lake would be asked for each table, so there only a plan counts.
  const said = openStore(space.paths).hasCountsAtHand
    ? [{ event: 'changed-by-hand', ...found }]
    : []
  assert.equal((await run(space, project)).byHand, said)
  assert.equal(await compared(space, project), [found])
})

test.run()
