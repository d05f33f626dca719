import { ChangeTables } from '../../../src/store/changes.ts'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { fileTables } from '../../../src/store/files/tables.ts'
import { fileFlushRecords } from '../../../src/store/files/flush-records.ts'
import { type FlushStep, flushTarget } from '../../../src/pipeline/flush/flush.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import {
  runDefaults,
  openProject,
  type TestProject,
  recordProgress,
  resultOf,
  statuses,
} from '../../support/pipeline-project.ts'
import { events, projectOf, query } from '../../support/handmade-models.ts'

const model = events('raw.e', {
  id: 'INTEGER!',
  name: 'VARCHAR',
  received_at: 'TIMESTAMP WITH TIME ZONE',
})

const buffered = (space: TestProject) => new FakeClaims(space.path('buffer'))

/** That segment 1 of an opening, with one event, is committed. */
async function recordAck(space: TestProject, opening: number): Promise<void> {
  await using database = await Database.open({ path: space.paths.database })
  await using connection = await database.connect()
  await connection.run(sql`
    INSERT INTO _eider.acks (claim_id, target, segment, opening, events, committed_at)
    VALUES ('raw.e/1', 'raw.e', 1, ${sql.value(opening)}, 1, now())`)
}

const idsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id FROM raw.e ORDER BY rowid`)).map(({ id }) => id)

test('the eight steps in order, several segments in one transaction', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.e', [{ id: 1 }, { id: 2 }])
  await claims.add('raw.e', [{ id: 3 }])
  const steps: FlushStep[] = []
  const { seen, progress } = recordProgress()
  const summary = await space.ok([model], {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: (step) => void steps.push(step),
    progress,
  })
  assert.equal(claims.calls, ['claim raw.e/1', 'claim raw.e/2', 'ack raw.e/1', 'ack raw.e/2'])
  assert.equal(steps, [
    ...(['claimed', 'claimed', 'loaded', 'begun', 'inserted', 'recorded'] as const),
    ...(['committed', 'acked', 'record-deleted'] as const),
  ])
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 3, rejected: 0 }])
  assert.equal(await idsOf(space), [1, 2, 3])
  assert.equal(await space.rows(sql`FROM _eider.acks`), [])
  assert.is(seen.filter(({ event }) => event === 'flush-finished').length, 1)
})

test('a batch with an event that does not fit is committed segment by segment', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  for (const event of [{ id: 1 }, { id: 'no number' }, { name: 'no id' }, { id: 4 }])
    await claims.add('raw.e', [event])
  const { seen, progress } = recordProgress()
  const recorded: unknown[] = []
  const summary = await space.ok([model], {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: (step) => {
      if (['recorded', 'record-deleted'].includes(step)) recorded.push(step)
    },
    progress,
  })
  assert.equal(
    claims.calls.filter((call) => call.startsWith('ack')),
    [1, 2, 3, 4].map((n) => `ack raw.e/${n}`),
  )
  assert.equal(recorded, Array(4).fill(['recorded', 'record-deleted']).flat())
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 2, rejected: 2 }])
  assert.equal(
    seen.flatMap((event) => (event.event === 'flush-finished' ? [event.rejected] : [])),
    [2],
  )
  assert.equal(await idsOf(space), [1, 4])
})

test('a batch of which a segment fails keeps what is committed and gives back the rest', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1 }])
  const short = await claims.add('raw.e', [{ id: 2 }], { counted: 2 })
  await claims.add('raw.e', [{ id: 3 }])
  const summary = await space.run([model], { openClaims })
  assert.match(resultOf(summary, 'raw.e').because, /holds 1 events, but 2 were accepted/)
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 1, rejected: 0 }])
  assert.equal(await idsOf(space), [1])
  assert.equal(
    claims.segments.map(({ claim, claimed }) => [claim.segment, claimed]),
    [
      [2, false],
      [3, false],
    ],
  )
  Object.assign(short, { events: 1 })
  await space.ok([model], { openClaims })
  assert.equal(await idsOf(space), [1, 2, 3])
})

test('without events the table exists and is empty', async () => {
  await using space = await openProject()
  const down = query('mart.n', 'select count(*)::int as n from raw.e', { reads: ['raw.e'] })
  await space.ok([model, down])
  assert.equal(await space.rows(sql`FROM mart.n`), [{ n: 0 }])
})

test('downstream runs when events came, and only then', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  const down = query('mart.n', 'select count(*)::int as n from raw.e', { reads: ['raw.e'] })
  await claims.add('raw.e', [{ id: 1 }])
  await space.ok([model, down], { openClaims })
  const idle = await space.ok([model, down], { openClaims })
  assert.equal(statuses(idle), { 'raw.e': 'unchanged', 'mart.n': 'unchanged' })
  await claims.add('raw.e', [{ id: 2 }])
  const more = await space.ok([model, down], { openClaims })
  assert.is(resultOf(more, 'raw.e').because, 'new events')
  assert.is(resultOf(more, 'raw.e').rows, 1)
  assert.equal(await space.rows(sql`FROM mart.n`), [{ n: 2 }])
})

test('new fields of a STRUCT widen the table; events that wait have NULL in them', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1, place: { a: 1 }, parts: [{ x: 'p' }] }])
  await space.ok(
    [events('raw.e', { id: 'INTEGER', place: 'STRUCT(a INTEGER)', parts: 'STRUCT(x VARCHAR)[]' })],
    { openClaims },
  )
  await claims.add('raw.e', [
    { id: 2, place: { a: 2 } },
    { id: 3, place: { a: 3, b: 'new' }, parts: [{ x: 'q', y: { z: true } }] },
  ])
  const wider = events('raw.e', {
    id: 'INTEGER',
    place: 'STRUCT(b VARCHAR, a INTEGER)',
    parts: 'STRUCT(x VARCHAR, y STRUCT(z BOOLEAN))[]',
  })
  await space.ok([wider], { openClaims })
  assert.equal(await space.rows(sql`SELECT id, place.a, place.b, parts FROM raw.e ORDER BY id`), [
    { id: 1, a: 1, b: null, parts: [{ x: 'p', y: null }] },
    { id: 2, a: 2, b: null, parts: null },
    { id: 3, a: 3, b: 'new', parts: [{ x: 'q', y: { z: true } }] },
  ])
})

test('new columns widen the table; a change that would lose values is refused before anything is claimed', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1, name: 'a' }])
  await space.ok([model], { openClaims })
  await claims.add('raw.e', [{ id: 5_000_000_000, extra: true }])
  await space.ok([events('raw.e', { id: 'BIGINT', extra: 'BOOLEAN' })], { openClaims })
  assert.equal(await space.rows(sql`SELECT id, name, extra FROM raw.e ORDER BY id`), [
    { id: '1', name: 'a', extra: null },
    { id: '5000000000', name: null, extra: true },
  ])
  await claims.add('raw.e', [{ id: 3 }])
  claims.calls.length = 0
  for (const changed of [events('raw.e', { id: 'SMALLINT' }), query('raw.e', 'select 1 as id')]) {
    const refused = await space.run([changed], { openClaims })
    assert.is(resultOf(refused, 'raw.e').status, 'failed')
    assert.match(resultOf(refused, 'raw.e').because, /without losing values|no flag drops them/)
  }
  assert.equal(claims.calls, [])
  assert.is(claims.segments.length, 1)
})

test('open claims of an earlier run are flushed first and under the same id', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.e', [{ id: 1 }])
  await claims.add('raw.e', [{ id: 2 }])
  claims.segments[1]!.claimed = true // the younger one is open, the older one was given back
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(await idsOf(space), [1, 2])
  assert.equal(claims.segments, [])
})

test('a segment whose removal was lost in a power cut is removed again, not inserted', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1 }], { segment: 5 })
  await space.ok([model], { openClaims })
  await claims.add('raw.e', [{ id: 1 }], { segment: 5 })
  await space.ok([model], { openClaims })
  assert.equal(await idsOf(space), [1])
  assert.equal(claims.segments, [])
})

test('a buffer that counts anew, with a clock that goes behind, is not taken for flushed', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  const down = query('mart.n', 'select count(*)::int as n from raw.e', { reads: ['raw.e'] })
  await claims.add('raw.e', [{ id: 1 }], { segment: 5 })
  await space.ok([model, down], { openClaims })
  const time = '2001-01-01T00:00:00.000Z'
  await claims.add('raw.e', [{ id: 2 }], { segment: 1, opening: 2, time })
  await claims.add('raw.e', [{ id: 3 }], { segment: 5, opening: 3, time })
  await space.ok([model, down], { openClaims })
  assert.equal(await idsOf(space), [1, 2, 3])
  assert.equal(await space.rows(sql`FROM mart.n`), [{ n: 3 }])
})

test('an ack record says nothing of a segment with the same number from another opening', async () => {
  await using space = await openProject()
  await space.ok([model])
  await recordAck(space, 7)
  const claims = buffered(space)
  const { id } = await claims.add('raw.e', [{ id: 1 }], { segment: 1, opening: 8 })
  await claims.claim(model.name)
  assert.is(id, 'raw.e/1')
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(await idsOf(space), [1])
})

test('a runner that slept through the flush of its claim by another cannot insert it again', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.e', [{ id: 1 }])
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  await claims.add('raw.e', [{ id: 1 }], { segment: 1 })
  await using database = await Database.open({ path: space.paths.database })
  await using connection = await database.connect()
  const { signal, progress, logger } = runDefaults(space.paths)
  const sleeper = flushTarget(
    {
      connection,
      records: fileFlushRecords,
      changes: new ChangeTables({ deletes: true }),
      tables: fileTables,
      makeRoom: () => Promise.resolve(),
      formerly: false,
      claims,
      signal,
      progress,
      logger,
      model,
      startedAt: new Date(),
      count: () => {},
    },
    model.name,
    undefined, // the fence as it was before the other runner moved it
  )
  const message = await sleeper.catch((error: Error) => error.message)
  assert.is(message, 'another run has flushed raw.e/1 meanwhile')
  assert.equal(await connection.rows(sql`SELECT id FROM raw.e`), [{ id: 1 }])
  assert.equal(await connection.rows(sql`FROM _eider.acks`), [])
})

test('no segment overtakes one that another runner holds', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const openClaims = () => Promise.resolve(claims)
  await claims.add('raw.e', [{ id: 1 }])
  await claims.add('raw.e', [{ id: 2 }])
  // The other runner takes the first one right after this run has looked what is open.
  const inflight = claims.inflight.bind(claims)
  claims.inflight = async (target) => {
    const open = await inflight(target)
    claims.segments[0]!.claimed = true
    return open
  }
  const summary = await space.run([model], { openClaims })
  assert.match(resultOf(summary, 'raw.e').because, /another run is flushing raw.e: segment 1/)
  assert.equal(claims.calls, ['claim raw.e/2', 'nack raw.e/2'])
  claims.inflight = inflight
  await space.ok([model], { openClaims })
  assert.equal(await idsOf(space), [1, 2])
})

test('an ack record of a claim that the buffer no longer has is removed', async () => {
  await using space = await openProject()
  await space.ok([model])
  await recordAck(space, 1)
  const claims = buffered(space)
  await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(claims.calls, [])
  assert.equal(await space.rows(sql`FROM _eider.acks`), [])
})

test('under constant load a run stops after what was there when it began', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.e', [{ id: 1 }])
  let id = 1
  const summary = await space.ok([model], {
    openClaims: () => Promise.resolve(claims),
    onFlushStep: async (step) => {
      if (step === 'claimed')
        await claims.add('raw.e', [{ id: ++id }], {
          time: new Date(Date.now() + 60_000).toISOString(),
        })
    },
  })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 2, rejected: 0 }])
  assert.is(claims.segments.length, 1)
})

test('events that were accepted while the clock was ahead keep none in the buffer', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const time = new Date(Date.now() + 12 * 3_600_000).toISOString()
  await claims.add('raw.e', [{ id: 1 }], { time })
  for (const id of [2, 3, 4]) await claims.add('raw.e', [{ id }])
  const summary = await space.ok([model], { openClaims: () => Promise.resolve(claims) })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 4, rejected: 0 }])
  assert.is(claims.segments.length, 0)
})

test('a run that began while the clock was behind takes the events that were there before it', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const time = new Date(Date.now() - 60_000).toISOString()
  for (const id of [1, 2, 3]) await claims.add('raw.e', [{ id }], { time })
  const now = () => new Date(Date.now() - 300_000)
  const summary = await space.ok([model], { openClaims: () => Promise.resolve(claims), now })
  assert.equal(summary.flushed, [{ model: 'raw.e', events: 3, rejected: 0 }])
  assert.is(claims.segments.length, 0)
})

test('events of a target without a model stay in the buffer', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  await claims.add('raw.gone', [{ id: 1 }])
  const warnings: string[] = []
  const warn = (event: string) => void warnings.push(event)
  const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
  await space.ok([model], { openClaims: () => Promise.resolve(claims), logger })
  assert.equal(warnings, ['flush-target-without-model'])
  assert.is(claims.segments.length, 1)
})

test('an events model with a mistake is no target without a model', async () => {
  await using space = await openProject()
  const claims = buffered(space)
  const bad = events('raw.bad', { id: 'INTEGER!' })
  await claims.add('raw.bad', [{ id: 1 }])
  const warnings: string[] = []
  const warn = (event: string) => void warnings.push(event)
  const logger = { debug() {}, info() {}, warn, error() {}, child: () => logger }
  const failed = new Map([
    [bad.name, { ...bad, mistakes: [], failedBy: bad.name, isExposed: false }],
  ])
  await space.run([model], {
    project: { ...projectOf(model), failed },
    openClaims: () => Promise.resolve(claims),
    logger,
  })
  assert.equal(warnings, [])
  assert.is(claims.segments.length, 1)
})

test.run()
