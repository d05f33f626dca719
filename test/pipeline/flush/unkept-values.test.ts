// Events with values that the tables of a target would not give back: a lake has no integers beyond 38 digits, and some
// INTERVALs have a text that the engine does not read.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { textOf } from '../../../src/duckdb/values.ts'
import { judgeEvents } from '../../../src/pipeline/flush/judge-events.ts'
import { FITTING, loadTolerantly, VERDICTS } from '../../../src/pipeline/flush/load-batch.ts'
import type { RunContext } from '../../../src/pipeline/run-context.ts'
import { fileTables } from '../../../src/store/files/tables.ts'
import { lakeTables } from '../../../src/store/lake/tables.ts'
import type { TableStorage } from '../../../src/store/table-storage.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events } from '../../support/handmade-models.ts'
import { modelName } from '../../support/model-name.ts'
import { workspace } from '../../support/workspace.ts'

const model = events('raw.e', {
  id: 'INTEGER!',
  seq: 'HUGEINT',
  reason: 'INTERVAL[]',
  at: 'STRUCT(n HUGEINT, t VARCHAR)[2]',
})
const largest = '9'.repeat(38)
const over = `1${'0'.repeat(38)}`

const sent = [
  { id: 1, seq: largest, reason: ['1 month', '-30 days', null], at: [null, { n: '-1', t: 'x' }] },
  { id: 2, seq: '170141183460469231731687303715884105727' },
  { id: 3, reason: ['1 day', '2562047787 hours'] },
  { id: 4, at: [{ n: over, t: 'x' }, null] },
  { id: 5, seq: `-${over}`, reason: ['2562047787 hours'] },
  { id: 6 },
]

const opened = async (tables: TableStorage) => {
  const space = await workspace()
  const claims = new FakeClaims(space.path('buffer'))
  await claims.add('raw.e', sent)
  const claim = (await claims.claim(modelName('raw.e')))!
  const database = await Database.open({ path: ':memory:' })
  const connection = await database.connect()
  const idsOf = async (relation: typeof FITTING) =>
    (await connection.rows(sql`SELECT id FROM ${relation} ORDER BY id`)).map(({ id }) => id)
  return {
    claim,
    connection,
    tables,
    idsOf,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]()
      await space[Symbol.asyncDispose]()
    },
  }
}

test('a flush sets them aside with the reason, and takes the others', async () => {
  await using space = await opened(lakeTables)
  const { connection, claim } = space
  const batch = await loadTolerantly({ connection, model, tables: lakeTables }, claim)
  assert.equal([batch.events, batch.rejected], [2, 4])
  assert.equal(await space.idsOf(FITTING), [1, 6])
  const reasons = await connection.rows(sql`SELECT reason FROM ${VERDICTS} ORDER BY seq`)
  assert.equal(
    reasons.map(({ reason }) => textOf(reason).replaceAll(/\d{30,}/g, '…')),
    [
      'column "seq": cannot store … as HUGEINT in this target',
      `column "reason": cannot store [1 day, '2562047787:00:00'] as INTERVAL[] in this target`,
      `column "at": cannot store [{'n': …, 't': x}, NULL] as STRUCT(n HUGEINT, t VARCHAR)[2] in this target`,
      `column "seq": cannot store -… as HUGEINT in this target; column "reason": cannot store ['2562047787:00:00'] as INTERVAL[] in this target`,
    ],
  )
})

test('a file takes them all', async () => {
  await using space = await opened(fileTables)
  const { connection, claim } = space
  const batch = await loadTolerantly({ connection, model, tables: fileTables }, claim)
  assert.equal([batch.events, batch.rejected], [6, 0])
})

test('a plan foresees it, and counts alike reasons as one', async () => {
  await using space = await opened(lakeTables)
  const { connection, claim } = space
  const context = { connection, store: { tables: lakeTables } } as Pick<
    RunContext,
    'connection' | 'store'
  >
  const verdict = await judgeEvents(context, model, [claim], null)
  assert.equal([verdict.waiting, verdict.rejected, verdict.reasons.length], [6, 4, 4])
  assert.equal(await space.idsOf(sql`temp.main._eider_arriving`), [1, 6])
})

test.run()
