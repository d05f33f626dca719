// `eider erase` on a lake that is killed at moments of a seeded choice, again and again until one is left to its end: then no
// object, no table of the catalog and no file of this machine holds the value.
//
// EIDER_ERASE_KILLS=60 kills so often; EIDER_KILLS_SEED chooses other moments.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { findText } from '../support/find-text.ts'
import { findInLake } from '../support/lake/find-in-lake.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { seededRandom } from '../support/seeded-random.ts'

const KILLS = Number(process.env['EIDER_ERASE_KILLS'] ?? 4)
const SEED = Number(process.env['EIDER_KILLS_SEED'] ?? 20_260_101)
/** Erases that one person's rows survive at most, before one is left to its end. */
const KILLS_EACH = 5
const child = fileURLToPath(new URL('../support/erase-child.js', import.meta.url))

/** Nobody's name has bounds in the catalog: `Aa` and `zz` stay, so that its smallest and largest are theirs. */
const people = (more = '') => `SELECT 1 AS id, 8 AS customer, 'Aa' AS name
UNION ALL SELECT 2, 8, 'zz'
UNION ALL SELECT 100 + range, 8, 'other ' || range FROM range(2000)
${more}
`

const files = {
  'models/raw/people.sql': people(),
  'models/core/kept.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\n-- @deletes: keep\nSELECT id, customer, name FROM raw.people\n',
  'models/core/history.sql':
    '-- @kind: scd2\n-- @unique_key: id\n-- @expose id, valid_from\nSELECT id, customer AS who, name FROM core.kept\n',
  'models/mart/names.sql': '-- @expose name\nSELECT DISTINCT name FROM core.kept\n',
}

lakeTest('killed at random, the same command ends it', async () => {
  await using lake = await withLake()
  await using project = await lakeProject(lake, files)
  const random = seededRandom(SEED)
  let [kills, whole, wholeMs] = [0, 0, 1500]
  for (let round = 0; kills < KILLS; round++) {
    const secret = `Mathilde-${round}-x`
    const row = `UNION ALL SELECT ${10_000 + round}, 7, '${secret}'`
    await project.write('models/raw/people.sql', people(row))
    await project.ok(['run'])
    await project.ok(['pull'])
    await project.write('models/raw/people.sql', people())
    await project.ok(['run'])
    await project.ok(['pull'])
    assert.ok((await findInLake(lake, secret)).length > 1)
    for (let i = 0; i < KILLS_EACH; i++) {
      const lived = await eraseFor(random() * wholeMs, [project.dir, 'core.kept'], lake.env)
      if (lived === 'killed') kills++
      else whole++
      if (lived !== 'killed') break
    }
    const before = performance.now()
    await project.ok(['erase', 'core.kept', 'customer = 7'])
    // It starts, too: moments past the end of the work are given to few of the kills.
    wholeMs = performance.now() - before
    const where = `seed ${SEED}, round ${round}`
    assert.equal(await findInLake(lake, secret), [], where)
    assert.equal(await findText(project.dir, secret), [], where)
  }
  const { stdout } = await project.ok(['query', 'SELECT count(*) AS n FROM mart.names', '--json'])
  assert.is(stdout, '{"n":2002}\n')
  process.stdout.write(`${kills} kills, ${whole} erases ended before their kill\n`)
})

/** Kills the erase so many milliseconds after it has begun. */
async function eraseFor(
  ms: number,
  args: readonly string[],
  given: Readonly<Record<string, string>>,
): Promise<'killed' | 'ended'> {
  const env = { ...process.env, ...given }
  const erasing = spawn(process.execPath, [child, ...args, 'customer = 7'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(erasing, 'close') as Promise<[number | null, string | null]>
  await Promise.race([once(erasing.stdout, 'data'), closed])
  await Promise.race([pause(ms), closed])
  erasing.kill('SIGKILL')
  const [code, signal] = await closed
  if (signal === 'SIGKILL') return 'killed'
  assert.is(code, 0, 'an erase failed')
  return 'ended'
}

test.run()
