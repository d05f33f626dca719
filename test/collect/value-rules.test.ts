// What the door takes, the engine reads, as it was meant; and what the engine would change in silence is refused.

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readEvent } from '../../src/collect/read-events.ts'
import { openDoor } from '../../src/collect/validate-event.ts'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { eventsModel } from './model.ts'
import { numbers } from './number-examples.ts'
import { others } from './value-examples.ts'

for (const [type, examples] of Object.entries({ ...numbers, ...others })) {
  test(type, async () => {
    const door = openDoor(eventsModel('raw.t', `c ${type}`))
    const stored = Object.keys(examples.taken).map((value) =>
      Buffer.from(readEvent(door, Buffer.from(`{"c": ${value}}`), 1e6)[0]!).toString(),
    )
    const readAs = examples.castFromText ? 'VARCHAR' : type
    assert.equal(await readByEngine(stored, readAs, type), Object.values(examples.taken))
    for (const value of examples.refused) {
      const refused = (error: unknown) => error instanceof RequestError && error.status === 400
      assert.throws(() => readEvent(door, Buffer.from(`{"c": ${value}}`), 1e6), refused, value)
    }
  })
}

/** As the flush reads: wrapped lines, the event as a STRUCT of the columns. */
async function readByEngine(
  events: readonly string[],
  readAs: string,
  type: string,
): Promise<readonly unknown[]> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-door-'))
  try {
    const path = join(dir, 'events.ndjson')
    await writeFile(path, events.map((event, index) => `{"s":${index},"e":${event}}\n`).join(''))
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const struct = sql.value(`STRUCT(c ${readAs})`)
    const rows = await connection.rows(sql`
      SELECT CAST(CAST(e.c AS ${sql.type(columnType(type))}) AS VARCHAR) AS shown
      FROM read_json(${sql.value(path)}, format = 'newline_delimited', records = true,
        columns = {s: 'UBIGINT', e: ${struct}}) ORDER BY s`)
    return rows.map(({ shown }) => shown)
  } finally {
    await rm(dir, { recursive: true })
  }
}

test.run()
