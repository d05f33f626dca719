import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { events, query } from '../../support/handmade-models.ts'
import { openProject, type TestProject, resultOf } from '../../support/pipeline-project.ts'

const narrow = events('raw.e', { id: 'TINYINT!', received_at: 'TIMESTAMP WITH TIME ZONE' })
const wide = events('raw.e', { id: 'BIGINT!', received_at: 'TIMESTAMP WITH TIME ZONE' })
const down = query('mart.n', 'select count(*)::int as n from raw.e', { reads: ['raw.e'] })

/** Rejects 1000, 9007199254740993 and a text; 1 goes in. */
async function rejectSome(space: TestProject): Promise<FakeClaims> {
  const claims = new FakeClaims(space.path('buffer'))
  const sent = ['{"id":1}', '{"id":1000}', '{"id":9007199254740993}', '{"id":"x"}']
  await claims.add('raw.e', sent, { time: '2026-01-02T03:04:05.678Z' })
  const summary = await space.ok([narrow, down], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 1, rejected: 3 }])
  return claims
}

const idsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id::VARCHAR AS id FROM raw.e ORDER BY raw.e.id`)).map(({ id }) => id)

test('rejected events that fit the changed model move into the table, once, with the time they came in', async () => {
  await using space = await openProject()
  const openClaims = () => Promise.resolve(claims)
  const claims = await rejectSome(space)
  const same = await space.ok([narrow, down], { openClaims })
  assert.equal(same.flushed, [], 'nothing is tried again while the model is the same')

  const mended = await space.ok([wide, down], { openClaims })
  assert.equal(mended.flushed, [{ model: 'raw.e', events: 2, rejected: 0 }])
  assert.is(resultOf(mended, 'mart.n').status, 'built')
  assert.equal(await space.rows(sql`FROM mart.n`), [{ n: 3 }])
  assert.equal(await idsOf(space), ['1', '1000', '9007199254740993'])
  assert.equal(await space.rows(sql`SELECT DISTINCT received_at::VARCHAR AS at FROM raw.e`), [
    { at: '2026-01-02 03:04:05.678+00' },
  ])
  assert.equal(await space.rows(sql`SELECT reason, event FROM _eider.rejected_events`), [
    { reason: 'column "id": cannot read "x" as BIGINT', event: '{"id":"x"}' },
  ])

  const again = await space.ok([wide, down], { openClaims })
  assert.equal(again.flushed, [])
  assert.is((await idsOf(space)).length, 3)
})

test('a project where nothing collects any more still takes its rejected events in', async () => {
  await using space = await openProject()
  await rejectSome(space)
  await space.ok([wide], { openClaims: null })
  assert.is((await idsOf(space)).length, 3)
})

test('a change of the model that is refused leaves its rejected events as they were', async () => {
  await using space = await openProject()
  await rejectSome(space)
  const refused = await space.run([events('raw.e', { id: 'DATE' })])
  assert.is(resultOf(refused, 'raw.e').status, 'failed')
  assert.equal(await space.rows(sql`SELECT count(*)::INTEGER AS n FROM _eider.rejected_events`), [
    { n: 3 },
  ])
  await space.ok([wide])
  assert.equal(await idsOf(space), ['1', '1000', '9007199254740993'])
})

test('a change that is taken back before its run has ended takes back what it has rejected', async () => {
  await using space = await openProject()
  const claims = new FakeClaims(space.path('buffer'))
  const openClaims = () => Promise.resolve(claims)
  const lenient = events('raw.e', { id: 'INTEGER' })
  const strict = events('raw.e', { id: 'INTEGER!' })
  await space.ok([lenient], { openClaims })
  await claims.add('raw.e', ['{"id":1}', '{}'])
  const stop = new AbortController()
  const onFlushStep = (step: string) => {
    if (step === 'record-deleted') stop.abort()
  }
  const stopped = await space.run([strict], { openClaims, onFlushStep, signal: stop.signal })
  assert.equal(stopped.flushed, [{ model: 'raw.e', events: 1, rejected: 1 }])

  const back = await space.ok([lenient], { openClaims })
  assert.equal(back.flushed, [{ model: 'raw.e', events: 1, rejected: 0 }])
  assert.equal(await space.rows(sql`SELECT id FROM raw.e ORDER BY id`), [{ id: 1 }, { id: null }])
})

test.run()
