// Brackets, stars and question marks are patterns to the engine's readers, and may all the same stand in names of
// directories and files. (The engine takes a ? in the path of a database for the start of options, so the project's own
// directory can have none.)

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

test('sources in directories whose names look like patterns', async () => {
  const dir = 'odd [a-z] * dir'
  const files = {
    'eider.yml': `name: odd
sources:
  s:
    tables:
      one: {file: 'part [1]/x?.csv'}
      many: {file: 'parts/*.csv'}
      some: {file: 'parts/[ab].csv'}
`,
    'part [1]/x?.csv': 'n\n1\n',
    'part [1]/xy.csv': 'n\n100\n',
    'parts/a.csv': 'n\n10\n',
    'parts/b.csv': 'n\n20\n',
    'parts/c.csv': 'n\n30\n',
    'models/mart/all.sql': `SELECT (SELECT sum(n)::INT FROM s.one) AS one, (SELECT sum(n)::INT FROM s.many) AS many,
  (SELECT sum(n)::INT FROM s.some) AS some, (SELECT sum(n)::INT FROM read_csv('parts/*.csv')) AS own\n`,
  }
  await using space = await workspace(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`${dir}/${path}`, text])),
  )
  const cwd = space.path(dir)
  const rows = async () =>
    JSON.parse((await space.ok(['query', 'FROM mart.all', '--json'], { cwd })).stdout) as unknown
  await space.ok(['run', '--quiet'], { cwd })
  assert.equal(await rows(), { one: 1, many: 60, some: 30, own: 60 })
  assert.match((await space.ok(['run'], { cwd })).stdout, ' 1 unchanged in ')
  await space.write(`${dir}/part [1]/x?.csv`, 'n\n2\n')
  assert.match((await space.ok(['run'], { cwd })).stdout, ' 1 built, published ')
  await space.write(`${dir}/parts/b.csv`, 'n\n21\n')
  await space.ok(['run', '--quiet'], { cwd })
  assert.equal(await rows(), { one: 2, many: 61, some: 31, own: 61 })
  await space.write(`${dir}/parts/b.csv`, 'm\n21\n')
  const { stderr } = await space.ok(['run'], { cwd, exitCode: 1 })
  assert.not.match(stderr, /\[\[\]|\[\*\]/)
})

test('a project below a question mark is told what is wrong with it', async () => {
  await using space = await workspace({
    'what?/eider.yml': 'name: odd\n',
    'what?/models/m/a.sql': 'SELECT 1 AS one\n',
  })
  const { stderr } = await space.ok(['run'], { cwd: space.path('what?'), exitCode: 3 })
  assert.match(stderr, /^error: no database can be written where the path has a question mark: /)
})

test.run()
