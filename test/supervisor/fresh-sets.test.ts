import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Catalog } from '../../src/core/catalog.ts'
import type { SetBehind } from '../../src/core/report/up.ts'
import { FreshSets } from '../../src/supervisor/fresh-sets.ts'

/** What runs have noted, and what is told. */
function watched(before: readonly SetBehind[] = []) {
  const told: string[] = []
  const noted = { states: null as Catalog['states'] | null, reads: 0 }
  const sets = new FreshSets({
    read: () => {
      noted.reads++
      return Promise.resolve(noted.states)
    },
    before,
    onBehind: ({ name }) => void told.push(`${name} behind`),
    onFresh: ({ name, fresh_at: at }) => void told.push(`${name} fresh at ${at}`),
  })
  return { sets, told, noted }
}

const isoText = (ms: number) => new Date(ms).toISOString()

const stateOf = (freshMs: number | null, within?: number) => ({
  run_id: '1',
  at: '2026-01-01T00:00:00.000Z',
  status: 'unchanged' as const,
  because: 'nothing changed',
  ms: 1,
  warnings: [],
  warned: 0,
  builds: [],
  ...(freshMs === null ? {} : { fresh_at: isoText(freshMs) }),
  ...(within === undefined ? {} : { fresh_within: within }),
})

test('a set is told of once when it is behind, and once when it is fresh again', async () => {
  const { sets, told, noted } = watched()
  const nowMs = Date.now() + 1_000
  noted.states = { 'mart.a': stateOf(nowMs, 10), 'mart.b': stateOf(nowMs) }
  await sets.look(nowMs + 10_000)
  assert.equal(told, [])
  await sets.look(nowMs + 10_001)
  await sets.look(nowMs + 11_000)
  assert.equal(told, ['mart_a behind'])
  assert.equal(
    sets.behind.map(({ name }) => name),
    ['mart_a'],
  )
  noted.states = { 'mart.a': stateOf(nowMs + 11_500, 10) }
  await sets.look(nowMs + 12_000)
  await sets.look(nowMs + 13_000)
  assert.equal(told, ['mart_a behind', `mart_a fresh at ${isoText(nowMs + 11_500)}`])
  assert.equal(sets.behind, [])
})

test('a run by hand is noticed before anything is told', async () => {
  const { sets, told, noted } = watched()
  const nowMs = Date.now() + 1_000
  noted.states = { 'mart.a': stateOf(nowMs, 10) }
  await sets.look(nowMs)
  noted.states = { 'mart.a': stateOf(nowMs + 9_000, 10) }
  await sets.look(nowMs + 15_000)
  assert.equal(told, [])
})

test('what runs have noted is read when one has ended, and not each time', async () => {
  const { sets, told, noted } = watched()
  const nowMs = Date.now() + 1_000
  await sets.look(nowMs)
  await sets.look(nowMs + 1_000)
  assert.is(noted.reads, 1)
  noted.states = { 'mart.a': stateOf(null, 10) }
  sets.noteRun()
  await sets.look(nowMs + 2_000)
  assert.is(noted.reads, 2)
  await sets.look(nowMs + 20_000)
  assert.equal(told, ['mart_a behind'])
})

test('time in which no supervisor was there does not count, and nothing is told again by the next', async () => {
  const nowMs = Date.now()
  const old = watched()
  old.noted.states = { 'mart.a': stateOf(nowMs - 3_600_000, 10) }
  await old.sets.look(nowMs)
  assert.equal(old.told, [])
  const before = [{ name: 'mart_a', fresh_at: null, fresh_within: 10 }]
  const next = watched(before)
  next.noted.states = { 'mart.a': stateOf(nowMs - 3_600_000, 10) }
  await next.sets.look(nowMs + 1_000)
  await next.sets.look(nowMs + 60_000)
  assert.equal(next.told, [])
  next.noted.states = { 'mart.a': stateOf(nowMs + 60_000, 10) }
  await next.sets.look(nowMs + 61_000)
  assert.equal(next.told, [`mart_a fresh at ${isoText(nowMs + 60_000)}`])
})

test('a promise that is taken back is told of as kept', async () => {
  const { sets, told, noted } = watched([{ name: 'mart_a', fresh_at: null, fresh_within: 10 }])
  noted.states = { 'mart.a': stateOf(null) }
  await sets.look(Date.now())
  assert.equal(told, ['mart_a fresh at null'])
})

test.run()
