import { existsSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

test('a run for a target leaves the state of the others alone', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\ntargets:\n  dev:\n  prod:\n    database: prod.duckdb\n',
    'models/a/b.sql': 'select 1 as x\n',
  })
  await space.ok(['run', '--target', 'prod'])
  assert.ok(existsSync(space.path('prod.duckdb')))
  assert.not.ok(existsSync(space.path('.eider', 'warehouse.duckdb')))
  const built = async (env: Readonly<Record<string, string>>) =>
    (await space.ok(['plan'], { env })).stdout
  assert.match(await built({ EIDER_TARGET: 'prod' }), /0 to build/)
  assert.match(await built({ EIDER_TARGET: 'dev' }), /1 to build/)
  const wrong = await space.ok(['run', '--target', 'prd'], { exitCode: 2 })
  assert.match(wrong.stderr, /no target "prd"[^]*did you mean "prod"/)
})

test('mistakes in targets have their place', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\ntargets:\n  dev:\n    databse: x\n  "a b":\n  prod: 7\n',
  })
  const { stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stderr, /eider\.yml:4:5 error config-unknown-key[^]*did you mean "database"/)
  assert.match(stderr, /eider\.yml:5:3 error config-invalid-value/)
  assert.match(stderr, /eider\.yml:6:9 error config-invalid-value/)
})

test.run()
