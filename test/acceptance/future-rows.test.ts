// A row of 2099, by a clock that was ahead: a model that reads on from its newest row reads nothing of today, and says so.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace } from '../support/workspace.ts'

const CSV = 'id,ts,amount\n1,2026-03-01 08:00:00,10\n2,2026-03-05 09:00:00,20\n'
const AHEAD = '9,2099-01-02 00:00:00,5\n'

const body = (file: string) =>
  `SELECT id, ts::TIMESTAMP AS ts, amount FROM read_csv('data/${file}')\n`

const headers = {
  period: '-- @kind: period\n-- @period: day of ts\n',
  append: '-- @kind: append\n-- @incremental: ts\n',
  merge: '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts lookback 1 hour\n',
}

for (const [kind, header] of Object.entries(headers))
  test(`${kind}: rows that it does not read are said, by plans and runs`, async () => {
    await using space = await workspace({
      'eider.yml': 'name: clocks\n',
      'data/s.csv': CSV,
      'models/mart/t.sql': header + body('s.csv'),
    })
    const said = async (command: string) => (await space.ok([command])).stdout
    await space.ok(['run'])
    await space.write('data/s.csv', `${CSV}3,2026-03-06 09:00:00,30\n`)
    assert.not.match(await said('run'), 'in the future')
    await space.write('data/s.csv', CSV + AHEAD)
    await space.ok(['run'])
    const next = `${CSV}${AHEAD}4,2026-03-07 09:00:00,40\n`
    await space.write('data/s.csv', next)
    const what = 'which is in the future, so rows before it that come into data/s.csv are not read'
    assert.match(await said('plan'), what)
    const run = await said('run')
    assert.match(run, what)
    assert.match(run, 'eider run mart.t --full-refresh')
    // What it says helps.
    await space.write(
      'models/mart/t.sql',
      header + body('s.csv').trim() + " WHERE ts < '2090-01-01'\n",
    )
    await space.ok(['run', 'mart.t', '--full-refresh'])
    await space.write('data/s.csv', `${next}5,2026-03-08 09:00:00,50\n`)
    assert.not.match(await said('run'), 'in the future')
    const { stdout } = await space.ok(['query', 'SELECT id FROM mart.t ORDER BY id', '--json'])
    assert.equal(
      stdout.trim().split('\n'),
      [1, 2, 4, 5].map((id) => `{"id":"${id}"}`),
    )
  })

for (const last of ['nan', 'inf'])
  test(`a number above all others, ${last}, is said like a time in the future`, async () => {
    await using space = await workspace({
      'eider.yml': 'name: clocks\n',
      'data/s.csv': CSV,
      'models/mart/t.sql': `-- @kind: append\n-- @incremental: n\nSELECT id, amount AS n FROM read_csv('data/s.csv', types = {'amount': 'DOUBLE'})\n`,
    })
    const said = async () => (await space.ok(['run'])).stdout
    await said()
    const with9 = `${CSV}9,2026-03-06 09:00:00,${last}\n`
    await space.write('data/s.csv', with9)
    assert.not.match(await said(), 'are not read')
    await space.write('data/s.csv', `${with9}10,2026-03-06 09:00:00,30\n`)
    assert.match(
      await said(),
      ', above all other numbers, so rows before it that come into data/s.csv are not read',
    )
  })

test('a followed table needs no warning: what comes is read wherever it lies', async () => {
  await using space = await workspace({
    'eider.yml': 'name: clocks\n',
    'seeds/raw/s.csv': CSV + AHEAD,
    'models/mart/t.sql': headers.period + 'FROM raw.s\n',
  })
  await space.ok(['run'])
  await space.write('seeds/raw/s.csv', `${CSV}${AHEAD}4,2026-03-07 09:00:00,40\n`)
  assert.not.match((await space.ok(['run'])).stdout, 'in the future')
  const { stdout } = await space.ok(['query', 'SELECT count(*) AS n FROM mart.t', '--json'])
  assert.is(stdout, '{"n":"4"}\n')
})

test.run()
