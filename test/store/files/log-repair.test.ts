// A warehouse opens after every power cut, and never without what was on disk.

import { mkdir, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../../src/core/failures.ts'
import type { ProjectPaths } from '../../../src/core/project.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { waitingRepair } from '../../../src/store/files/log-repair.ts'
import { fileStore } from '../../../src/store/files/store.ts'
import { flipBit } from '../../support/flip-bit.ts'
import { heard } from '../../support/heard.ts'
import { holdDatabase } from '../../support/hold-database.ts'
import { smallDisk, testOnDisk } from '../../support/small-disk.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { type WrittenLog, writtenLog } from '../../support/written-log.ts'

const TABLE = sql`CREATE TABLE t (i INTEGER, s VARCHAR)`
const COMMITS = 4
const written = () =>
  writtenLog(
    TABLE,
    Array.from(
      { length: COMMITS },
      (_, i) => sql`INSERT INTO t SELECT ${sql.value(i + 1)}, 'x' || j FROM range(10) AS r(j)`,
    ),
  )

const storeOf = (database: string) => {
  const dir = dirname(database)
  const paths: ProjectPaths = {
    dir,
    database,
    state: dir,
    buffer: join(dir, 'buffer'),
    snapshots: join(dir, 'snapshots'),
    runLock: join(dir, 'run.lock'),
    collectLock: join(dir, 'collect.lock'),
    target: join(dir, 'target'),
  }
  return fileStore(paths)
}

const openingOf = () => ({
  memoryLimit: null,
  lockWaitMs: 0,
  signal: new AbortController().signal,
})

async function commitsIn(database: Database): Promise<number> {
  await using connection = await database.connect()
  const row = await connection.row(sql`
    SELECT count(DISTINCT i)::INTEGER AS commits, count(*)::INTEGER AS rows FROM t`)
  assert.is(row?.['rows'], 10 * Number(row?.['commits']))
  return Number(row?.['commits'])
}

/** What this process has read so far, as the system counts it. */
const bytesRead = async () =>
  Number(/^rchar: (\d+)/m.exec(await readFile('/proc/self/io', 'utf8'))![1])

test('who waits for the lock judges a long log at first and when it has changed', async () => {
  if (process.platform !== 'linux') return
  const rows = [1, 2].map(() => sql`INSERT INTO t SELECT i, 'x' || i FROM range(50000) r(i)`)
  await using log = await writtenLog(TABLE, rows)
  const path = await log.withLog(log.log)
  const repair = waitingRepair(path)
  const judged = async () => {
    const before = await bytesRead()
    await repair()
    return (await bytesRead()) - before > log.log.length / 2
  }
  assert.equal([await judged(), await judged(), await judged()], [true, false, false])
  await writeFile(`${path}.wal`, zeroed(log.log, log.log.length - 40))
  assert.match((await heard(repair)).text, 'had a torn end')
  assert.equal([await judged(), await judged()], [true, false])
})

/** Opens it as a run does, writes to it, and opens it again. Gives the commits that were there. */
async function openTwice(path: string): Promise<number> {
  const { warehouse } = storeOf(path)
  let commits: number
  {
    await using database = await warehouse.open(openingOf())
    commits = await commitsIn(database)
    await using connection = await database.connect()
    await connection.run(sql`PRAGMA disable_checkpoint_on_shutdown`)
    await connection.run(sql`INSERT INTO t SELECT 99, 'y' FROM range(10)`)
  }
  await using database = await warehouse.open(openingOf())
  assert.is(await commitsIn(database), commits + 1)
  return commits
}

const copiesIn = async (path: string) =>
  (await readdir(dirname(path))).filter((name) => name.includes('.torn'))

const zeroed = (log: Buffer, from: number, to = log.length) => Buffer.from(log).fill(0, from, to)

/** What a power cut may leave of the last commit. */
function* tornLogs({ log, ends }: WrittenLog): Generator<Buffer> {
  const before = ends.at(-2)!
  for (let at = before; at < log.length; at += 23) {
    yield log.subarray(0, at)
    yield zeroed(log, at)
    yield zeroed(log, before, at + 1)
    yield zeroed(log, at, Math.min(log.length, at + 30))
  }
}

test('whatever a power cut leaves of the last commit, the warehouse opens with all those before it', async () => {
  await using made = await written()
  let kept = 0
  for (const log of tornLogs(made)) {
    const path = await made.withLog(log)
    const { result, text } = await heard(() => openTwice(path))
    assert.is(result, COMMITS - 1)
    const copies = await copiesIn(path)
    kept += copies.length
    for (const copy of copies) {
      assert.match(copy, /^written\.duckdb\.wal\.torn-[0-9a-f]{8}$/)
      assert.ok((await readFile(join(dirname(path), copy))).equals(log))
      assert.match(text, `kept in ${join(dirname(path), copy)}\n`)
    }
    assert.is(text.split('\n').length, copies.length + 1)
  }
  assert.ok(kept > 20, `${kept} logs were cut by hand`)
})

test('a reader repairs it too, and not while a run is at work', async () => {
  await using made = await written()
  const path = await made.withLog(zeroed(made.log, made.log.length - 40))
  const { warehouse, lease } = storeOf(path)
  const reading = { memoryLimit: null }
  {
    await using _run = await lease.take({ waitMs: 0, signal: new AbortController().signal })
    for (const open of ['openToRead', 'openBeside'] as const) {
      const error = await warehouse[open](reading).catch((failure: unknown) => failure)
      assert.ok(error instanceof EnvironmentError)
      assert.is(error.code, 'warehouse-locked')
    }
    assert.is((await stat(`${path}.wal`)).size, made.log.length)
  }
  const { result, text } = await heard(async () => {
    await using database = await warehouse.openBeside(reading)
    return await commitsIn(database)
  })
  assert.is(result, COMMITS - 1)
  assert.match(text, /had a torn end/)
  assert.is((await copiesIn(path)).length, 1)
})

test('a fork of a torn warehouse is whole, under the lease that it takes', async () => {
  await using made = await written()
  const path = await made.withLog(zeroed(made.log, made.log.length - 40))
  const fork = join(dirname(path), 'fork.duckdb')
  const { warehouse } = storeOf(path)
  await heard(() => warehouse.fork!(fork, { waitMs: 0, signal: new AbortController().signal }))
  await using database = await storeOf(fork).warehouse.open(openingOf())
  assert.is(await commitsIn(database), COMMITS - 1)
})

test('what was on disk and has changed stays an error that says what is known, and nothing is cut', async () => {
  await using made = await written()
  const { ends, log } = made
  // The size of an entry too: DuckDB would pass over all that follows it.
  for (const at of [ends[1]! + 30, ends[1]! + 5, ends[2]! - 3, ends[0]! + 17]) {
    const path = await made.withLog(log)
    await flipBit(`${path}.wal`, at)
    const { warehouse } = storeOf(path)
    for (const open of [
      () => warehouse.open(openingOf()),
      () => warehouse.openToRead({ memoryLimit: null }),
    ]) {
      const error = await open().then(
        () => null,
        (failure: unknown) => failure,
      )
      assert.ok(error instanceof EnvironmentError, `byte ${at}`)
      assert.is(error.code, 'warehouse-damaged')
      assert.match(error.message, /\.wal is damaged at byte \d+: \d commits from there on/)
      const before = ends.findLast((end) => end <= at)!
      assert.match(error.hint ?? '', `truncate -s ${before} keeps`)
    }
    assert.is((await stat(`${path}.wal`)).size, log.length)
    assert.equal(await copiesIn(path), [])
    // What the hint says helps.
    await truncate(
      `${path}.wal`,
      ends.findLast((end) => end <= at)!,
    )
    await openTwice(path)
  }
})

test('a torn log of a file that is damaged too, or that another program has open, is left as it is', async () => {
  await using made = await written()
  const torn = zeroed(made.log, made.log.length - 40)
  const path = await made.withLog(torn)
  const opening = async () => {
    const error = await storeOf(path)
      .warehouse.open(openingOf())
      .catch((failure: unknown) => failure)
    assert.ok(error instanceof EnvironmentError)
    assert.ok((await readFile(`${path}.wal`)).equals(torn))
    return error
  }
  {
    await writeFile(`${path}.wal`, Buffer.alloc(0))
    await using _other = await holdDatabase(path)
    await writeFile(`${path}.wal`, torn)
    assert.is((await opening()).code, 'warehouse-locked')
  }
  await flipBit(path, 10)
  const error = await opening()
  assert.is(error.code, 'warehouse-damaged')
  assert.not.match(error.message, /WAL/)
  assert.equal(await copiesIn(path), [])
})

test('the log that is written during a checkpoint is cut like the other one', async () => {
  await using made = await written()
  const path = await made.withLog(Buffer.alloc(0))
  await rename(`${path}.wal`, `${path}.wal.checkpoint`)
  await writeFile(`${path}.wal.checkpoint`, zeroed(made.log, made.log.length - 40))
  await mkdir(join(dirname(path), 'buffer'), { recursive: true })
  const { text } = await heard(async () => {
    await using _database = await storeOf(path).warehouse.open(openingOf())
  })
  assert.match(text, /\.wal\.checkpoint\.torn-/)
  assert.is((await stat(`${path}.wal.checkpoint`).catch(() => null))?.size ?? 0, made.ends.at(-2))
})

test('a file that was just being made is made again by a run, and is nothing to a reader; the rest of it is kept', async () => {
  await using directory = await temporaryDirectory()
  const made = join(directory.path, 'made.duckdb')
  await (await Database.open({ path: made }))[Symbol.asyncDispose]()
  const headers = (await readFile(made)).subarray(0, 3 * 4096)
  const unmade = [
    zeroed(headers, 10),
    zeroed(headers, 4096),
    zeroed(headers, 0, 4096),
    zeroed(headers, 4096, 8192),
    headers.subarray(0, 4096),
    headers.subarray(0, 100),
    zeroed(headers, 0),
  ]
  for (const [i, bytes] of unmade.entries())
    for (const reads of [true, false]) {
      const dir = join(directory.path, `${i}-${reads}`)
      const path = join(dir, 'written.duckdb')
      await mkdir(dir)
      await writeFile(path, bytes)
      const { warehouse } = storeOf(path)
      const { text } = await heard(async () => {
        await using database = await (reads
          ? warehouse.openToRead({ memoryLimit: null })
          : warehouse.open(openingOf()))
        await using connection = await database.connect()
        assert.is((await connection.rows(sql`FROM duckdb_tables()`)).length, 0)
      })
      const [kept] = await copiesIn(path)
      // DuckDB opens some of them.
      if (kept === undefined) continue
      assert.match(kept, /^written\.duckdb\.torn-[0-9a-f]{8}$/)
      assert.ok((await readFile(join(dir, kept))).equals(bytes))
      assert.match(text, `kept as ${join(dir, kept)}`)
      assert.is((await stat(path).catch(() => null)) === null, reads)
    }
  assert.ok((await readdir(join(directory.path, '3-false'))).some((name) => name.includes('.torn')))
})

testOnDisk(
  'a file that cannot be made, since the disk is full, is said once and not kept',
  async () => {
    for (const freeBytes of [0, 4096, 8192]) {
      await using disk = await smallDisk(2 ** 20)
      const path = join(disk.dir, 'written.duckdb')
      const { warehouse } = storeOf(path)
      await disk.fill(freeBytes)
      const { text } = await heard(async () => {
        const refused = await warehouse.open(openingOf()).catch((error: unknown) => error)
        assert.instance(refused, EnvironmentError)
        assert.is((refused as EnvironmentError).code, 'disk-full')
      })
      assert.is(text, '')
      assert.equal(await readdir(disk.dir), ['filler'])
      await disk.empty()
      await (await warehouse.open(openingOf()))[Symbol.asyncDispose]()
    }
  },
)

async function checkpointed(path: string): Promise<Buffer> {
  {
    await using database = await Database.open({ path })
    await using connection = await database.connect()
    await connection.run(sql`CREATE TABLE t AS SELECT 1 AS id`)
    await connection.run(sql`CHECKPOINT`)
  }
  return await readFile(path)
}

test('a damaged file with tables in it, with a log, or of another program is never put aside', async () => {
  await using made = await written()
  const whole = await readFile(await made.withLog(made.log))
  await using directory = await temporaryDirectory()
  const filled = await checkpointed(join(directory.path, 'filled.duckdb'))
  for (const [bytes, log] of [
    [zeroed(Buffer.concat([whole, Buffer.alloc(65_536, 1)]), 4096, 12_288), null],
    [zeroed(whole.subarray(0, 12_288), 4096), made.log],
    [Buffer.from('some notes of somebody'), null],
    // Cut short by a disk, after a checkpoint.
    [filled.subarray(0, 5_000), null],
    [filled.subarray(0, 8_192), null],
  ] as const) {
    const path = await made.withLog(log ?? Buffer.alloc(0))
    if (log === null) await rm(`${path}.wal`)
    await writeFile(path, bytes)
    for (const open of [
      () => storeOf(path).warehouse.open(openingOf()),
      () => storeOf(path).warehouse.openToRead({ memoryLimit: null }),
    ]) {
      const error = await open().then(
        () => null,
        (failure: unknown) => failure,
      )
      assert.ok(error instanceof EnvironmentError)
      assert.match(error.code, /^warehouse-(damaged|unusable)$/)
    }
    assert.ok((await readFile(path)).equals(bytes))
    assert.equal(await copiesIn(path), [])
  }
})

test.run()
