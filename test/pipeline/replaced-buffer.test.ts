import { cp, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { sql } from '../../src/core/sql.ts'
import { eventBytes, openBuffer } from '../buffer/drain.ts'
import { events, fixture, type Fixture } from './fixture.ts'

const model = events('raw.e', { id: 'INTEGER' })
const BEFORE = '2001-01-01T00:00:00.000Z'

/** A daemon takes one event each, and ends; the clock stands in 2001. */
async function accept(space: Fixture, ...ids: readonly number[]): Promise<void> {
  const { now } = Date
  Date.now = () => Date.parse(BEFORE)
  try {
    for (const id of ids) {
      await using buffer = await openBuffer(space.path('.'))
      await buffer.append(model.name, [eventBytes({ id })], BEFORE)
    }
  } finally {
    Date.now = now
  }
}

const flush = (space: Fixture) =>
  space.ok([model], { openClaims: () => openBuffer(space.path('.')) })

const idsOf = async (space: Fixture) =>
  (await space.rows(sql`SELECT id FROM raw.e ORDER BY rowid`)).map(({ id }) => id)

test('events of a buffer made anew while the clock is behind reach the table', async () => {
  await using space = await fixture()
  {
    await using buffer = await openBuffer(space.path('.'))
    await buffer.append(model.name, [eventBytes({ id: 1 })], new Date().toISOString())
  }
  await flush(space)
  await rm(space.path('buffer'), { recursive: true })
  await accept(space, 2, 3)
  await flush(space)
  assert.equal(await idsOf(space), [1, 2, 3])
})

test('a buffer put back as it was once gives what is new to the table, and nothing twice', async () => {
  await using space = await fixture()
  await accept(space, 1, 2)
  await cp(space.path('buffer'), space.path('copy'), { recursive: true })
  await accept(space, 3, 4, 5)
  await flush(space)
  await rm(space.path('buffer'), { recursive: true })
  await cp(space.path('copy'), space.path('buffer'), { recursive: true })
  await accept(space, 6, 7)
  await flush(space)
  assert.equal(await idsOf(space), [1, 2, 3, 4, 5, 6, 7])
})

test.run()
