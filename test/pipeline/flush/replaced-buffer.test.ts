import { cp, rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { eventBytes, openBuffer } from '../../support/open-buffer.ts'
import { events } from '../../support/handmade-models.ts'
import { openProject, type TestProject } from '../../support/pipeline-project.ts'

const model = events('raw.e', { id: 'INTEGER' })
const BEFORE = '2001-01-01T00:00:00.000Z'

/** A daemon takes one event each, and ends; the clock stands in 2001. */
async function accept(space: TestProject, ...ids: readonly number[]): Promise<void> {
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

const flush = (space: TestProject) =>
  space.ok([model], { openClaims: () => openBuffer(space.path('.')) })

const idsOf = async (space: TestProject) =>
  (await space.rows(sql`SELECT id FROM raw.e ORDER BY rowid`)).map(({ id }) => id)

test('events of a buffer made anew while the clock is behind reach the table', async () => {
  await using space = await openProject()
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
  await using space = await openProject()
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

test('openings of long ago are forgotten, the current one never', async () => {
  await using space = await openProject()
  await accept(space, 1)
  await flush(space)
  {
    await using database = await Database.open({ path: space.paths.database })
    await using connection = await database.connect()
    await connection.run(sql`
      INSERT INTO _eider.flush_position
      SELECT target, i, 1, flushed_at + i * INTERVAL 1 DAY
      FROM _eider.flush_position, range(1, ${sql.value(limits.keptOpenings + 1)}) AS t(i)`)
    await connection.run(sql`
      INSERT INTO _eider.flush_position VALUES ('raw.other', 1, 1, TIMESTAMPTZ '2001-01-01')`)
  }
  await accept(space, 2)
  await flush(space)
  const [known] = await space.rows(sql`
    SELECT count(*)::INTEGER AS openings, min(opening)::INTEGER AS oldest,
      bool_or(flushed_at <= now()) AS current FROM _eider.flush_position WHERE target = 'raw.e'`)
  assert.equal(known, { openings: limits.keptOpenings, oldest: 2, current: true })
  assert.is(
    (await space.rows(sql`FROM _eider.flush_position WHERE target = 'raw.other'`)).length,
    1,
  )
})

test.run()
