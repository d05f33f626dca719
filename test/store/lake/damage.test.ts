// What the engine notices of an object that holds other bytes than were written. It writes Parquet without checksums, so
// this is for the messages that it does give; how often there is none is said in docs/scale-out.md.

import { copyFile, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { LakeTarget } from '../../../src/core/lake.ts'
import { sql } from '../../../src/core/sql.ts'
import { type Connection, Database } from '../../../src/duckdb/database.ts'
import { DatabaseError, toDatabaseError } from '../../../src/duckdb/errors.ts'
import { textOf } from '../../../src/duckdb/values.ts'
import { damageOf } from '../../../src/store/lake/damage.ts'
import { flipBit } from '../../support/flip-bit.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const lake = { store: { data: 's3://bucket/prod/' } } as unknown as LakeTarget
const object = 'ducklake-01a20a2d-ae83-7fa0-8b22-a9ffb5700d5f.parquet'

const said = (message: string) => damageOf(toDatabaseError(new Error(message)), lake)?.message

const http = (url: string, status: string) =>
  `HTTP GET error reading '${url}' in region 'us-east-1' (HTTP ${status})\n\nNoSuchKey: no.`

const messages: readonly (readonly [string, string | undefined])[] = [
  [
    http(`http://127.0.0.1:9000/bucket/prod/mart/t/${object}`, '404 Not Found'),
    `an object of the lake is gone from the store: mart/t/${object}`,
  ],
  [
    http(`https://bucket.s3.amazonaws.com/prod/mart/t/${object}`, '416 Range Not Satisfiable'),
    `an object of the lake is cut short: mart/t/${object}`,
  ],
  [
    `Failed to read file "s3://bucket/prod/mart/t/${object}": Snappy decompression failure`,
    `an object of the lake is damaged: mart/t/${object}`,
  ],
  ['Out of buffer', 'an object of the lake is damaged: DuckDB does not say which'],
  [http('http://127.0.0.1:9000/bucket/prod/some.parquet', '404 Not Found'), undefined],
  ['Failed to read file "data/own.parquet": Snappy decompression failure', undefined],
  ['Conversion Error: Could not convert string "x" to INT32', undefined],
]

test('an object that is damaged has its name below the prefix of the lake', () => {
  for (const [message, expected] of messages) assert.is(said(message), expected, message)
})

test('whatever the engine says of a bit that has flipped is known as damage', async () => {
  await using dir = await temporaryDirectory()
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const whole = join(dir.path, 'whole')
  await connection.run(sql`
    COPY (SELECT i AS id, 'row ' || hash(i) AS text, i % 5 AS part, hash(-i) / 7.0 AS x FROM range(3000) t(i))
    TO ${sql.value(whole)} (FORMAT parquet)`)
  const right = await readAll(connection, whole)
  const { size } = await stat(whole)
  const random = seededRandom(7)
  const outcomes = { noticed: 0, same: 0, wrong: 0 }
  // Each has a name of its own, as objects of a lake do: the engine keeps what it has read of a file, and has taken it for
  // that of a later one of the same name.
  const nth = (n: number) => join(dir.path, object.replace(/[0-9a-f]{4}(?=\.)/, `${1000 + n}`))
  for (let i = 0; i < 300; i++) {
    const path = nth(i)
    await copyFile(whole, path)
    // Every third in the metadata, which are a small part of the file.
    const at = i % 3 === 0 ? size - 1 - Math.floor(random() * 700) : Math.floor(random() * size)
    await flipBit(path, at)
    const found = await readAll(connection, path)
    outcomes[found === null ? 'noticed' : found === right ? 'same' : 'wrong']++
  }
  assert.ok(outcomes.noticed > 30, JSON.stringify(outcomes))
  // Where this no longer holds, the engine has got checksums: docs/scale-out.md says otherwise.
  assert.ok(outcomes.wrong > 100, JSON.stringify(outcomes))

  for (const [i, bytes] of [0, 3, 100, size >> 1, size - 1].entries()) {
    const path = nth(300 + i)
    await copyFile(whole, path)
    await truncate(path, bytes)
    assert.is(await readAll(connection, path), null, `cut to ${bytes} bytes`)
  }
  const backwards = nth(400)
  await writeFile(backwards, (await readFile(whole)).reverse())
  assert.is(await readAll(connection, backwards), null)
})

/** null: it is known to be damaged. Throws what is not known. */
async function readAll(connection: Connection, path: string): Promise<string | null> {
  try {
    const [row] = await connection.texts(
      sql`SELECT (count(*), bit_xor(hash(t)))::VARCHAR AS all FROM read_parquet(${sql.value(path)}) t`,
    )
    return textOf(row?.['all'])
  } catch (error) {
    if (error instanceof DatabaseError && damageOf(error, lake) !== null) return null
    throw error
  }
}

test.run()
