import { readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { mistakes, schemaOf } from '../support/json-schema.ts'
import { workspace } from '../support/workspace.ts'

test('artifacts of good and failed runs are as their schemas say', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/raw/e.sql': '-- @kind: events\nid bigint\n',
    'models/a/good.sql': '-- @tags: x\n-- @expose id\nselect 1 as id\n',
    'models/a/bad.sql': "select error('no') as id\n",
    'models/a/view.sql': '-- @kind: view\nselect id from a.bad\n',
    'seeds/ref/s.csv': 'a,b\n1,2\n',
  })
  const check = () => {
    for (const name of ['manifest', 'run_results']) {
      const artifact: unknown = JSON.parse(
        readFileSync(space.path('target', `${name}.json`), 'utf8'),
      )
      assert.equal(mistakes(schemaOf(name), artifact), [], name)
    }
  }
  await space.ok(['run'], { exitCode: 1 })
  check()
  await space.write('models/a/bad.sql', 'select 2 as id\n')
  await space.ok(['run'])
  check()
  assert.ok(mistakes(schemaOf('run_results'), { schema_version: 2 }).length > 3)
})

test.run()
