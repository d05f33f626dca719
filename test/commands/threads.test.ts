// Several models at a time, and several runs: kinds that keep their rows, with checks on what others have just built.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../support/workspace.ts'

const kinds = {
  merge: '-- @kind: merge\n-- @unique_key: id\n',
  scd2: '-- @kind: scd2\n-- @unique_key: id\n',
  append: '-- @kind: append\n-- @incremental: id\n-- @unique_key: id\n',
  table: '-- @kind: table\n',
} as const
const CHILDREN = 16

const source = (rows: number) =>
  `SELECT i AS id, i % 10 AS parent, i % 7 AS amount FROM range(${rows}) t(i)\n`

const kindOf = (i: number) => Object.values(kinds)[i % 4]!

function project(rows: number): Readonly<Record<string, string>> {
  const children = Array.from({ length: CHILDREN }, (_, i): [string, string] => [
    `models/core/c${i}.sql`,
    `${kindOf(i)}-- @check: references(parent, core.parents.id)
-- @check: not_null(id)
SELECT id, parent, amount FROM raw.items\n`,
  ])
  return {
    'eider.yml': 'name: threads\n',
    'models/raw/items.sql': source(rows),
    'models/core/parents.sql': `${kinds.merge}SELECT DISTINCT parent AS id FROM raw.items\n`,
    ...Object.fromEntries(children),
  }
}

async function counts(space: Workspace): Promise<unknown> {
  const each = Array.from({ length: CHILDREN }, (_, i) => `SELECT count(*) AS n FROM core.c${i}`)
  const query = `SELECT DISTINCT n FROM (${each.join(' UNION ALL ')})`
  return JSON.parse((await space.ok(['query', query, '--json'])).stdout)
}

test('references and kinds that keep rows, four models at a time', async () => {
  await using space = await workspace(project(100))
  const run = async (exitCode = 0) =>
    (await space.ok(['run', '--threads', '4', '--quiet'], { exitCode })).stdout
  assert.match(await run(), `Z ${CHILDREN + 2} built, published`)
  assert.match(await run(), `Z ${CHILDREN + 2} unchanged in `)
  await space.write('models/raw/items.sql', source(200))
  assert.match(await run(), ' built, ')
  assert.equal(await counts(space), { n: '200' })
  await space.write(
    'models/core/c0.sql',
    `${kindOf(0)}-- @check: references(parent, core.parents.id)
SELECT id, parent + 5 AS parent, amount FROM raw.items\n`,
  )
  assert.match(await run(1), 'does not hold for 100 rows')
  assert.equal(await counts(space), { n: '200' })
})

test('two runs started at once: both end well, and everything is built once', async () => {
  await using space = await workspace(project(50))
  const both = await Promise.all([
    space.ok(['run', '--quiet', '--wait', '50']),
    space.ok(['run', '--quiet', '--wait', '50']),
  ])
  const built = both.map(({ stdout }) => (/(\d+ (?:built|unchanged))/.exec(stdout) ?? [])[1])
  const all = CHILDREN + 2
  assert.equal(built.map(String).toSorted(), [`${all} built`, `${all} unchanged`])
  assert.equal(await counts(space), { n: '50' })
})

test.run()
