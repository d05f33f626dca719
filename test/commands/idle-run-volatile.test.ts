// A run after one that found nothing to do does not start the engine where models select by the date, until the next day
// begins, and where only views ask for the time. What others keep of the time is built in each run.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Edit,
  isIdle,
  note,
  overwrite,
  type Result,
  runAfterEach,
  settle,
  SHOP,
  waiting,
} from '../support/idle-project.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FILES = {
  ...SHOP,
  'macros/since.sql': 'CREATE MACRO since(day) AS current_date - day\n',
  'models/core/today.sql':
    '-- @kind: view\n\nSELECT country, current_date AS day FROM core.rates\n',
  'models/mart/daily.sql':
    '-- @kind: table\n-- @expose country\n\nSELECT country, day FROM core.today\n',
  'models/mart/age.sql': "-- @kind: table\n\nSELECT since(DATE '2026-01-01') AS days\n",
  'models/mart/clock.sql':
    '-- @kind: view\n\nSELECT country, now() AS at, random() AS r FROM core.rates\n',
}

const edits: readonly Edit[] = [
  {
    what: 'a data file that a view by the date reads',
    make: (space) => overwrite(space, 'data/rates.csv', 'NO,1', 'NO,3'),
    isWork: true,
  },
  {
    what: 'a macro that calls for the date',
    make: (space) =>
      overwrite(space, 'macros/since.sql', 'current_date - day', 'day - current_date'),
    isWork: true,
  },
]

test('a run of models by the date sees each edit after one that found nothing to do', () =>
  runAfterEach(edits, 3, FILES))

/** For a process whose clock is ahead of that of the machine. */
const AHEAD = `const Real = Date
const ahead = Number(process.env.TEST_DAYS_AHEAD) * 86_400_000
globalThis.Date = class extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + ahead)
    else super(...given)
  }
  static now() {
    return Real.now() + ahead
  }
}
`

async function runOnDay(space: Workspace, days: number): Promise<readonly Result[]> {
  await space.write('ahead.cjs', AHEAD)
  const { stdout } = await space.ok(['run', '--json'], {
    env: { NODE_OPTIONS: `--require ${space.path('ahead.cjs')}`, TEST_DAYS_AHEAD: String(days) },
    ownProcess: true,
  })
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  return events.filter(({ event }) => event === 'model-finished')
}

test('the next day, models by the date are built again, and those before them are not', async () => {
  await using space = await workspace(FILES)
  await space.ok(['run'])
  await settle(space)
  assert.ok(isIdle(await runOnDay(space, 0)))
  assert.is(waiting(space), 1)
  const isDue = async (day: number) => {
    const built = (await runOnDay(space, day)).filter(({ status }) => status !== 'unchanged')
    assert.equal(Object.fromEntries(built.map(({ model, because }) => [model, because])), {
      'core.today': 'another day',
      'mart.daily': 'upstream core.today changed',
      'mart.age': 'another day',
    })
  }
  for (const day of [1, 2]) {
    await isDue(day)
    assert.ok(isIdle(await runOnDay(space, day)))
    assert.ok(isIdle(await runOnDay(space, day)))
    assert.is.not(waiting(space), 0, `the engine was started each time on day ${day}`)
  }
  await isDue(0) // the clock was set back
})

const KEPT: Readonly<Record<string, string>> = {
  'a table of the time': '-- @kind: table\n\nSELECT now() AS at\n',
  'an exposed view of the time': '-- @kind: view\n-- @expose\n\nSELECT now() AS at\n',
  'rows that each run appends for the date':
    '-- @kind: append\n-- @incremental: day\n\nSELECT current_date AS day\n',
  'a table of the engine': '-- @kind: table\n\nSELECT count(*) AS n FROM duckdb_settings()\n',
}

for (const [what, text] of Object.entries(KEPT))
  test(`each run builds ${what}`, async () => {
    await using space = await workspace({ ...FILES, 'models/mart/kept.sql': text })
    for (let round = 0; round < 3; round++) {
      const { stdout } = await space.ok(['run', '--json'])
      assert.match(stdout, /"model":"mart\.kept","status":"built"/)
    }
    assert.is(waiting(space), 0)
    await rm(space.path('models/mart/kept.sql'))
    await space.ok(['run'])
    await rm(note(space), { force: true })
    await settle(space)
  })

test.run()
