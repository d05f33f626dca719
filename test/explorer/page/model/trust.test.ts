import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { CatalogModel, CatalogState } from '../../../../src/core/catalog.ts'
import { resultsOf, trustOf, verdicts } from '../../../../src/explorer/page/model/trust.ts'

const model = (name: string, reads: readonly string[] = []): CatalogModel => ({
  name,
  kind: 'table',
  description: null,
  owner: `owner of ${name}`,
  tags: [],
  set: null,
  depends_on: reads,
  sources: [],
  columns: [],
  checks: [
    { severity: 'fail', text: 'unique(id)' },
    { severity: 'fail', text: 'goods_total < 100' },
    { severity: 'warn', text: 'core.others: fee > 1' },
  ],
  path: null,
  sql: null,
})

const BUILT_AT = '2026-01-01T17:40:00.000Z'
const FAILED_AT = '2026-01-01T18:00:00.000Z'

const state = (status: CatalogState['status'], more: Partial<CatalogState> = {}): CatalogState => ({
  run_id: 'later',
  at: FAILED_AT,
  status,
  because: '',
  ms: 1,
  warnings: [],
  warned: 0,
  builds: [{ at: BUILT_AT, rows: 9, ms: 1 }],
  ...more,
})

const runs = [
  {
    run_id: 'made-them',
    started_at: BUILT_AT,
    ms: 1,
    ok: true,
    built: 1,
    unchanged: 0,
    failed: 0,
    skipped: 0,
    warned: 0,
    events: 0,
    rejected: 0,
  },
]

const { checks } = model('core.orders')
const said = (of: ReturnType<typeof resultsOf>) =>
  of.checks.map(({ result, rows }) => (rows === null ? result : `${result} ${rows}`))

test('a check has the result that the run has written', () => {
  const because =
    "models/core/orders.sql:6:4: goods_total < 100 does not hold for 1,750 rows: {'a': 1}; {'a': 2}; and more"
  assert.equal(said(resultsOf(checks, state('failed', { because }))), [
    'holds',
    'found 1,750',
    'unknown',
  ])
  const both = `a.sql:5:4: unique(id) finds 1 row: {'id': 3}; ${because}`
  assert.equal(said(resultsOf(checks, state('failed', { because: both }))), [
    'found 1',
    'found 1,750',
    'unknown',
  ])
  const warning = 'a.sql:7:4: fee > 1 does not hold for 3 rows of core.others: {}'
  assert.equal(resultsOf(checks, state('unchanged', { warnings: [warning, 'late'] })).warnings, [
    'late',
  ])
  assert.equal(said(resultsOf(checks, state('built', { warnings: [warning] }))), [
    'holds',
    'holds',
    'found 3',
  ])
  const many = [{ severity: 'fail', text: 'row_count(> 100)' } as const]
  const counted = 'a.sql:5:4: row_count(> 100) does not hold: core.orders has 4 rows'
  assert.equal(said(resultsOf(many, state('failed', { because: counted }))), ['found 4'])
})

test('where a model failed before its checks, none of them holds or fails', () => {
  const because = 'models/core/orders.sql:9:1: no column "a"'
  assert.equal(said(resultsOf(checks, state('failed', { because }))), [
    'unknown',
    'unknown',
    'unknown',
  ])
  assert.equal(said(resultsOf(checks, undefined)), ['unknown', 'unknown', 'unknown'])
})

test('a value of a row is not taken for the result of a check', () => {
  const because =
    "a.sql:6:4: goods_total < 100 does not hold for 2 rows: {'name': 'a.sql:5:4: unique(id) finds 9 rows'}"
  assert.equal(said(resultsOf(checks, state('failed', { because }))), [
    'holds',
    'found 2',
    'unknown',
  ])
})

test('a set whose input failed has rows of before, however far away the input is', () => {
  const models = [model('a.raw'), model('b.stage', ['a.raw']), model('c.mart', ['b.stage'])]
  const states = {
    'a.raw': state('failed'),
    'b.stage': state('skipped'),
    'c.mart': state('skipped'),
  }
  const catalog = { models, states, runs }
  const trust = trustOf(catalog, 'c.mart', '2026-01-01T19:00:00.000Z')
  assert.is(trust.verdict, 'failed')
  assert.equal(trust.upstream, ['a.raw'])
  assert.equal(trust.rowsOf, { at: BUILT_AT, runId: 'made-them' })
  assert.is(trust.checkedAt, null)
  assert.is(trust.owner, 'owner of c.mart')
  assert.equal(
    models.map(({ name }) => verdicts(catalog)(name)),
    ['failed', 'failed', 'failed'],
  )
})

test('a run that found nothing to publish counts as a look at the rows', () => {
  const catalog = (of: CatalogState) => ({ models: [model('a.b')], states: { 'a.b': of }, runs })
  const unchanged = trustOf(catalog(state('unchanged')), 'a.b', null)
  assert.is(unchanged.verdict, 'good')
  assert.is(unchanged.checkedAt, FAILED_AT)
  assert.equal(unchanged.rowsOf?.at, BUILT_AT)
  // A run that the catalog does not know of yet.
  const later = '2026-01-02T00:00:00.000Z'
  assert.is(trustOf(catalog(state('unchanged')), 'a.b', later).checkedAt, later)
  assert.is(
    trustOf(catalog(state('failed', { fresh_at: BUILT_AT })), 'a.b', later).checkedAt,
    BUILT_AT,
  )
})

test('with sets alone a failure is known, and no word of it', () => {
  const bare = { ...model('a.b'), owner: null, checks: [] }
  const catalog = { models: [bare], states: { 'a.b': state('failed') }, runs: [] }
  const trust = trustOf(catalog, 'a.b', null)
  assert.is(trust.verdict, 'failed')
  assert.equal([trust.checks, trust.owner, trust.failed?.because], [[], null, ''])
})

test('a set that is further behind than it promises says by how much', () => {
  const of = (within: number) =>
    trustOf(
      {
        models: [model('a.b')],
        states: { 'a.b': state('built', { fresh_at: BUILT_AT, fresh_within: within }) },
        runs,
      },
      'a.b',
      null,
    ).lateBy
  assert.is(of(1e12), null)
  assert.ok(of(60)! > 60)
})

test.run()
