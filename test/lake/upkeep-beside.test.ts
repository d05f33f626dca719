// `eider maintain` beside a run, a flush, a pull and a reader, each on a machine of its own, while all that lies in the
// lake is old enough to go: nobody fails, no row is lost or there twice, and no file is deleted that something names.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ProjectPaths } from '../../src/core/project.ts'
import { sql } from '../../src/core/sql.ts'
import { flushBuffer } from '../../src/pipeline/flush/flush-events.ts'
import { runPipeline } from '../../src/pipeline/run.ts'
import { openStore } from '../../src/store/open.ts'
import { events, projectOf, query } from '../support/handmade-models.ts'
import { age } from '../support/lake/age.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { missingFiles } from '../support/lake/stored-files.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { modelName } from '../support/model-name.ts'
import { eventBytes, openBuffer } from '../support/open-buffer.ts'
import { pathsOf, runDefaults } from '../support/pipeline-project.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const ROUNDS = Number(process.env['EIDER_LAKE_ROUNDS'] ?? 4)
const signal = new AbortController().signal
const waitMs = 300_000

const project = projectOf(
  events('raw.orders', { id: 'INTEGER!' }),
  query('mart.log', 'SELECT now() AS at, 1 AS n', {
    kind: 'append',
    incremental: 'at',
    volatile: true,
  }),
  query('mart.orders', 'SELECT id FROM raw.orders', {
    kind: 'merge',
    key: ['id'],
    reads: ['raw.orders'],
    expose: ['id'],
  }),
)

lakeTest('upkeep gets in the way of nobody, and takes nothing that is named', async () => {
  await using lake = await withLake()
  await using directory = await temporaryDirectory()
  const machine = (name: string): ProjectPaths => ({
    ...pathsOf(`${directory.path}/${name}`),
    lake: lakeSettingsOf(lake),
  })
  const runner = machine('runner')
  const collector = machine('collector')
  const service = machine('service')
  const run = async () => {
    const { ok, models } = await runPipeline({
      ...runDefaults(runner),
      project,
      lockWaitMs: waitMs,
    })
    assert.ok(ok, JSON.stringify(models))
  }
  let sent = 0
  const flush = async () => {
    {
      await using buffer = await openBuffer(collector.state)
      const given = Array.from({ length: 10 }, () => eventBytes({ id: sent++ }))
      await buffer.append(modelName('raw.orders'), given, new Date().toISOString())
    }
    const { ok, failed } = await flushBuffer({
      ...runDefaults(collector),
      project,
      openClaims: () => openBuffer(collector.state),
      lockWaitMs: waitMs,
    })
    assert.ok(ok, JSON.stringify(failed))
  }
  const pull = async () => {
    await using puller = await openStore(service).openPuller!()
    await puller.pull({ retention: { snapshots: 2, ms: 0 }, takeUpMs: 0, signal })
  }
  const read = async () => {
    await using database = await openStore(service).warehouse.openToRead({ memoryLimit: null })
    await using connection = await database.connect()
    const look = sql`SELECT count(*)::INT AS n, count(DISTINCT id)::INT AS once FROM raw.orders`
    const before = await connection.row(look)
    assert.is(before?.['n'], before?.['once'])
    assert.equal(await connection.row(look), before)
  }
  const maintain = () =>
    openStore(runner).upkeep!.maintain({ dryRun: false, migrate: false, waitMs, signal })

  await run()
  let [dropped, deleted, merged] = [0, 0, 0]
  for (let round = 0; round < ROUNDS; round++) {
    await age(lake)
    const [report] = await Promise.all([maintain(), run(), flush(), pull(), read()])
    dropped += report.statesDropped
    deleted += report.filesDeleted
    merged += report.tables.filter(({ filesBefore, filesAfter }) => filesAfter < filesBefore).length
  }
  await run()
  assert.ok(dropped > 0 && deleted > 0 && merged > 0, `${dropped} ${deleted} ${merged}`)
  await using database = await openStore(runner).warehouse.openToRead({ memoryLimit: null })
  await using connection = await database.connect()
  const found = await connection.row(sql`
    SELECT (SELECT count(*) FROM raw.orders)::INT AS events, (SELECT count(*) FROM mart.orders)::INT AS orders,
      (SELECT count(*) FROM mart.log)::INT AS log`)
  assert.equal(found, { events: sent, orders: sent, log: ROUNDS + 2 })
  assert.equal((await missingFiles(lake)).missing, [])
  await pull()
})

test.run()
