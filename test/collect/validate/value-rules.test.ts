// What the validator accepts, DuckDB reads, as it was meant; and what the engine would change in silence is refused.

import { fileTables } from '../../../src/store/files/tables.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readEvent } from '../../../src/collect/read/read-events.ts'
import { createValidator } from '../../../src/collect/validate/validate-event.ts'
import type { EventsModel } from '../../../src/core/model.ts'
import { sql } from '../../../src/core/sql.ts'
import { plainTable } from '../../../src/store/table-storage.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { RequestError } from '../../../src/http/request-error.ts'
import { insertTyped, viewTyped } from '../../../src/pipeline/flush/load-batch.ts'
import { FakeClaims } from '../../support/fake-claims.ts'
import { eventsModel } from '../../support/handmade-models.ts'
import { numbers } from '../../support/number-examples.ts'
import { others } from '../../support/value-examples.ts'

for (const [type, examples] of Object.entries({ ...numbers, ...others })) {
  test(type, async () => {
    const model = eventsModel('raw.t', `c ${type}`)
    const validator = createValidator(model)
    const stored = Object.keys(examples.taken).map((value) =>
      Buffer.from(readEvent(validator, Buffer.from(`{"c": ${value}}`), 1e6)[0]!).toString(),
    )
    assert.equal(await flushed(model, stored), Object.values(examples.taken))
    for (const value of examples.refused) {
      const refused = (error: unknown) => error instanceof RequestError && error.status === 400
      assert.throws(() => readEvent(validator, Buffer.from(`{"c": ${value}}`), 1e6), refused, value)
    }
  })
}

/** The real way of a flush: what does not fit its column there throws. */
async function flushed(model: EventsModel, events: readonly string[]): Promise<readonly unknown[]> {
  const dir = await mkdtemp(join(tmpdir(), 'eider-rules-'))
  try {
    const claims = new FakeClaims(dir)
    const claim = await claims.add(model.name, events)
    await using database = await Database.open({ path: ':memory:' })
    await using connection = await database.connect()
    const batch = await viewTyped({ connection, model, tables: fileTables }, [claim], false)
    await connection.run(sql`CREATE TABLE t (c ${sql.type(model.columns[0]!.type)})`)
    await insertTyped({ connection, model, tables: fileTables }, plainTable(sql`t`, null), batch)
    const rows = await connection.rows(
      sql`SELECT CAST(c AS VARCHAR) AS shown FROM t ORDER BY rowid`,
    )
    return rows.map(({ shown }) => shown)
  } finally {
    await rm(dir, { recursive: true })
  }
}

test.run()
