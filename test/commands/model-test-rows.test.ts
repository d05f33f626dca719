// What `eider test` makes of rows: events that are posted, NULL and empty texts, orders, tolerances, places of mistakes.
// Cases that do not disturb each other share a project, and one process judges them all.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { workspace, type Workspace } from '../support/workspace.ts'

const models = {
  'eider.yml': 'name: s\n',
  'models/raw/e.sql':
    '-- @kind: events\nid INTEGER NOT NULL, country VARCHAR, amount DECIMAL(9,2), received_at TIMESTAMPTZ\n',
  'models/mart/x.sql': 'SELECT id, country, amount::DOUBLE / 3 AS third FROM raw.e\n',
  'models/mart/ordered.sql': 'SELECT id, country FROM raw.e ORDER BY id DESC\n',
}

interface Shown {
  readonly test: string
  readonly status: string
  readonly problem: string | null
  readonly difference: Readonly<Record<string, unknown>> | null
}

async function outcomes(space: Workspace, exitCode: number): Promise<ReadonlyMap<string, Shown>> {
  const { stdout } = await space.ok(['test', '--json'], { exitCode })
  const lines = stdout.trimEnd().split('\n').slice(0, -1)
  return new Map(
    lines.map((line) => {
      const shown = JSON.parse(line) as Shown
      return [shown.test, shown]
    }),
  )
}

const cases = (all: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  Object.fromEntries(
    Object.entries(all).flatMap(([name, files]) =>
      Object.entries(files).map(([path, text]) => [`tests/${name}/${path}`, text]),
    ),
  )

test('events of an events model are posted, judged as the daemon judges them, and flushed', async () => {
  await using space = await workspace({
    ...models,
    ...cases({
      'raw/e/judged': {
        'given/raw.e.ndjson':
          '{"id":1,"country":"","amount":5,"extra":1}\n\n{"country":"NO"}\n{"id":2.5}\n{"id":3,"amount":1e9}\n',
        'expect.csv': 'id,country,amount,received_at\n1,"",5,2026-01-01T00:00:00Z\n',
        'expect.rejected.csv':
          'line,code,column\n3,missing-field,id\n4,invalid-value,id\n5,invalid-value,amount\n',
      },
      'raw/e/two_runs': {
        '1/given/raw.e.ndjson': '{"id":1}\n',
        '2/given/raw.e.ndjson': '{"id":1,"country":"NO"}\n',
        '2/expect.csv':
          'id,country,received_at\n1,,2026-01-01T00:00:00Z\n1,NO,2026-01-02T00:00:00Z\n',
      },
      'raw/e/refused': { 'given/raw.e.ndjson': '{"id":1}\n{"id":"x"}\n', 'expect.csv': 'id\n1\n' },
      'raw/e/other_reason': {
        'given/raw.e.ndjson': '{"country":"NO"}\n',
        'expect.rejected.csv': 'line,reason\n1,no id\n',
      },
      'raw/e/as_rows': { 'given/raw.e.csv': 'id\n1\n', 'expect.csv': 'id\n1\n' },
      'mart/x/downstream': {
        'given/raw.e.ndjson': '{"id":1,"amount":3}\n{"amount":3}\n',
        'expect.csv': 'id,third\n1,1\n',
        'expect.rejected.csv': 'events,line\nraw.e,2\n',
      },
      'mart/x/misspelt': {
        'given/raw.e.ndjson': '{"id":1}\n{"id":1,"amuont":3}\n',
        'expect.csv': 'id\n1\n1\n',
      },
    }),
  })
  const shown = await outcomes(space, 1)
  for (const name of ['judged', 'two_runs', 'downstream']) assert.is(shown.get(name)?.status, 'ok')
  const problem = (name: string) => shown.get(name)?.problem ?? ''
  assert.match(
    problem('refused'),
    /^tests\/raw\/e\/refused\/given\/raw\.e\.ndjson:2: column "id" \(INTEGER\)/,
  )
  assert.match(problem('as_rows'), 'given as they are posted, one JSON object per line')
  assert.match(
    problem('misspelt'),
    /raw\.e\.ndjson:2: raw\.e has no column "amuont"; did you mean "amount"\?/,
  )
  const difference = shown.get('other_reason')?.difference ?? {}
  assert.is(difference['path'], 'tests/raw/e/other_reason/expect.rejected.csv')
  assert.equal(difference['missing'], [{ line: '1', reason: 'no id' }])
  assert.match(JSON.stringify(difference['unexpected']), 'is NOT NULL and is missing')
  await space.ok(['test', 'raw.e', '--accept'], { exitCode: 1 })
  assert.match(
    await readFile(space.path('tests/raw/e/refused/expect.rejected.csv'), 'utf8'),
    /^events,line,code,column,reason\nraw\.e,2,invalid-value,id,"column ""id""/,
  )
})

test('NULL and empty texts, an order that a model promises, and floating-point numbers are compared as documented', async () => {
  const empty = { 'given/raw.e.csv': 'id,country\n1,\n2,""\n3," x "\n' }
  await using space = await workspace({
    ...models,
    ...cases({
      'mart/x/empty': { ...empty, 'expect.csv': 'country,id\n" x ",3\n,1\n"",2\n' },
      'mart/x/not_null': { ...empty, 'expect.csv': 'country,id\n"",1\n"",2\n" x ",3\n' },
      'mart/x/written': { ...empty, 'expect.csv': 'id,country\n9,\n' },
      'mart/ordered/as_ordered': { ...empty, 'expect.csv': 'id\n3\n2\n1\n' },
      'mart/ordered/other_order': { ...empty, 'expect.csv': 'id\n3\n1\n2\n' },
      'mart/x/exact': { 'given/raw.e.csv': 'id,amount\n1,1\n', 'expect.csv': 'third\n0.3333\n' },
      'mart/x/close': {
        'given/raw.e.csv': 'id,amount\n1,1\n',
        'expect.csv': 'id,third\n1,0.3333\n',
        'test.yml': 'tolerance: 0.0001\n',
      },
      'mart/x/not_close': {
        'given/raw.e.csv': 'id,amount\n1,1\n2,2\n',
        'expect.csv': 'id,third\n1,0.3333\n2,0.5\n',
        'test.yml': 'tolerance: 0.0001\n',
      },
    }),
  })
  const shown = await outcomes(space, 1)
  for (const name of ['empty', 'as_ordered', 'close'])
    assert.is(shown.get(name)?.status, 'ok', name)
  assert.equal(shown.get('not_null')?.difference?.['changed'], [
    {
      expected: { country: '', id: '1' },
      built: { country: null, id: '1' },
      columns: ['country'],
    },
  ])
  assert.match(
    shown.get('other_order')?.problem ?? '',
    'other_order/expect.csv:3: the rows are as expected, but in another order: here id 2 was built',
  )
  assert.is(shown.get('exact')?.status, 'failed')
  const { missing, line } = shown.get('not_close')?.difference ?? {}
  assert.equal(missing, [{ id: '2', third: '0.5' }])
  assert.is(line, 3)
  await space.ok(['test', '--accept'])
  const read = (path: string) => readFile(space.path(`tests/${path}/expect.csv`), 'utf8')
  assert.is(await read('mart/x/written'), 'id,country\n1,\n2,""\n3," x "\n')
  assert.is(await read('mart/ordered/other_order'), 'id\n3\n2\n1\n')
  await space.ok(['test'])
})

test('a value that does not fit has its file, line and column', async () => {
  const good = { 'expect.csv': 'id\n1\n' }
  await using space = await workspace({
    ...models,
    'models/ref/c.sql': 'SELECT 1 AS id, 2.5::DECIMAL(9,2) AS amount, [1] AS list\n',
    'models/mart/c.sql': 'SELECT id FROM ref.c\n',
    ...cases({
      'mart/x/csv': { ...good, 'given/raw.e.csv': 'country,id\n"a,""b",1\nc,x\n' },
      'mart/x/empty_number': { ...good, 'given/raw.e.csv': 'id,amount\n1,""\n' },
      'mart/c/ndjson': { ...good, 'given/ref.c.ndjson': '{"id":1}\n\n{"amount":1, "id": "x"}\n' },
      'mart/c/no_json': { ...good, 'given/ref.c.ndjson': '{"id":1}\n[1]\n' },
      'mart/c/unknown': { ...good, 'given/ref.c.ndjson': '{"id":1}\n{"amuont":1}\n' },
      'mart/x/expected': { 'given/raw.e.csv': 'id\n1\n', 'expect.csv': 'id\n1\none\n' },
      'mart/x/unknown_expected': { 'given/raw.e.csv': 'id\n1\n', 'expect.csv': 'ids\n1\n' },
      'mart/x/negative': { ...good, 'test.yml': 'tolerance: -1\n' },
    }),
  })
  const shown = await outcomes(space, 1)
  const says: Readonly<Record<string, string>> = {
    csv: "csv/given/raw.e.csv:3:3: 'x' does not fit INTEGER (column id)",
    empty_number:
      'raw.e.csv:2:3: only string columns can hold an empty string; leave the field empty for NULL',
    ndjson: 'ref.c.ndjson:3:20: ',
    no_json: 'ref.c.ndjson:2: each line is a JSON object',
    unknown: 'ref.c.ndjson:2: ref.c has no column "amuont"; did you mean "amount"?',
    expected: "expected/expect.csv:3:1: 'one' does not fit INTEGER",
    unknown_expected: 'expect.csv:1: mart.x has no column "ids"; did you mean "id"?',
    negative: 'test.yml: "tolerance" must be a number that is not negative',
  }
  for (const [name, text] of Object.entries(says))
    assert.ok(
      (shown.get(name)?.problem ?? '').includes(text),
      `${name}: ${shown.get(name)?.problem}`,
    )
})

test.run()
