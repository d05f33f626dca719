import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { DatabaseError } from '../../../src/duckdb/errors.ts'
import { SpareEngine } from '../../../src/odata/engine/snapshot-engines.ts'

async function open(resources: Resources, memoryLimit: string | null = null) {
  const tempDir = await mkdtemp(join(tmpdir(), 'eider-'))
  resources.defer(() => rm(tempDir, { recursive: true }))
  const settings = { threads: 1, memoryLimit, tempDir, connections: 1 }
  return resources.use(new SpareEngine(settings))
}

test('an engine is given once, whether it was made ahead or not', async () => {
  await using resources = new Resources()
  const spare = await open(resources)
  await Promise.all([spare.prepare(), spare.prepare()])
  const taken = await Promise.all([spare.take(), spare.take(), spare.take()])
  for (const engine of taken) resources.use(engine)
  assert.is(new Set(taken).size, 3)
  const pool = await taken[0].openReadOnly([])
  await using lent = await pool.take()
  assert.equal(await lent.connection.row(sql`SELECT 1 AS one`), { one: 1 })
})

test('an engine that cannot be made is an error for the one who needs it', async () => {
  await using resources = new Resources()
  const spare = await open(resources, 'much')
  await spare.prepare()
  const error = await spare.take().catch((thrown: unknown) => thrown)
  assert.instance(error, DatabaseError)
})

test.run()
