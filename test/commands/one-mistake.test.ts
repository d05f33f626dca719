// One mistake costs one model: of 300, those that have something wrong and their readers keep their last good rows, and
// all others are built, with the events that wait and a snapshot.

import { rm } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { startDaemon } from '../support/daemon-process.ts'
import { postJson } from '../support/json-requests.ts'
import { type Workspace, workspace } from '../support/workspace.ts'

const MODELS = 300
const plain = MODELS - 8

const files: Record<string, string> = {
  'eider.yml': 'name: many\nsources: {crm: {tables: {people: {file: data/people.csv}}}}\n',
  'data/people.csv': 'id,name\n1,Ann\n',
  'models/raw/events.sql': '-- @kind: events\n-- @expose id\nid BIGINT NOT NULL\n',
  'models/bad/typo.sql': '-- @expose id\nSELECT id FROM raw.events\n',
  'models/bad/reads_typo.sql': 'SELECT id FROM bad.typo\n',
  'models/bad/away.sql': 'SELECT id, name FROM crm.people\n',
  'models/bad/reads_away.sql': 'SELECT name FROM bad.away\n',
  'models/bad/checked.sql': '-- @check: x < 1\nSELECT 0 AS x\n',
  'models/bad/reads_checked.sql': 'SELECT x FROM bad.checked\n',
  'models/good/reads_events.sql': 'SELECT count(*) AS n FROM raw.events\n',
}
for (let i = 0; i < plain; i++) files[`models/good/m${i}.sql`] = `SELECT ${i} AS n\n`

interface Line {
  readonly event: string
  readonly model?: string
  readonly status?: string
  readonly because?: string
  readonly code?: string
  readonly file?: string
  readonly models?: number
  readonly problem?: string | null
}

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

async function breakThree(space: Workspace): Promise<void> {
  await space.write('models/bad/typo.sql', '-- @expose id\nSELECT idd FROM raw.events\n')
  await space.write('models/bad/checked.sql', '-- @check: x < 1\nSELECT 1 AS x\n')
  await rm(space.path('data/people.csv'))
}

/** A check sees what is in the files; what only the rows can tell is seen by a plan that builds them in memory. */
async function readOnly(space: Workspace): Promise<void> {
  const checked = linesOf((await space.ok(['check', '--json'], { exitCode: 1 })).stdout)
  assert.equal(
    checked.map(({ event, code, file, models }) => [code ?? event, file ?? models]),
    [
      ['invalid-source', 'eider.yml'],
      ['sql-binding', 'models/bad/typo.sql'],
      ['check-finished', MODELS],
    ],
  )
  await space.write('models/bad/checked.sql', '-- @check: x < 1\nSELECT 2 AS x\n')
  const steps = linesOf((await space.ok(['plan', '--diff', '--json'], { exitCode: 1 })).stdout)
  const failing = steps.filter(({ problem }) => typeof problem === 'string')
  const names = failing.map(({ model }) => model!).toSorted(compareText)
  assert.is(names.join(' '), 'bad.away bad.checked bad.typo')
}

test('300 models, one mistake, one source away, one failing check: the others are built and published', async () => {
  await using space = await workspace(files)
  {
    await using daemon = await startDaemon(space)
    assert.is((await postJson(`${daemon.url}/collect/raw/events`, { id: 1 })).status, 202)
  }
  await space.ok(['run', 'raw.*', 'bad.*'])
  await breakThree(space)
  {
    await using daemon = await startDaemon(space)
    assert.is((await postJson(`${daemon.url}/collect/raw/events`, { id: 2 })).status, 202)
  }
  const lines = linesOf((await space.ok(['run', '--json'], { exitCode: 1 })).stdout)
  const results = lines.filter(({ event }) => event === 'model-finished')
  assert.is(results.length, MODELS)
  const named = (status: string) =>
    results.flatMap((result) => (result.status === status ? [result.model!] : []))
  const byStatus = (status: string) => named(status).toSorted(compareText).join(' ')
  assert.is(byStatus('failed'), 'bad.away bad.checked bad.typo')
  assert.is(byStatus('skipped'), 'bad.reads_away bad.reads_checked bad.reads_typo')
  assert.is(named('built').length, MODELS - 6)
  const because = (model: string) => results.find((result) => result.model === model)?.because ?? ''
  assert.match(because('bad.typo'), /^models\/bad\/typo\.sql:2:8: .*"idd"/)
  assert.match(because('bad.away'), /eider\.yml:2:.*"crm\.people" cannot be read/)
  assert.equal(
    lines.filter(({ event }) => event === 'diagnostic').map(({ code }) => code),
    ['invalid-source', 'sql-binding'],
  )
  await readOnly(space)
  const served = await space.ok(['odata', 'preview', 'raw_events/$count'])
  assert.is(served.stdout.trim(), '2')
  const kept = await space.ok(['odata', 'preview', 'bad_typo/$count'])
  assert.is(kept.stdout.trim(), '1')
  const unpublished = await space.ok(['odata', 'preview', 'bad.reads_typo'], { exitCode: 1 })
  assert.match(unpublished.stderr, 'models/bad/typo.sql:2:8')
  const shown = await space.ok(['query', 'SELECT name FROM bad.away', '--format', 'csv'])
  assert.match(shown.stdout, 'Ann')
})

test('what a model that fails has published stays; it can be looked for, and other models can be looked at', async () => {
  await using space = await workspace({
    'eider.yml': 'name: few\n',
    'models/a/typo.sql': '-- @expose id\nSELECT 1 AS id\n',
    'models/a/reader.sql': '-- @expose id\nSELECT id FROM a.typo\n',
    'models/a/other.sql': '-- @expose id\nSELECT 3 AS id\n',
  })
  const before = linesOf((await space.ok(['run', '--json'])).stdout)
  await space.write('models/a/typo.sql', '-- @expose id\nSELECT 1 AS id FORM x\n')
  const { stdout, stderr } = await space.ok(['run'], { exitCode: 1 })
  assert.match(stdout, /failed +a\.typo +models\/a\/typo\.sql:2:16: /)
  assert.match(stdout, /skipped +a\.reader +a\.typo failed/)
  assert.not.match(stdout, 'published')
  assert.match(stderr, /\^/)
  assert.is(before.filter(({ event }) => event === 'published').length, 1)
  await space.ok(['run', 'a.other'])
  await space.ok(['show', 'a.other'])
  await space.ok(['history', 'a.typo'])
  const ls = (await space.ok(['ls'])).stdout
  assert.match(ls, /a\.typo +table +a_typo +models\/a\/typo\.sql:2:16: /)
  assert.match(ls, /a\.reader +table +a_reader +a\.typo fails/)
  for (const set of ['a_typo', 'a.reader']) {
    assert.match((await space.ok(['odata', 'preview', set])).stdout, '"value":[{"id":1}]')
    assert.match((await space.ok(['odata', 'explain', set])).stdout, '"id" AS "id"')
  }
  const plan = await space.ok(['plan'], { exitCode: 1 })
  assert.not.match(plan.stdout, 'entity set removed')
  assert.match((await space.ok(['show', 'a.reader'], { exitCode: 1 })).stderr, 'typo.sql:2:16')
  await space.write('models/a/typo.sql', '-- @expose id\nSELECT 2 AS id\n')
  assert.match((await space.ok(['run'])).stdout, / 2 built, 1 unchanged, published [0-9a-f]+ in /)
})

test.run()
