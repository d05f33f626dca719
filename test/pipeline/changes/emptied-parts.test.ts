// Periods and groups that a late row has made anew though the SELECT leaves their rows out now: said by plans and runs.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, workspace } from '../../support/workspace.ts'

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)

/** Each row: how many days ago it was, and up to which age the SELECT takes it. */
type Row = readonly [ago: number, age: number]

const seed = (rows: readonly Row[]) =>
  ['id,d,age', ...rows.map(([days, age], i) => `${i},${ago(days)},${age}`), ''].join('\n')

const select = (day: string, where: string) =>
  `SELECT ${day} AS d, count(*)::INTEGER AS n FROM ref.rows WHERE ${where} GROUP BY ALL\n`

const models = (where: string) => ({
  'models/core/days.sql': `-- @kind: period\n-- @period: day of d\n${select('d', where)}`,
  'models/core/months.sql': `-- @kind: period
-- @period: month of d
-- @expose d
${select(`date_trunc('month', d)::DATE`, where)}`,
  'models/core/groups.sql': `-- @kind: merge
-- @unique_key: d
-- @incremental: d
${select('d', where)}`,
})

const NAMES = ['days', 'groups', 'months']

const opened = (where: string, rows: readonly Row[]) =>
  workspace({ 'eider.yml': 'name: k\n', 'seeds/ref/rows.csv': seed(rows), ...models(where) })

async function change(space: Workspace, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await space.write(path, text)
}

const said = (stdout: string) =>
  [...stdout.matchAll(/the SELECT gives no rows of [^"\n]*/g)].map(([text]) => text)

/** What the plan and the run say of it, which is the same. */
async function planned(space: Workspace, ...flags: readonly string[]): Promise<readonly string[]> {
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  const { stdout: run } = await space.ok(['run', '--json', ...flags])
  if (flags.length === 0) assert.equal(said(run).toSorted(), said(plan).toSorted())
  return said(run)
}

const sums = async (space: Workspace) => {
  const each = NAMES.map((name) => `SELECT coalesce(sum(n), 0)::INTEGER AS n FROM core.${name}`)
  const { stdout } = await space.ok(['query', each.join(' UNION ALL '), '--json'])
  return stdout
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n)
}

const BY_CLOCK = 'd >= current_date - age::INTEGER'

test('a late row of a time that the clock leaves out empties its period, and that is said', async () => {
  await using space = await opened(BY_CLOCK, [
    [200, 400],
    [200, 400],
    [3, 400],
  ])
  await space.ok(['run'])
  assert.equal(await sums(space), [3, 3, 3])
  await change(space, {
    'seeds/ref/rows.csv': seed([
      [200, 90],
      [200, 90],
      [3, 400],
      [200, 90],
    ]),
  })
  const found = await planned(space)
  assert.is(found.length, 3)
  for (const text of found) {
    assert.match(text, / any more, of which the table had [12] rows?, though ref\.rows has some: /)
    assert.match(
      text,
      /let its WHERE take them, then: eider run core\.\w+ --start VALUE --end VALUE/,
    )
  }
  const ofMonths = found.find((text) => text.includes('core.months'))!
  assert.match(ofMonths, /of \d{4}-\d\d-01 any more, of which the table had 1 row,.*: it goes; /)
  assert.match(ofMonths, /eider restore core\.months --at RUN; .* -- @keep/)
  assert.equal(await sums(space), [1, 1, 1])
  const results = await space.ok(['query', "FROM read_text('target/run_results.json')", '--json'])
  assert.match(results.stdout, /the SELECT gives no rows of/)
  const { stdout: again } = await space.ok(['run', '--json'])
  assert.equal(said(again), [])
})

test('an edited WHERE that leaves out what late rows have made anew is named, with all periods', async () => {
  await using space = await opened('age < 500', [
    [300, 400],
    [200, 400],
    [3, 1],
  ])
  await space.ok(['run'])
  await change(space, models('age < 100'))
  await space.ok(['run'])
  assert.equal(await sums(space), [3, 3, 3])
  await change(space, {
    'seeds/ref/rows.csv': seed([
      [300, 400],
      [200, 400],
      [3, 1],
      [300, 400],
      [200, 400],
    ]),
  })
  const found = await planned(space)
  assert.is(found.length, 3)
  const from = `from ${ago(300)} to ${ago(200)} any more, of which the table had 2 rows`
  assert.is(found.filter((text) => text.includes(`of 2 periods ${from}`)).length, 1)
  assert.is(found.filter((text) => text.includes(`of 2 values ${from}`)).length, 1)
  assert.equal(await sums(space), [1, 1, 1])
})

test('nothing is said of rows that are gone from the input, or were changed, or are meant to go', async () => {
  const before: Row[] = [
    [200, 400],
    [300, 400],
    [3, 400],
  ]
  {
    await using space = await opened(BY_CLOCK, before)
    await space.ok(['run'])
    // One is deleted, and one is of another day now.
    await change(space, {
      'seeds/ref/rows.csv': seed([
        [250, 400],
        [3, 400],
      ]),
    })
    assert.equal(await planned(space), [])
    assert.equal(await sums(space), [2, 2, 2])
  }
  {
    await using space = await opened('age > 90', before)
    await space.ok(['run'])
    await change(space, {
      'seeds/ref/rows.csv': seed([
        [200, 0],
        [300, 400],
        [3, 400],
      ]),
    })
    assert.equal(await planned(space), [])
    assert.equal(await sums(space), [2, 2, 2])
  }
  await using space = await opened(BY_CLOCK, before)
  await space.ok(['run'])
  await change(space, {
    'seeds/ref/rows.csv': seed([
      [200, 90],
      [300, 400],
      [3, 400],
    ]),
  })
  assert.equal(await planned(space, '--allow-empty'), [])
  assert.equal(await sums(space), [2, 2, 2])
})

test.run()
