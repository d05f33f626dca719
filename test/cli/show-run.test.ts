// What a run says on a terminal of any width, and without one.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { terminalWidth } from '../../src/cli/cells.ts'
import { liveText, type LiveState } from '../../src/cli/live-line.ts'
import { lookOf } from '../../src/cli/paint.ts'
import { showFailedModel } from '../../src/cli/show-failed-model.ts'
import type { RunSummary, ModelResult, RunEvent } from '../../src/core/report/progress.ts'
import { RunDisplay, type RunDisplayOptions } from '../../src/cli/show-run.ts'

const WIDTHS = [40, 80, 200]
const START = Date.parse('2026-11-22T18:35:06.500Z')

interface FakeTerminal {
  readonly isTTY: boolean
  readonly columns: number
  readonly written: string[]
  write(text: string): void
}

/** Both streams write to `written`, as to one terminal. */
function terminal(columns: number, isTTY = true, written: string[] = []): FakeTerminal {
  return { isTTY, columns, written, write: (text) => void written.push(text) }
}

const failure =
  "models/mart/country_sales.sql:9:3: Could not convert string 'SE' to INT32 when casting from column country_id"
const result = (
  model: string,
  status: ModelResult['status'],
  because: string,
  more: Partial<ModelResult> = {},
) => ({ model, status, because, ms: 400, ...more }) as ModelResult

const models = [
  result('core.orders', 'built', 'upstream raw.orders', { rows: 12_400 }),
  result('core.same', 'unchanged', 'nothing changed'),
  result('mart.country_sales', 'failed', failure),
  result('mart.top_countries', 'skipped', 'mart.country_sales failed'),
  result('mart.odd', 'built', 'first build', {
    rows: 1,
    warnings: ['amount > 0 is false: 3 rows'],
  }),
]
const totals = {
  ok: false,
  ms: 16_000,
  flushed: [{ model: 'raw.orders', events: 720_000, rejected: 0 }],
  models,
  orphans: [{ model: 'mart.gone', kind: 'table', rows: 3 }],
  snapshot: { id: '8f3a21c0', changed: true },
} as unknown as RunSummary

const events = [
  { event: 'run-started', runId: 'r', models: 5 },
  { event: 'flush-started', model: 'raw.orders', events: 500_000 },
  { event: 'flush-finished', model: 'raw.orders', events: 500_000, rejected: 0, ms: 1500 },
  { event: 'flush-started', model: 'raw.orders', events: 220_000 },
  { event: 'flush-finished', model: 'raw.orders', events: 220_000, rejected: 0, ms: 600 },
  ...models.flatMap((model) => [
    { event: 'model-started', model: model.model, because: 'x' },
    { event: 'model-finished', ...model },
  ]),
  { event: 'run-finished', runId: 'r', ok: false, ms: 16_000 },
] as unknown as readonly RunEvent[]

function shown(columns: number, options: Partial<RunDisplayOptions> = {}, isTTY = true) {
  const results = terminal(columns, isTTY)
  const notes = terminal(columns, isTTY, results.written)
  const display = new RunDisplay({
    results,
    notes,
    look: lookOf(results, { colour: false }),
    isDrawn: false,
    quiet: false,
    verbose: false,
    signal: new AbortController().signal,
    names: ['raw.orders', ...models.map(({ model }) => model)],
    now: () => new Date(START),
    ...options,
  })
  for (const event of events) display.progress(event)
  display.finish(totals, ['FRAME'], 'eider run --retry')
  return results.written.join('')
}

test('finished things in columns, unchanged ones as a number, failures at the end', () => {
  assert.equal(shown(200).split('\n'), [
    'flushed    raw.orders          720,000 events, 2.1 s',
    'built      core.orders         12,400 rows, 400 ms (upstream raw.orders)',
    'failed     mart.country_sales  line 9',
    'skipped    mart.top_countries  mart.country_sales failed',
    'built      mart.odd            1 row, 400 ms (first build)',
    'warning    amount > 0 is false: 3 rows',
    'orphan     mart.gone           3 rows, and no file defines it: eider mv mart.gone NEW keeps it as the model NEW, eider drop mart.gone removes it',
    '',
    'FRAME',
    '',
    '1 failed, 1 skipped, 2 built, 1 unchanged, 1 warning, published 8f3a21c0 in 16 s        eider run --retry',
    '',
  ])
})

test('no line is wider than the terminal, and none ends within a word', () => {
  for (const columns of WIDTHS) {
    const lines = shown(columns, { verbose: true }).split('\n')
    for (const line of lines) assert.ok(terminalWidth(line) <= columns, `${columns}: ${line}`)
    const words = (text: string) => text.split(/\s+/).filter((word) => word !== '')
    assert.equal(words(lines.join('\n')), words(shown(200, { verbose: true })))
  }
  assert.ok(shown(40).includes('\neider run --retry\n'))
})

test('without a terminal each line has a time, and says all in one line', () => {
  const lines = shown(40, {}, false).split('\n')
  assert.is(lines[0], '2026-11-22T18:35:06Z flushed    raw.orders          720,000 events, 2.1 s')
  assert.is(lines[2], `2026-11-22T18:35:06Z failed     mart.country_sales  ${failure}`)
  assert.match(lines.at(-2)!, /^2026-11-22T18:35:06Z 1 failed, .* {8}eider run --retry$/)
})

test('--quiet says when, and what somebody may have to look at', () => {
  const lines = shown(200, { quiet: true }).split('\n')
  const said = lines.map((line) => line.replace(/^2026-11-22T18:35:06Z (\w+).*/, '$1'))
  assert.equal(said, ['failed', 'skipped', 'built', 'warning', '', 'FRAME', '', '1', ''])
})

test('the live line is cleared before what is finished, and gone at the end', () => {
  for (const columns of WIDTHS) {
    const screen = onScreen(shown(columns, { isDrawn: true }))
    assert.is(screen, shown(columns))
  }
  assert.match(shown(80, { isDrawn: true }), 'building  mart.odd')
})

/** What a terminal shows at the end. */
const onScreen = (written: string) =>
  written
    .split('\n')
    .map((line) => line.split('\r\u001b[2K').at(-1))
    .join('\n')

const state: LiveState = {
  what: 'building',
  doing: [
    { name: 'mart.slow2', startedMs: 4000 },
    { name: 'mart.wide', startedMs: 13_000 },
  ],
  models: { done: 5, total: 7 },
  startedMs: 0,
  isStopping: false,
}

test('the live line has seconds, and fits', () => {
  const at = (columns: number, more: Partial<LiveState> = {}) =>
    liveText({ ...state, ...more }, 16_000, columns)
  const whole = 'building  mart.slow2 12 s · mart.wide 3 s  [5/7]  0:16'
  assert.is(at(200), `${whole}   Ctrl-C stops after a rollback`)
  assert.is(at(80), whole)
  assert.is(at(45), 'building  mart.slow2 12 s · +1  [5/7]  0:16')
  assert.is(at(40), 'building  mart.slo… 12 s +1  [5/7]  0:16')
  for (let columns = 10; columns <= 200; columns++) assert.ok(terminalWidth(at(columns)) <= columns)
  assert.match(at(80, { isStopping: true }), /^stopping .*rolling back$/)
})

test('a flush and the publication have a share', () => {
  const live = (what: LiveState['what'], done: number, total: number, of: 'event' | 'set') =>
    liveText(
      { ...state, what, doing: [{ name: 'a.b', startedMs: 0, share: { done, total, of } }] },
      2000,
      60,
    )
  assert.is(live('flushing', 0, 720_000, 'event'), 'flushing  a.b 720,000 events 2 s  0:02')
  assert.match(live('publishing', 1, 3, 'set'), 'publishing  a.b 1/3 sets 33 % 2 s  0:02')
})

test('a model that failed has a frame, a caret and a hint', () => {
  const path = 'models/mart/country_sales.sql'
  const text = `${'-- x\n'.repeat(8)}  CAST(country_id AS INTEGER) AS country,\n`
  const sources = new Map([[path, { path, text }]])
  const failed = result('mart.country_sales', 'failed', failure)
  const look = (columns: number) => lookOf(terminal(columns), { colour: false })
  assert.equal(showFailedModel(failed, sources, look(200)).split('\n'), [
    `${path}:9:3 error mart.country_sales: Could not convert string 'SE' to INT32 when casting from column country_id`,
    '  9 |   CAST(country_id AS INTEGER) AS country,',
    '    |   ^^^^',
    '  hint: TRY_CAST gives NULL where a value does not fit',
  ])
  for (const columns of WIDTHS)
    for (const line of showFailedModel(failed, sources, look(columns)).split('\n'))
      assert.ok(terminalWidth(line) <= columns, line)
  const unnamed = result('a.b', 'failed', 'A table cannot be created from an unnamed struct')
  assert.match(showFailedModel(unnamed, sources, look(200)), 'hint: name the fields')
  const elsewhere = result('a.b', 'failed', 'the table is gone')
  assert.is(showFailedModel(elsewhere, sources, look(80)), 'error a.b: the table is gone')
})

test('colours: a terminal and CI have them, --no-color, NO_COLOR and TERM=dumb not, FORCE_COLOR decides', () => {
  const isColoured = (env: Record<string, string>, isTTY: boolean, colour = true) =>
    lookOf(terminal(80, isTTY), { colour }, env).paint('red', 'x') !== 'x'
  assert.is(isColoured({}, true), true)
  assert.is(isColoured({}, false), false)
  assert.is(isColoured({ CI: 'true' }, false), true)
  assert.is(isColoured({ CI: 'false' }, false), false)
  assert.is(isColoured({ TERM: 'dumb', CI: 'true' }, true), false)
  assert.is(isColoured({ FORCE_COLOR: '1', TERM: 'dumb' }, false), true)
  assert.is(isColoured({ FORCE_COLOR: '0' }, true), false)
  assert.is(isColoured({ NO_COLOR: '1', FORCE_COLOR: '1' }, true), false)
  assert.is(isColoured({ FORCE_COLOR: '1' }, true, false), false)
})

test.run()
