// What a run with nothing to do costs where a project has something that its note has to know more of, beside the same
// project without it. Processor time of the whole command.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { takenByEider } from './processor-time.ts'
import { smallModels } from './small-models.ts'

interface Addition {
  readonly what: string
  readonly files: Readonly<Record<string, string>>
  /** Of the run that is measured; none: of all models. */
  readonly args?: readonly string[]
  /** Each run ends with exit code 1. */
  readonly fails?: true
}

const DATA = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [`data/part-${i}.csv`, `id,amount\n${i},${i * 2}\n`]),
)

const ADDITIONS: readonly Addition[] = [
  {
    what: 'a view on `current_date`',
    files: {
      'models/s0/recent.sql': '-- @kind: view\nSELECT id, current_date AS day FROM s0.m0\n',
    },
  },
  {
    what: 'an exposed table on `current_date`',
    files: {
      'models/s0/recent.sql':
        '-- @kind: table\n-- @expose: id\nSELECT id, current_date AS day FROM s0.m0\n',
    },
  },
  {
    what: 'a view on `now()`',
    files: { 'models/s0/clock.sql': '-- @kind: view\nSELECT id, now() AS at FROM s0.m0\n' },
  },
  {
    what: 'a pattern of 20 files',
    files: { ...DATA, 'models/s0/parts.sql': "SELECT * FROM read_csv('data/*.csv')\n" },
  },
  {
    what: 'a model whose check fails',
    files: { 'models/s0/wrong.sql': '-- @kind: table\n-- @check: id < 3\nSELECT id FROM s0.m0\n' },
    fails: true,
  },
  {
    what: 'a model that does not compile',
    files: { 'models/s0/wrong.sql': 'SELECT nothing FROM s0.m0\n' },
    fails: true,
  },
  { what: 'a selection', files: {}, args: ['s0.m0'] },
]

const MODELS = 10

export const idleBenchmark: Benchmark = {
  name: 'idle',
  async *run({ quick }) {
    const rounds = quick ? 3 : 11
    for (const addition of ADDITIONS) yield await figureOf(addition, MODELS, rounds)
    yield await figureOf(ADDITIONS[0]!, quick ? 200 : 1_000, rounds)
  },
}

async function figureOf(addition: Addition, models: number, rounds: number): Promise<Figure> {
  const { what, files, args = [], fails } = addition
  const exitCode = fails === true ? 1 : 0
  await using plain = await settled(smallModels(models))
  await using ours = await settled({ ...smallModels(models), ...files }, exitCode)
  const times = await interleaved(
    rounds,
    () => processorMs(ours, args, exitCode),
    () => processorMs(plain, [], 0),
  )
  const ms = (time: number) => `${Math.round(time)} ms`
  return {
    name: `a run with nothing to do of ${models.toLocaleString('en-US')} models, with ${what} / plain`,
    ratio: times.ours / times.baseline,
    bound: { at: 'most', ratio: 1.3 },
    measured: `${ms(times.ours)} against ${ms(times.baseline)} of processors`,
  }
}

/** After a run that found nothing to do, a while after all files were written. */
async function settled(files: Readonly<Record<string, string>>, exitCode = 0): Promise<Workspace> {
  const space = await workspace(files)
  await space.ok(['run', '--quiet'], { exitCode, timeoutMs: 600_000 })
  await sleep(500)
  await space.ok(['run', '--quiet'], { exitCode })
  return space
}

async function processorMs({ dir }: Workspace, args: readonly string[], exitCode: number) {
  return takenByEider(['run', '--quiet', ...args], dir, exitCode).processorMs
}
