// Parts of a lake that are lost or damaged, and what is left works as docs/scale-out.md says: objects of the store here;
// disks in lost-disks.test.ts, the catalog in restored.test.ts.

import { copyFile, readdir, rm, stat, truncate } from 'node:fs/promises'
import { basename } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { flipBit } from '../support/flip-bit.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { objectsOf } from '../support/lake/stored-files.ts'
import { withLake } from '../support/lake/with-lake.ts'
import type { Workspace } from '../support/workspace.ts'

const models = {
  'models/mart/t.sql':
    "-- @expose id\nSELECT i AS id, 'row ' || hash(i) AS text FROM range(9000) t(i)\n",
  'models/mart/longest.sql': 'SELECT max(id) AS n, max(text) AS text FROM mart.t\n',
}

/** What is lost is asked for as long as a store that refuses for a while. */
const HASTY = { s3_retry_seconds: '0' }

const damages = [
  {
    says: /is cut short: mart\/t\//,
    damage: async (object: string) => truncate(object, (await stat(object)).size >> 1),
  },
  {
    // A length in the header of the first page. What else may flip: test/store/lake/damage.test.ts.
    says: /is damaged: /,
    damage: (object: string) => flipBit(object, 6),
  },
  { says: /is gone from the store: mart\/t\//, damage: (object: string) => rm(object) },
]

lakeTest('an object that is gone, cut short or damaged is named by whatever reads it', async () => {
  await using lake = await withLake()
  await using space = await lakeProject(lake, models, lake.env, HASTY)
  await using service = await lakeProject(lake, models, lake.env, HASTY)
  await space.ok(['run'])
  const [object] = await objectsOf(lake, 'mart.t')
  await copyFile(object!, space.path('whole'))
  for (const { says, damage } of damages) {
    await copyFile(space.path('whole'), object!)
    await damage(object!)
    const { stderr } = await service.ok(['pull'], { exitCode: 3 })
    assert.match(stderr, /^error: mart\.t: an object of the lake/)
    assertSays(stderr, says)
    assert.equal(await tablesOf(service), [])
  }
  const text = 'SELECT max(id), max(text) FROM mart.t'
  const query = await service.ok(['query', text, '--json'], { exitCode: 3 })
  assert.match(query.stdout, /^\{"event":"error","code":"lake-damaged"/)
  const run = await space.ok(['run', 'mart.longest', '--full-refresh'], { exitCode: 1 })
  for (const said of [query.stdout, run.stdout]) {
    assertSays(said, damages.at(-1)!.says)
    assert.ok(said.includes(basename(object!, '._S3rver_object')), said)
  }
  await copyFile(space.path('whole'), object!)
  assert.match((await service.ok(['pull'])).stdout, /^pulled snapshot .*: 1 file/)
})

function assertSays(said: string, what: RegExp): void {
  assert.match(said, what)
  assert.match(said, /put it back from the versions of the bucket, or build .*--full-refresh/s)
  assert.not.match(said, /bug in eider|http:/)
}

lakeTest(
  'services keep what they have until a table that lost an object is built again',
  async () => {
    await using lake = await withLake()
    await using space = await lakeProject(lake, models, lake.env, HASTY)
    await using service = await lakeProject(lake, models, lake.env, HASTY)
    await using other = await lakeProject(lake, models, lake.env, HASTY)
    await space.ok(['run'])
    await service.ok(['pull'])
    const before = await tablesOf(service)
    await rm((await objectsOf(lake, 'mart.t'))[0]!)
    await using served = await service.start(['serve', '--port', '0'])
    assert.match((await service.ok(['pull'])).stdout, /is here already/)
    await other.ok(['pull'], { exitCode: 3 })
    assert.equal(await tablesOf(service), before)
    assert.is(await countOf(served.url), 9000)

    await space.ok(['run', 'mart.t', '--full-refresh'])
    // The state before cannot be made any more, which is told once.
    const pulled = (await other.ok(['pull'])).stdout
    assert.match(
      pulled,
      /^pulled snapshot .*: 1 file .*\nsnapshot [0-9a-f]+ is no longer in the lake/,
    )
    await service.ok(['pull'])
    assert.is(await countOf(served.url), 9000)
    await space.ok(['run'])
    assert.match((await space.ok(['query', 'FROM mart.longest'])).stdout, /8999/)
  },
)

lakeTest('a table with a damaged object does not keep the others from their upkeep', async () => {
  await using lake = await withLake()
  const grows = '-- @kind: append\n-- @incremental: id\nSELECT id FROM src.n\n'
  await using space = await lakeProject(lake, {
    'models/mart/a.sql': grows,
    'models/mart/b.sql': grows,
    'models/src/n.sql': "-- @kind: view\nSELECT id FROM read_csv('n.csv')\n",
  })
  for (const rows of [10, 20]) {
    await space.write('n.csv', ['id', ...Array.from({ length: rows }, (_, i) => i), ''].join('\n'))
    await space.ok(['run'])
  }
  await rm((await objectsOf(lake, 'mart.a'))[1]!)
  const { stderr } = await space.ok(['maintain'], { exitCode: 3 })
  assert.match(stderr, /^error: an object of the lake is gone from the store: mart\/a\//)
  assert.is((await objectsOf(lake, 'mart.a')).length, 2)
  assert.is((await objectsOf(lake, 'mart.b')).length, 1)
})

const tablesOf = async (space: Workspace) =>
  (await readdir(space.path('.eider/snapshots')).catch(() => [])).filter((name) =>
    name.startsWith('m-'),
  )

const countOf = async (url: string) => Number(await (await fetch(`${url}/mart_t/$count`)).text())

test.run()
