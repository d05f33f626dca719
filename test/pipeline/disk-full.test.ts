// A real full disk: a tmpfs of a few MiB, with more or less room left. Needs the right to mount; skipped without.

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { EnvironmentError } from '../../src/core/failures.ts'
import { parseManifest } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { toDatabaseError } from '../../src/duckdb/errors.ts'
import { toEnvironmentError } from '../../src/pipeline/failure.ts'
import type { RunSummary } from '../../src/core/report/progress.ts'
import { openStore } from '../../src/store/open.ts'
import { smallDisk, testOnDisk } from '../support/small-disk.ts'
import { FakeClaims } from '../support/fake-claims.ts'
import { events, query } from '../support/handmade-models.ts'
import { openProject } from '../support/pipeline-project.ts'

const EVENTS = 20_000

const models = (version: number) => [
  events('raw.e', { id: 'INTEGER', note: 'VARCHAR' }),
  query('mart.small', `select ${version} as id`, { expose: ['id'] }),
  query('mart.big', `select id, note, ${version} as version from raw.e`, {
    expose: ['id'],
    reads: ['raw.e'],
  }),
]

testOnDisk(
  'whatever room is left: nothing is half written, and the next run completes',
  async () => {
    for (const freeBytes of [0, 4_096, 65_536, 300_000, 2_000_000, 5_000_000]) {
      await using space = await openProject()
      await using disk = await smallDisk(24 * 2 ** 20)
      const claims = new FakeClaims(space.path('buffer'))
      const paths = {
        ...space.paths,
        database: join(disk.dir, 'warehouse.duckdb'),
        snapshots: join(disk.dir, 'snapshots'),
      }
      const run = (version: number) =>
        space.run(models(version), {
          paths,
          store: openStore(paths),
          openClaims: () => Promise.resolve(claims),
        })
      assert.is((await run(1)).ok, true)
      const note = 'x'.repeat(100)
      await claims.add(
        'raw.e',
        Array.from({ length: EVENTS }, (_, id) => ({ id, note: `${id}${note}` })),
      )

      await disk.fill(freeBytes)
      assertExplained(await run(2).catch((error: unknown) => error))
      await publishedRows(paths.snapshots)

      await rm(join(disk.dir, 'filler'))
      const rerun = await run(2)
      assert.is(rerun.ok, true, `${freeBytes} bytes were free: ${JSON.stringify(rerun.models)}`)
      assert.equal(await publishedRows(paths.snapshots), { 'mart.small': 1, 'mart.big': EVENTS })
    }
  },
)

test('a failure of the disk is told from a bug', () => {
  const errno = Object.assign(new Error('no space'), { code: 'ENOSPC', syscall: 'write' })
  assert.is((toEnvironmentError(errno) as EnvironmentError).code, 'disk-full')
  const io = toDatabaseError(new Error('IO Error: Could not write: No space left on device'))
  assert.is((toEnvironmentError(io) as EnvironmentError).code, 'disk-full')
  const checkpoint = 'Failed to create checkpoint because of error: Could not fsync file "w": '
  const later = toDatabaseError(
    new Error(
      JSON.stringify({
        exception_type: 'FATAL',
        exception_message:
          'Failed: database has been invalidated because of a previous fatal error. The database must be restarted ' +
          `prior to being used again.\nOriginal error: "${checkpoint}Disk quota exceeded"`,
      }),
    ),
  )
  const { code, message } = toEnvironmentError(later) as EnvironmentError
  assert.equal([code, message], ['disk-full', `the disk is full: ${checkpoint}Disk quota exceeded`])
  const bug = toDatabaseError(new Error('Binder Error: no such column'))
  assert.is(toEnvironmentError(bug), bug)
})

function assertExplained(outcome: unknown): void {
  if (outcome instanceof EnvironmentError) return assert.is(outcome.code, 'disk-full')
  if (outcome instanceof Error) throw outcome
  const { models } = outcome as RunSummary
  for (const { status, because } of models)
    if (status === 'failed') assert.match(because, /^models\/.*: the disk is full: /)
}

/** Rows that can be read from each published file. */
async function publishedRows(snapshots: string): Promise<Readonly<Record<string, number>>> {
  const { relations } = parseManifest(await readFile(join(snapshots, 'manifest.json'), 'utf8'))
  const counts: Record<string, number> = {}
  for (const { model, file, rows } of relations) {
    await using database = await Database.open({ path: join(snapshots, file), readOnly: true })
    await using connection = await database.connect()
    const row = await connection.row(sql`SELECT count(*)::INTEGER AS n FROM main.rows`)
    assert.is(row?.['n'], rows)
    counts[model] = rows
  }
  return counts
}

test.run()
