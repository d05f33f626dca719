import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runBeside, startDaemon } from '../support/daemon-process.ts'
import { contentsOf, workspace } from '../support/workspace.ts'

const files = {
  'eider.yml': 'name: shop\n',
  'models/raw/e.sql': '-- @kind: events\nid bigint not null,\nnote varchar\n',
  'models/mart/m.sql':
    '-- @kind: merge\n-- @unique_key: id\nselect id, max(note) as note from raw.e group by id\n',
  'models/mart/n.sql': '-- @expose\nselect count(*) as n from mart.m\n',
}

interface StepEvent {
  readonly model: string
  readonly action: string
  readonly events: unknown
  readonly diff?: { readonly rows_after: number }
}

const stepsOf = (stdout: string): ReadonlyMap<string, StepEvent> =>
  new Map(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as StepEvent)
      .filter(({ model }) => model !== undefined)
      .map((step) => [step.model, step]),
  )

async function send(url: string, events: readonly object[]): Promise<void> {
  const answer = await fetch(`${url}/collect/raw/e/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(events),
  })
  assert.is(answer.status, 202)
}

test('before the first run, after it, and beside a daemon: a diff leaves every file as it is', async () => {
  await using space = await workspace(files)
  const before = await contentsOf(space)
  assert.match((await space.ok(['plan', '--diff'])).stdout, /build +mart\.n [^]*\n +1 row\n/)
  assert.equal(await contentsOf(space), before)
  await space.ok(['run'])
  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  await send(daemon.url, [
    { id: 1, note: 'a' },
    { id: 2, note: 'b' },
  ])
  const waiting = await contentsOf(space)
  const { stdout } = await space.ok(['plan', '--diff'])
  assert.match(stdout, /raw\.e +new events\n +2 waiting events: 2 fit, 0 would be rejected\n/)
  assert.match(stdout, /0 -> 2 rows: 2 inserted, 0 changed, 0 removed\n +\+ id=1 note=a\n/)
  assert.equal(await contentsOf(space), waiting)
  const steps = stepsOf((await space.ok(['plan', '--diff', '--json'])).stdout)
  assert.equal(steps.get('mart.n')?.diff, {
    rows_before: 1,
    rows_after: 1,
    changes: {
      inserted: 1,
      changed: 0,
      removed: 1,
      key: [],
      sample: [
        { change: 'inserted', row: { n: '2' } },
        { change: 'removed', row: { n: '0' } },
      ],
    },
    warnings: [],
  })
  assert.equal(await contentsOf(space), waiting)
})

test('events that wait are tried against a model that was edited, with and without --diff', async () => {
  await using space = await workspace(files)
  await space.ok(['run'])
  await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
  await send(daemon.url, [
    { id: 1, note: '7' },
    { id: 2, note: 'many' },
    { id: 3, note: 'few' },
    { id: 4 },
  ])
  const edited = '-- @kind: events\nid bigint not null,\nnote varchar,\nshop integer not null\n'
  await space.write('models/raw/e.sql', edited)
  const rejected = await space.ok(['plan'])
  assert.match(rejected.stdout, /4 waiting events: 0 fit, 4 would be rejected/)
  assert.match(rejected.stdout, /! 4 events, first 1: column "shop" is missing/)
  const typed = edited.replace('shop integer not null', 'shop integer').replace('id big', 'id huge')
  await space.write('models/raw/e.sql', typed)
  const before = await contentsOf(space)
  const steps = stepsOf((await space.ok(['plan', '--diff', '--json'])).stdout)
  assert.equal(steps.get('raw.e')?.events, { waiting: 4, rejected: 0, retried: 0, reasons: [] })
  assert.equal(await contentsOf(space), before)
  assert.is(await daemon.stop(), 0)
  assert.match(
    (await space.ok(['run'])).stdout,
    /flushed +raw\.e +4 events\b/,
    'the run does what the plan said',
  )
})

test('a first model for events that wait already', async () => {
  await using space = await workspace(files)
  {
    await using daemon = await space.start(['collect', 'daemon', '--port', '0'])
    await send(daemon.url, [{ id: 1, note: 'many' }, { id: 2, note: '3' }, { id: 3 }])
    assert.is(await daemon.stop(), 0)
  }
  await space.write(
    'models/raw/e.sql',
    '-- @kind: events\nid bigint not null,\nnote varchar not null\n',
  )
  const before = await contentsOf(space)
  const steps = stepsOf((await space.ok(['plan', '--diff', '--json'])).stdout)
  assert.equal(steps.get('raw.e')?.events, {
    waiting: 3,
    rejected: 1,
    retried: 0,
    reasons: [{ reason: 'column "note" is missing', events: 1, first: 3 }],
  })
  assert.is(steps.get('raw.e')?.diff?.rows_after, 2)
  assert.equal(await contentsOf(space), before)
  assert.match((await space.ok(['run'])).stdout, /flushed +raw\.e +2 events, 1 rejected/)
  // What was rejected is tried again once its model has changed.
  await space.write('models/raw/e.sql', files['models/raw/e.sql'])
  const again = stepsOf((await space.ok(['plan', '--diff', '--json'])).stdout).get('raw.e')
  assert.equal(again?.events, { waiting: 0, rejected: 0, retried: 1, reasons: [] })
  assert.is(again?.diff?.rows_after, 3)
  const plain = await space.ok(['plan'])
  assert.match(
    plain.stdout,
    /0 waiting events: 0 fit, 0 would be rejected; 1 that were rejected fit/,
  )
})

test('a plan reads again what the run reads: the values that came, not all of their day', async () => {
  const rows = (of: string) => `-- @kind: append
-- @unique_key: id
-- @incremental: got
select id, got from ${of}
`
  await using space = await workspace({
    'eider.yml': 'name: shop\n',
    'models/raw/e.sql': '-- @kind: events\nid bigint not null,\ngot timestamptz\n',
    'models/core/log.sql': '-- @kind: append\n-- @incremental: got\nselect id, got from raw.e\n',
    'models/mart/first.sql': rows('raw.e'),
    'models/mart/from_log.sql': rows('core.log'),
  })
  await using daemon = await startDaemon(space)
  const at = (hour: string) => `2026-11-20T${hour}:00Z`
  await send(daemon.url, [
    { id: 1, got: at('10:00') },
    { id: 2, got: at('11:00') },
    { id: 3, got: at('12:00') },
  ])
  await runBeside(space, daemon)
  await send(daemon.url, [{ id: 1, got: at('10:30') }])
  const { stdout: plan } = await space.ok(['plan', '--diff'])
  assert.not.match(plan, 'duplicate')
  for (const name of ['first', 'from_log'])
    assert.match(plan, new RegExp(`mart\\.${name}[^\n]*\n +3 -> 3 rows: 0 inserted`))
  const { stdout } = await runBeside(space, daemon)
  for (const name of ['first', 'from_log'])
    assert.match(stdout, new RegExp(`built +mart\\.${name} +0 rows`))
})

test.run()
