// `eider query --at` on a lake: states are read where they are published, by a machine that has pulled nothing.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'

const orders = (...values: readonly string[]) =>
  `-- @expose id\nSELECT id, v, v::JSON AS apart FROM (VALUES ${values.join(', ')}) t(id, v)\n`

const files = {
  'models/core/orders.sql': orders(`(1, '"first"')`),
  'models/core/people.sql':
    '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, v FROM core.orders\n',
  'models/mart/ids.sql': '-- @kind: view\n-- @expose id\nSELECT id FROM core.orders\n',
}

lakeTest(
  'states are read as they stood, also by another machine, and go with an erasure',
  async () => {
    await using lake = await withLake()
    await using project = await lakeProject(lake, files)
    const early = await project.ok(['query', '--at', '2026-01-01', 'SELECT 1'], { exitCode: 3 })
    assert.match(early.stderr, 'nothing is published yet')
    await project.ok(['run'])
    await project.write('models/core/orders.sql', orders(`(2, '"second"')`, `(3, '"third"')`))
    await project.ok(['run'])
    const [second, first] = [
      ...(await project.ok(['history', '--json'])).stdout.matchAll(/"run_id":"([^"]+)"/g),
    ].map(([, id]) => id!)
    await using other = await lakeProject(lake, files)
    const at = async (when: string, sql: string) =>
      (await other.ok(['query', '--at', when, sql, '--json'])).stdout
    const sql = `SELECT string_agg(v, ',' ORDER BY id) AS v, string_agg(apart->>'$', ',' ORDER BY id) AS apart,
    (SELECT count(*)::INTEGER FROM core.people) AS people, (SELECT max(id) FROM mart.ids) AS last FROM core.orders`
    assert.is(await at(first!, sql), `{"v":"\\"first\\"","apart":"first","people":1,"last":1}\n`)
    assert.is(
      await at(second!, sql),
      `{"v":"\\"second\\",\\"third\\"","apart":"second,third","people":3,"last":3}\n`,
    )
    await other.ok(['erase', 'core.people', 'id = 1'])
    const gone = await other.ok(['query', '--at', first!, sql], { exitCode: 3 })
    assert.match(gone.stderr, /the state after run .* is no longer kept/)
    const today = new Date().toISOString().slice(0, 10)
    assert.is(await at(today, 'SELECT count(*)::INTEGER AS n FROM core.people'), '{"n":2}\n')
  },
)

lakeTest(
  'a table gets back the rows of a state, by any machine, and the next run goes on',
  async () => {
    await using lake = await withLake()
    await using project = await lakeProject(lake, {
      ...files,
      'models/core/orders.sql': `SELECT 1 AS id, 'first' AS v\n`,
      'models/mart/copied.sql':
        '-- @kind: merge\n-- @unique_key: id\n-- @expose id\nSELECT id, v FROM core.people\n',
      'models/mart/ids.sql': '-- @expose id\nSELECT id FROM core.people\n',
    })
    const rows = async (sql: string) => (await project.ok(['query', sql, '--json'])).stdout
    const people = 'SELECT id, v FROM core.people ORDER BY id'
    await project.ok(['run'])
    const history = (await project.ok(['history', '--json'])).stdout
    const first = /"run_id":"([^"]+)"/.exec(history)![1]!
    await project.write(
      'models/core/orders.sql',
      `FROM (VALUES (1, 'wrong'), (2, 'second')) t(id, v)\n`,
    )
    await project.ok(['run'])
    assert.is(await rows(people), '{"id":1,"v":"wrong"}\n{"id":2,"v":"second"}\n')
    const { stdout } = await project.ok(['restore', 'core.people', '--at', first, '--yes'])
    assert.match(stdout, /restored {2}core\.people {2}1 row in, 2 out, 1 afterwards/)
    assert.is(await rows(people), '{"id":1,"v":"first"}\n')
    const today = new Date().toISOString().slice(0, 10)
    const published = await project.ok(['query', '--at', today, people, '--json'])
    assert.is(published.stdout, '{"id":1,"v":"first"}\n')
    await project.write('models/core/orders.sql', `SELECT 2 AS id, 'right' AS v\n`)
    await project.ok(['run'])
    const right = '{"id":1,"v":"first"}\n{"id":2,"v":"right"}\n'
    assert.is(await rows(people), right)
    assert.is(await rows('SELECT id, v FROM mart.copied ORDER BY id'), right)
    assert.match(
      (await project.ok(['history', 'core.people'])).stdout,
      /built +restore +1 +0 +2 +1/,
    )
  },
)

test.run()
