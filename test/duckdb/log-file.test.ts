// Logs that DuckDB has written, and what a power cut or a fault of a disk makes of them: what is told of each, by every
// byte at which it may happen.

import { writeFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { type Sql, sql } from '../../src/core/sql.ts'
import { type LogState, readLogState } from '../../src/duckdb/log-file.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { type WrittenLog, writtenLog } from '../support/written-log.ts'

const row = (i: number): Sql =>
  sql`INSERT INTO t VALUES (${sql.value(i)}, ${sql.value('x'.repeat(i))})`
const TABLE = sql`CREATE TABLE t (a INTEGER, b VARCHAR)`
const written = () => writtenLog(TABLE, [row(1), row(2), sql`DELETE FROM t WHERE a = 1`, row(4)])

/** Asks for the state of one log after the other, all at the same path. */
async function states(
  made: WrittenLog,
  ask: (state: (log: Buffer) => Promise<LogState>) => Promise<void>,
) {
  await using directory = await temporaryDirectory()
  const path = `${directory.path}/log`
  await ask(async (log) => {
    await writeFile(path, log)
    return await readLogState(path)
  })
}

const zeroed = (log: Buffer, from: number, to = log.length) => Buffer.from(log).fill(0, from, to)

function flipped(log: Buffer, at: number, bit = at % 8): Buffer {
  const other = Buffer.from(log)
  other[at]! ^= 1 << bit
  return other
}

for (const [name, attached] of [
  ['', sql.empty],
  [', of the newest storage version', sql`(STORAGE_VERSION 'latest')`],
] as const) {
  test(`a log is readable whole and where it ends early${name}`, async () => {
    await using made = await writtenLog(TABLE, [row(1), row(2)], attached)
    await states(made, async (state) => {
      // Less than the header is no log yet.
      for (let size = 12; size <= made.log.length; size++)
        if (size > made.ends[0]!)
          assert.is((await state(made.log.subarray(0, size))).is, 'readable')
    })
  })

  test(`zeros instead of any end of the last commit are a torn commit${name}`, async () => {
    await using made = await writtenLog(TABLE, [row(1), row(2)], attached)
    const before = made.ends.at(-2)!
    await states(made, async (state) => {
      for (let at = before; at < made.log.length; at++) {
        const found = await state(zeroed(made.log, at))
        assert.is(found.is, 'torn')
        assert.is(found.is === 'torn' && found.committedBytes, before)
      }
    })
  })
}

test('so is any part of the last commit that is missing, and any bit of it that is another one', async () => {
  await using made = await written()
  const before = made.ends.at(-2)!
  await states(made, async (state) => {
    for (let at = before; at < made.log.length; at++)
      for (const log of [
        flipped(made.log, at),
        zeroed(made.log, at, Math.min(at + 16, made.log.length)),
      ]) {
        if (log.equals(made.log)) continue
        const found = await state(log)
        assert.is(found.is, 'torn', `byte ${at}`)
        assert.is(found.is === 'torn' && found.committedBytes, before)
      }
  })
})

test('a bit of an earlier commit that is another one is damage, also in its size or its mark', async () => {
  await using made = await written()
  await states(made, async (state) => {
    for (let at = made.ends[0]!; at < made.ends.at(-2)!; at++) {
      const commit = made.ends.findIndex((end) => end > at)
      const found = await state(flipped(made.log, at))
      assert.is(found.is, 'damaged', `byte ${at}`)
      if (found.is !== 'damaged') continue
      assert.is(found.committedBytes, made.ends[commit - 1])
      assert.ok(found.badAt >= found.committedBytes && found.badAt <= at)
      assert.is(found.lostCommits, made.ends.length - commit, `byte ${at}`)
    }
  })
})

test('a first commit of which the header is missing is torn, and nothing was committed', async () => {
  await using made = await writtenLog(TABLE, [])
  await states(made, async (state) => {
    for (let kept = 0; kept < 8; kept++)
      assert.equal(await state(zeroed(made.log, kept, made.log.length - 30)), {
        is: 'torn',
        badAt: 0,
        committedBytes: 0,
      })
  })
})

test('a log of another version, encrypted or not a log is left alone', async () => {
  await using made = await written()
  const ofVersion = (version: number) => {
    const log = Buffer.from(made.log)
    log[5] = version
    return log
  }
  await states(made, async (state) => {
    for (const log of [ofVersion(1), ofVersion(3), ofVersion(4), Buffer.from('no log at all')])
      assert.equal(await state(zeroed(log, log.length - 4)), { is: 'unknown' })
    assert.equal(await state(Buffer.alloc(0)), { is: 'readable' })
  })
  assert.equal(await readLogState('/nowhere/at/all.wal'), { is: 'readable' })
})

test('checksums are those of DuckDB for entries of any length, also of more than one piece', async () => {
  const lengths = [...Array(40).keys(), limits.readLogBytes, 3 * limits.readLogBytes + 5]
  await using made = await writtenLog(
    TABLE,
    lengths.map(
      (length) => sql`INSERT INTO t SELECT 1, repeat('äß', ${sql.value(length)}::INTEGER)`,
    ),
  )
  await states(made, async (state) => {
    assert.equal(await state(made.log), { is: 'readable' })
    const [before, end] = made.ends.slice(-2) as [number, number]
    assert.is((await state(flipped(made.log, Math.floor((before + end) / 2)))).is, 'torn')
    assert.is((await state(flipped(made.log, before - 100))).is, 'damaged')
  })
})

test.run()
