// A chunk of long texts as batches of Arrow, and how long it is retained.

import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { DuckDBDataChunk } from '@duckdb/node-api'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import type { ArrowField } from '../../../src/core/arrow-types.ts'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { arrowReader, arrowRowsSql } from '../../../src/duckdb/arrow/arrow-chunks.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { type TextPart, TextStream } from '../../../src/duckdb/vectors/text-stream.ts'

const KiB = 1024
const fields: readonly ArrowField[] = [{ name: 'text', type: { kind: 'text' } }]

interface Read {
  readonly batches: readonly TextPart[]
  readonly chunk: WeakRef<DuckDBDataChunk>
}

/** All batches of one chunk: so many rows with 700 KiB of text each, none of which is copied yet. */
async function read(resources: Resources, rows: number, mostBytes: number): Promise<Read> {
  const database = resources.use(await Database.open({ path: ':memory:' }))
  const connection = resources.use(await database.connect())
  const query = sql`SELECT repeat(i::VARCHAR, ${sql.value(700 * KiB)}) AS t FROM range(${sql.value(rows)}) AS r(i)`
  const chunks: WeakRef<DuckDBDataChunk>[] = []
  const reader = arrowReader(fields, mostBytes)
  const stream = resources.use(
    await TextStream.open(connection, arrowRowsSql([sql`t`], query), {
      maxRows: Infinity,
      mode: 'whole',
      reader: {
        ...reader,
        partsOf(chunk, count) {
          chunks.push(new WeakRef(chunk))
          return reader.partsOf(chunk, count)
        },
      },
    }),
  )
  const batches: TextPart[] = []
  for (let next = await stream.next(); next !== null; next = await stream.next()) batches.push(next)
  assert.is(chunks.length, 1)
  return { batches, chunk: chunks[0]! }
}

/** Whether it is still there when all is collected that nothing holds. What a job has asked for is held until its end. */
async function isHeld(chunk: WeakRef<DuckDBDataChunk>): Promise<boolean> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  await setImmediate()
  collect()
  return chunk.deref() !== undefined
}

test('a chunk with more text than a batch may have is split, each batch within it', async () => {
  await using resources = new Resources()
  const { batches } = await read(resources, 4, 1500 * KiB)
  assert.equal(
    batches.map(({ rows }) => rows),
    [1, 1, 1, 1],
  )
  for (const [i, batch] of batches.entries()) {
    const message = batch.copy()
    assert.ok(message.length < 701 * KiB, `${message.length}`)
    assert.ok(message.includes(Buffer.alloc(700 * KiB, String(i))), `row ${i}`)
  }
})

test('a row that has more text by itself is refused when it is copied', async () => {
  await using resources = new Resources()
  const { batches } = await read(resources, 1, 600 * KiB)
  assert.throws(() => batches[0]!.copy(), 'no place for so many bytes')
})

for (const rows of [1, 3])
  test(`a chunk of ${rows} long rows is held until the last of its batches is copied`, async () => {
    await using resources = new Resources()
    const { batches, chunk } = await read(resources, rows, Infinity)
    assert.is(batches.length, rows)
    for (const batch of batches) {
      assert.is(await isHeld(chunk), true)
      batch.copy()
    }
    assert.is(await isHeld(chunk), false)
    assert.throws(() => batches[0]!.copy(), 'already been copied')
  })

test.run()
