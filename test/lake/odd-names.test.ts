// Names that a person would hardly choose are on a lake what they are on a file: the same are taken, with the same rows,
// and the same are refused.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const long = 'größer '.repeat(7).slice(0, -1)
const columns = ['a b', 'say "x"', "it's", '😀', 'Select', 'MiXeD', '1st', `; -- {}[]$1`, long]

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
const selected = (seed: number) =>
  columns.map((name, i) => `${i + seed}${i === 3 ? '::HUGEINT' : ''} AS ${quoted(name)}`).join(', ')

/** By the name of the schema and the table. */
const models: Readonly<Record<string, string>> = {
  'my schema/say "x"': `SELECT ${selected(0)}`,
  [`o'clock/${long}`]: `SELECT ${selected(1)}`,
  'Select/from': `SELECT ${selected(2)} FROM "my schema"."say ""x"""`,
  'straße/😀': `-- @kind: merge\n-- @unique_key: "a b"\nSELECT ${selected(3)}`,
  'x"y/-- ;': `-- @kind: append\n-- @incremental: "say ""x"""\nSELECT ${selected(4)}`,
  '1st/表': `-- @kind: scd2\n-- @unique_key: "😀"\nSELECT ${selected(5)}`,
  'mart/%41 {}[$1$]': `-- @kind: view\nSELECT ${selected(6)}`,
  'mart/MiXeD': `-- @expose\nSELECT 7 AS "Größe", 8 AS "Select", 9 AS "MiXeD"`,
}

const refused: Readonly<Record<string, string>> = {
  'twins/T': 'SELECT 1 AS n',
  'twins/t': 'SELECT 2 AS n',
  'mart/columns': 'SELECT 1 AS "A", 2 AS "a"',
  'mart/exposed': `-- @expose\nSELECT 1 AS "a b"`,
}

const events = `-- @kind: events\n${columns.map((name) => `${quoted(name)} BIGINT`).join(',\n')}\n`

const filesOf = (all: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(all).map(([path, text]) => [`models/${path}.sql`, text]))

/** What a run says of each model, without what differs from run to run. */
async function results(space: Workspace, exitCode: number): Promise<readonly unknown[]> {
  const { stdout } = await space.ok(['run', '--json'], { exitCode })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => ['model-finished', 'diagnostic', 'failed'].includes(String(event)))
    .map(({ ms: _ms, ...rest }) => rest)
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))
}

async function collect(space: Workspace): Promise<void> {
  await using daemon = await startDaemon(space)
  const event = Object.fromEntries(columns.map((name, i) => [name, i]))
  const path = `/collect/${encodeURIComponent('odd ones')}/${encodeURIComponent(`it's "😀"`)}`
  const headers = { 'Content-Type': 'application/json' }
  const sent = { method: 'POST', headers, body: JSON.stringify(event) }
  const answer = await fetch(daemon.url + path, sent)
  assert.is(answer.status, 202, await answer.text())
}

lakeTest('odd names of schemas, tables and columns are taken as on a file', async () => {
  await using lake = await withLake()
  const taken = { ...models, [`odd ones/it's "😀"`]: events }
  await using file = await workspace({ 'eider.yml': 'name: shop\n', ...filesOf(taken) })
  await using runner = await lakeProject(lake, filesOf(taken))
  const rows = async (space: Workspace) => {
    const names = Object.keys(taken).map((path) => path.split('/').map(quoted).join('.'))
    const parts = names.map((name) => `SELECT to_json(t)::VARCHAR AS row FROM ${name} AS t`)
    const { stdout } = await space.ok(['query', parts.join(' UNION ALL '), '--json'])
    return stdout.trim().split('\n').map(withoutTimes)
  }
  for (const space of [file, runner]) await collect(space)
  for (const round of [1, 2]) {
    const expected = await results(file, 0)
    assert.is(expected.length, Object.keys(taken).length)
    assert.equal(await results(runner, 0), expected, `run ${round}`)
  }
  const expected = await rows(file)
  assert.is(expected.length, Object.keys(taken).length)
  assert.equal(await rows(runner), expected)
  await runner.ok(['maintain'])
  await runner.ok(['pull'])
  assert.equal(await rows(runner), expected)
})

/** The times of scd2 and of events are those of their runs. */
const withoutTimes = (row: string) =>
  row.replaceAll(/\d{4}-\d\d-\d\d[T ][^"\\]*/g, '').replaceAll(/"_\w+\\?":\\?"[^"]*\\?"/g, '')

lakeTest('odd names that are refused are so on both', async () => {
  await using lake = await withLake()
  await using file = await workspace({ 'eider.yml': 'name: shop\n', ...filesOf(refused) })
  await using runner = await lakeProject(lake, filesOf(refused))
  const expected = await results(file, 1)
  assert.ok(expected.length >= 3, JSON.stringify(expected))
  assert.equal(await results(runner, 1), expected)
})

test.run()
