import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showProfile } from '../../src/cli/show-profile.ts'
import { ProfiledRun } from '../../src/report/profiled-run.ts'
import type { Phase, RunEvent } from '../../src/core/report/progress.ts'
import type { RunProfile } from '../../src/core/report/run-profile.ts'
import { modelName } from '../support/model-name.ts'
import { workspace } from '../support/workspace.ts'

const finished = (name: string, ms: number, more: object = {}): RunEvent => ({
  event: 'model-finished',
  model: modelName(name),
  status: 'built',
  because: 'first build',
  ms,
  ...more,
})
const phase = (name: string, what: Phase['phase'], ms: number): Phase => ({
  model: modelName(name),
  phase: what,
  startedMs: 0,
  ms,
})

test('what a run says is summed up by model', () => {
  const profiled = new ProfiledRun(performance.now() - 1000)
  profiled.note({ event: 'run-started', run_id: 'r', models: 4 })
  profiled.note({
    event: 'flush-finished',
    model: modelName('raw.e'),
    events: 1,
    rejected: 0,
    ms: 30,
  })
  const started = (name: string) =>
    profiled.note({ event: 'model-started', model: modelName(name), because: '' })
  profiled.noteUse({ memory_bytes: 900, spilled_bytes: 0 })
  started('a.quick')
  profiled.notePhase(phase('a.quick', 'build', 1))
  profiled.note(finished('a.quick', 1.26))
  started('a.slow')
  profiled.noteUse({ memory_bytes: 700, spilled_bytes: 0 })
  profiled.noteUse({ memory_bytes: 500, spilled_bytes: 40 })
  profiled.notePhase(phase('a.slow', 'build', 20))
  profiled.notePhase(phase('a.slow', 'checks', 5))
  profiled.note(finished('a.slow', 30, { rows: 12 }))
  profiled.note(finished('a.same', 0, { status: 'unchanged' }))
  profiled.note(finished('a.left', 0, { status: 'skipped' }))
  for (const name of ['a.slow', 'a.same']) profiled.notePhase(phase(name, 'publish', 10))
  profiled.note({ event: 'published', snapshot: 's', relations: 2, ms: 21 })
  const profile = profiled.profile()
  assert.equal(profile.models, [
    {
      model: modelName('a.slow'),
      status: 'built',
      ms: 40,
      build_ms: 20,
      checks_ms: 5,
      publish_ms: 10,
      rows: 12,
      peak_memory_bytes: 700,
      spilled_bytes: 40,
    },
    {
      model: modelName('a.quick'),
      status: 'built',
      ms: 1.3,
      build_ms: 1,
      checks_ms: 0,
      publish_ms: 0,
      rows: null,
      peak_memory_bytes: null,
      spilled_bytes: null,
    },
  ])
  assert.equal([profile.flush_ms, profile.publish_ms], [30, 21])
  assert.equal([profile.peak_memory_bytes, profile.spilled_bytes], [900, 40])
  assert.ok(profile.compile_ms >= 1000 && profile.ms >= profile.compile_ms)
  const text = showProfile(profile)
  assert.match(text, /a\.slow +97% +40 ms +20 ms +5 ms +10 ms +12 +700 bytes +40 bytes/)
  assert.match(text, /flush 30 ms, models .*, publish 21 ms, other .*; peak memory 900 bytes/)
})

test('many models are a table of the longest and a sum of the others', () => {
  const profiled = new ProfiledRun(performance.now())
  for (let i = 1; i <= 25; i++) profiled.note(finished(`a.m${i}`, i))
  const lines = showProfile(profiled.profile()).split('\n')
  assert.match(lines[2]!, /^a\.m25 /)
  assert.is(lines[22], 'and 5 more, 15 ms')
})

test('run --profile measures a real run, and one that fails', async () => {
  await using space = await workspace({
    'eider.yml': 'name: p\n',
    'models/a/long.sql':
      '-- @expose id\n-- @check id >= 0\nSELECT i AS id, hash(i) AS h FROM range(700000) r(i)',
    'models/a/broken.sql': "SELECT CAST('x' || h AS INTEGER) AS x FROM a.long",
  })
  const { stdout } = await space.ok(['run', '--profile', '--json'], { exitCode: 1 })
  const events = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string })
  assert.equal(
    events.slice(-2).map(({ event }) => event),
    ['run-profile', 'run-finished'],
  )
  const profile = events.at(-2) as unknown as RunProfile
  const [long, broken] = ['a.long', 'a.broken'].map((name) =>
    profile.models.find(({ model }) => model === name),
  )
  assert.is(long?.rows, 700_000)
  assert.ok(long!.build_ms > 0 && long!.checks_ms > 0 && long!.publish_ms > 0)
  assert.ok(long!.ms >= long!.build_ms + long!.checks_ms + long!.publish_ms)
  assert.ok(long!.peak_memory_bytes! > 100_000, String(long!.peak_memory_bytes))
  assert.is(broken?.status, 'failed')
  const { compile_ms, flush_ms, models_ms, publish_ms, other_ms, ms } = profile
  const parts = compile_ms + flush_ms + models_ms + publish_ms + other_ms
  assert.ok(Math.abs(parts - ms) < 2, `${parts} of ${ms}`)
})

test.run()
