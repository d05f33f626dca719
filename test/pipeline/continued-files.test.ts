// When a published file continues the one before (src/store/files/continued.ts), and when it is written whole.
// Alone in its process: it lowers a limit of the program.

import { readdir } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { PublishedRelation } from '../../src/core/snapshot.ts'
import { sql } from '../../src/core/sql.ts'
import { Database } from '../../src/duckdb/database.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { apartEarly } from '../support/apart-early.ts'
import {
  changeSource,
  FILES,
  FIRST,
  manifestOf,
  randomChange,
  requireRows,
  ROWS,
} from '../support/apart-project.ts'
import { flipBit } from '../support/flip-bit.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const only = (model: string) =>
  Object.fromEntries(
    Object.entries(FILES).filter(([path]) => !path.startsWith('models/') || path.includes(model)),
  )
const MERGED = only('merged')

/** What is published of the one model. */
async function mergedIn(project: Workspace): Promise<PublishedRelation> {
  const { relations } = await manifestOf(project.path('.eider/snapshots'))
  return relations[0]!
}

const countsOf = ({ apart }: PublishedRelation) =>
  apart === undefined ? undefined : { rows: apart.rows, changes: apart.changes }

async function changeAndRun(project: Workspace, change: string): Promise<PublishedRelation> {
  await changeSource(project, change)
  await project.ok(['run'], { env: apartEarly })
  await requireRows(project, await manifestOf(project.path('.eider/snapshots')))
  return await mergedIn(project)
}

test('new rows behind the others leave one table, and many changes are written whole', async () => {
  await using project = await workspace(MERGED)
  assert.is((await changeAndRun(project, FIRST)).apart, undefined)
  const behind = `INSERT INTO source SELECT id + ${2 * ROWS}, n, grp, code, name, price, flag, moment FROM source WHERE n < 30`
  assert.equal(countsOf(await changeAndRun(project, behind)), { rows: 0, changes: 30 })
  const update = (n: number) => `UPDATE source SET name = 'w${n}' WHERE id < ${2 * n}`
  assert.equal(countsOf(await changeAndRun(project, update(10))), { rows: 10, changes: 40 })
  assert.equal(countsOf(await changeAndRun(project, update(500))), { rows: 500, changes: 540 })
  assert.is((await changeAndRun(project, update(ROWS / 10))).apart, undefined)
})

test('a file has the keys of all rows that have changed since those that it continues', async () => {
  await using project = await workspace(only('mirrored'))
  const states = [await changeAndRun(project, FIRST)]
  const changes = [
    `UPDATE source SET name = 'k' WHERE n IN (1, 2)`,
    `DELETE FROM source WHERE n = 2; UPDATE source SET id = 7 WHERE n = 5`,
    `INSERT INTO source SELECT id + 1, n, grp, code, name, price, flag, moment FROM source WHERE n = 9`,
  ]
  for (const change of changes) states.push(await changeAndRun(project, change))
  const [first, second, third, last] = states as [PublishedRelation, ...PublishedRelation[]]
  assert.equal(last!.apart!.since, [first.file, second!.file, third!.file])
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const path = sql.value(project.path('.eider/snapshots', last!.file))
  await connection.run(sql`ATTACH ${path} AS last (READ_ONLY)`)
  const keysSince = async (before: PublishedRelation) => {
    const keys = fileRows.keysBetween(last!, before, 'last')!
    const rows = await connection.rows(sql`SELECT id::INTEGER AS id FROM (${keys}) ORDER BY id`)
    return rows.map(({ id }) => id)
  }
  assert.equal(await keysSince(first), [2, 4, 7, 10, 19])
  assert.equal(await keysSince(second!), [4, 7, 10, 19])
  assert.equal(await keysSince(third!), [19])
  assert.is(fileRows.keysBetween(first, last!, 'first'), null)
})

test('a file that is damaged is not continued, and what nobody has said is written whole', async () => {
  await using project = await workspace(MERGED)
  const { file, bytes } = await changeAndRun(project, FIRST)
  const path = project.path('.eider/snapshots', file)
  for (let at = 20_000; at < bytes; at += 100_000) await flipBit(path, at)
  const update = (n: number) => `UPDATE source SET name = 'd${n}' WHERE n = ${n}`
  assert.is((await changeAndRun(project, update(1))).apart, undefined)
  assert.equal(countsOf(await changeAndRun(project, update(2))), { rows: 1, changes: 1 })
  await project.write(
    'eider.yml',
    FILES['eider.yml']!.replace('apart_percent: 5', 'apart_percent: 0'),
  )
  assert.is((await changeAndRun(project, update(3))).apart, undefined)
  await project.write('eider.yml', FILES['eider.yml']!)
  assert.equal(countsOf(await changeAndRun(project, update(4))), { rows: 1, changes: 1 })
  await project.ok(['erase', 'mart.merged', 'id = 300'])
  const erased = await mergedIn(project)
  assert.equal([erased.apart, erased.rows], [undefined, ROWS - 1])
})

test('runs that are killed leave a state whose rows are those of the tables after the next run', async () => {
  const random = seededRandom(3)
  await using project = await workspace(MERGED)
  await changeAndRun(project, FIRST)
  for (let round = 0; round < 8; round++) {
    await changeSource(project, randomChange(random))
    await project.eider(['run'], { timeoutMs: 300 + 1500 * random(), env: apartEarly })
    await changeAndRun(project, randomChange(random))
    const names = await readdir(project.path('.eider/snapshots'))
    assert.equal(
      names.filter((name) => /\.tmp/.test(name)),
      [],
    )
  }
})

test.run()
