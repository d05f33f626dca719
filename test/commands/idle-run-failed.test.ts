// A run after one in which models failed for their rows, and nothing else was left, says the same again without the engine,
// until something changes that it depends on. A failure that may be gone the next time is tried again.

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { historyOf, note, overwrite, type Result, SHOP, waiting } from '../support/idle-project.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const FILES: Readonly<Record<string, string>> = {
  ...SHOP,
  'seeds/ref/codes.csv': 'code\n7\nx1\n',
  'data/names.csv': 'id,name\n1,one\n1,two\n',
  'models/mart/ids.sql':
    "-- @kind: table\n-- @check: unique(id)\n\nSELECT id, name FROM read_csv('data/names.csv')\n",
  'models/mart/after.sql': '-- @kind: table\n\nSELECT id FROM mart.ids\n',
  'models/mart/numbers.sql':
    '-- @kind: table\n\nSELECT CAST(code AS INTEGER) AS number FROM ref.codes\n',
}

const FAILED = { 'mart.ids': 'failed', 'mart.after': 'skipped', 'mart.numbers': 'failed' }

async function run(space: Workspace, args: readonly string[] = []) {
  const { stdout, stderr, exitCode } = await space.eider(['run', '--json', ...args])
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Result)
  const finished = events.filter(({ event }) => event === 'model-finished')
  const left = finished.filter(({ status }) => status !== 'unchanged')
  const status = Object.fromEntries(left.map(({ model, status: is }) => [model, is]))
  return { status, stdout, stderr, exitCode }
}

async function settle(space: Workspace): Promise<void> {
  await sleep(limits.racyMs + 100)
  await rm(note(space), { force: true })
  await run(space)
}

async function failing(files = FILES): Promise<Workspace> {
  const space = await workspace(files)
  assert.is((await run(space)).exitCode, 1)
  await settle(space)
  return space
}

/** Sorted, as models are finished in any order. */
const plain = (text: string) =>
  text
    .replaceAll(/\d{8}T\d{6}Z-\w+/g, 'ID')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/"ms": ?\d+|\d[\d.]* m?s/g, 'MS')
    .split('\n')
    .toSorted()

const NO_COMPILE: Readonly<Record<string, string>> = {
  ...SHOP,
  'models/mart/none.sql': 'SELECT nothing FROM mart.named\n',
  'models/mart/later.sql': 'SELECT * FROM mart.none\n',
  'models/mart/other.sql': 'SELECT FROM WHERE\n',
}

const FAILING = {
  rows: [FILES, FAILED],
  'models that do not compile': [
    NO_COMPILE,
    { 'mart.later': 'skipped', 'mart.none': 'failed', 'mart.other': 'failed' },
  ],
} as const

for (const [what, [files, status]] of Object.entries(FAILING))
  test(`a run that fails again says the same with the engine and without: ${what}`, async () => {
    await using space = await failing(files)
    const said = async (isNoted: boolean) => {
      const forget = () => (isNoted ? undefined : rm(note(space)))
      await forget()
      const json = await run(space)
      await forget()
      const shown = await space.ok(['run'], { exitCode: 1 })
      assert.equal([sorted(json.status), json.exitCode], [sorted(status), 1])
      return [json.stdout, json.stderr, shown.stdout, shown.stderr].map(plain)
    }
    const short = await said(true)
    assert.is(waiting(space), 2)
    assert.equal(await said(false), short)
    assert.is(waiting(space), 0)
    const ids = await historyOf(space)
    assert.is(new Set(ids).size, ids.length)
  })

const sorted = (status: object) => Object.entries(status).toSorted(([a], [b]) => (a < b ? -1 : 1))

test('a run sees that a model was mended that did not compile, and a column that another needs', async () => {
  await using space = await failing(NO_COMPILE)
  await run(space)
  assert.is(waiting(space), 1)
  await overwrite(space, 'models/mart/other.sql', 'SELECT FROM WHERE', 'SELECT 1 AS one')
  assert.is((await run(space)).status['mart.other'], 'built')
  await settle(space)
  await overwrite(space, 'models/mart/none.sql', 'SELECT nothing', 'SELECT 2 AS two')
  const { status, exitCode } = await run(space)
  assert.equal(
    [sorted(status), exitCode],
    [
      [
        ['mart.later', 'built'],
        ['mart.none', 'built'],
      ],
      0,
    ],
  )
})

const MENDED: Readonly<
  Record<string, readonly [(space: Workspace) => Promise<void>, Readonly<Record<string, string>>]>
> = {
  'a data file': [
    (space) => overwrite(space, 'data/names.csv', '1,two', '2,two'),
    { 'mart.ids': 'built', 'mart.after': 'built', 'mart.numbers': 'failed' },
  ],
  'a check': [
    (space) => overwrite(space, 'models/mart/ids.sql', 'unique(id)', 'id > 0'),
    { 'mart.ids': 'built', 'mart.after': 'built', 'mart.numbers': 'failed' },
  ],
  'a seed that a model before it reads': [
    (space) => overwrite(space, 'seeds/ref/codes.csv', 'x1', '11'),
    { ...FAILED, 'ref.codes': 'built', 'mart.numbers': 'built' },
  ],
}

for (const [what, [mend, expected]] of Object.entries(MENDED))
  test(`a run sees that ${what} was mended`, async () => {
    await using space = await failing()
    assert.equal((await run(space)).status, FAILED)
    assert.is(waiting(space), 1)
    await mend(space)
    assert.equal((await run(space)).status, expected)
  })

test('flags that may help, selections and commands that look start the engine', async () => {
  await using space = await failing()
  for (const args of [['--retry'], ['--fail-fast'], ['--allow-empty'], ['mart.ids']]) {
    await run(space, args)
    assert.is(waiting(space), 0, args.join(' '))
    await settle(space)
    assert.ok(existsSync(note(space)), args.join(' '))
  }
  assert.match((await space.ok(['ls'])).stdout, /mart\.ids +table +first build/)
})

const TRIED_AGAIN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a check of the time': {
    'models/mart/ids.sql':
      "-- @kind: table\n-- @check: now() < TIMESTAMPTZ '2020-01-01'\n\nSELECT 1 AS id\n",
  },
  'a check by a macro': {
    'macros/late.sql': "CREATE MACRO late() AS current_date > DATE '2020-01-01'\n",
    'models/mart/ids.sql': '-- @kind: table\n-- @check: NOT late()\n\nSELECT 1 AS id\n',
  },
  'a view of the time that is read': {
    'models/core/clock.sql': '-- @kind: view\n\nSELECT now() AS moment\n',
    'models/mart/ids.sql':
      "-- @kind: table\n-- @check: moment < TIMESTAMPTZ '2020-01-01'\n\nSELECT 1 AS id, moment FROM core.clock\n",
  },
  'rows of a check that are kept': { 'eider.yml': `${SHOP['eider.yml']}failing_rows: 10\n` },
  'a model that waits for a file': {
    'models/mart/none.sql': "SELECT id FROM read_csv('data/later.csv')\n",
  },
}

for (const [what, files] of Object.entries(TRIED_AGAIN))
  test(`each run tries again: ${what}`, async () => {
    await using space = await failing({ ...FILES, ...files })
    assert.is((await run(space)).status['mart.ids'], 'failed')
    assert.not.ok(existsSync(note(space)))
    assert.is(waiting(space), 0)
  })

test.run()
