// The answer to the COMMIT of a publication is lost: the run cannot know whether services have it. The next one looks.

// Its commands are processes: an engine with a lost connection is left to the end of its process.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const model = (n: number) => `-- @expose id\nSELECT 1 AS id, ${n} AS n\n`

lakeTest(
  'a publication whose COMMIT has no answer is there once, and the next run goes on from it',
  async () => {
    await using lake = await withLake()
    await using runner = await lakeProject(lake, { 'models/mart/one.sql': model(1) })
    await using service = await lakeProject(lake, { 'models/mart/one.sql': model(1) })
    const given = { timeoutMs: 180_000 }
    await runner.ok(['run'], given)
    const [[table] = []] = await lake.postgres(
      "SELECT table_id FROM shop.ducklake_table WHERE table_name = 'published'",
    )
    const lost = lake.catalog.loseNextCommit(new RegExp(`inserted_into_table:${table}\\b`))
    await runner.write('models/mart/one.sql', model(2))
    const { exitCode, stderr } = await runner.eider(['run'], given)
    await lost
    assert.is(exitCode, 3, stderr)
    assert.match(stderr, /PostgreSQL does not answer/)
    // It was carried out, so services have it before anybody runs again.
    assert.match((await service.ok(['pull'], given)).stdout, /^pulled snapshot/)
    const again = await runner.ok(['run', '--json'], given)
    assert.not.match(again.stdout, /"event":"published"/)
    assert.match((await service.ok(['pull'], given)).stdout, /is here already/)
    const text =
      'SELECT count(*)::INT AS n, max(seq)::INT AS last, (SELECT seq::INT FROM _eider.head) AS head FROM _eider.published'
    const { stdout } = await runner.ok(['query', text, '--json'], given)
    assert.equal(JSON.parse(stdout), { n: 2, last: 2, head: 2 })
    assert.equal(lake.store.deletions, [])
  },
)

test.run()
