// What a run costs beside the engine's own work: start of the process, a run with nothing to do, a compile from
// nothing, many small models, a small change of a large table. Processes are timed whole, from start to exit.

import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { eiderProcess, type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { bareNode, timeEider, timeFigure as figure, timeNode as time } from './node-process.ts'
import { smallModels } from './small-models.ts'

const PEAK_BYTES = 300e6

export const pipelineBenchmark: Benchmark = {
  name: 'pipeline',
  async *run({ quick }) {
    const many = quick ? 200 : 1_000
    yield await version(quick ? 5 : 15)
    yield* await idle(10, 2.5, quick ? 3 : 11)
    yield* await idle(100, 3, quick ? 3 : 11)
    yield* await idle(many, 4, quick ? 3 : 11)
    yield await coldCompile(many, quick ? 2 : 5)
    yield await manySmall(quick ? 60 : 300, quick ? 1 : 5)
    yield await delta(quick ? 200_000 : 2_000_000, quick ? 2 : 5)
  },
}

async function version(rounds: number): Promise<Figure> {
  const times = await interleaved(rounds, () => timeEider(['--version'], '/'), bareNode)
  return figure('`eider --version` / bare node', times, 1.3)
}

/** Time and memory of a run after a run of the same project. */
async function idle(models: number, atMost: number, rounds: number): Promise<readonly Figure[]> {
  await using space = await workspace(smallModels(models))
  await space.ok(['run', '--quiet'])
  const times = await interleaved(rounds, () => timeEider(['run'], space.dir), bareNode)
  const what = `a run of ${models.toLocaleString('en-US')} models with nothing to do`
  const peakBytes = await peakOf(space)
  return [
    figure(`${what} / bare node`, times, atMost),
    {
      name: `peak memory of ${what} / ${PEAK_BYTES / 1e6} MB`,
      ratio: peakBytes / PEAK_BYTES,
      bound: { at: 'most', ratio: 1 },
      measured: `${Math.round(peakBytes / 1e6)} MB resident`,
    },
  ]
}

/** `ls` of a project that was never run has everything to compile and nothing else to do. */
async function coldCompile(models: number, rounds: number): Promise<Figure> {
  await using space = await workspace(smallModels(models))
  const times = await interleaved(rounds, () => timeEider(['ls'], space.dir), bareNode)
  const count = models.toLocaleString('en-US')
  return figure(`typed compile of ${count} models from nothing / bare node`, times, 25)
}

async function manySmall(models: number, rounds: number): Promise<Figure> {
  await using space = await workspace(smallModels(models))
  const script = fileURLToPath(new URL('./small-models.js', import.meta.url))
  const times = await interleaved(
    rounds,
    async () => {
      await rm(space.path('.eider'), { recursive: true, force: true })
      return timeEider(['run'], space.dir)
    },
    async () => {
      await rm(space.path('bare.duckdb'), { force: true })
      return time([script, String(models), space.path('bare.duckdb')], space.dir)
    },
  )
  return figure(`a run of ${models} small models / the same SQL from a bare script`, times, 1.1)
}

/** Of both the time of the one model, as the run reports it. */
async function delta(rows: number, rounds: number): Promise<Figure> {
  await using space = await workspace({
    'eider.yml': 'name: bench\n',
    'models/raw/items.sql': source(rows, 0),
    'models/mart/items.sql':
      '-- @kind: merge\n-- @unique_key: id\n-- @incremental: at\nFROM raw.items\n',
  })
  await space.ok(['run', '--quiet'])
  let change = 0
  const measure = async (flags: readonly string[]) => {
    change++
    await writeFile(space.path('models/raw/items.sql'), source(rows, change))
    await space.ok(['run', 'raw.items', '--quiet'])
    await space.ok(['run', 'mart.items', '--quiet', ...flags])
    return builtIn(space, 'mart.items')
  }
  const times = await interleaved(
    rounds,
    () => measure([]),
    () => measure(['--full-refresh', '--drop-history']),
  )
  const count = rows.toLocaleString('en-US')
  return figure(`merge of a change of 1 % of ${count} rows / its full rebuild`, times, 0.12)
}

/** Each change gives another hundredth of the rows another amount and a later time. */
const source = (rows: number, change: number) => `-- @kind: table
SELECT i AS id, 'customer ' || (i % 9973) AS customer, 'a remark of some length on ' || i AS note,
  i % 7 + n AS amount, TIMESTAMP '2024-01-01' + to_seconds(i) + to_years(n) AS at
FROM (SELECT i, CASE WHEN i % 100 < ${change} THEN i % 100 + 1 ELSE 0 END::INTEGER AS n FROM range(${rows}) AS r(i))
`

async function builtIn(space: Workspace, name: string): Promise<number> {
  const { models } = JSON.parse(await readFile(space.path('target/run_results.json'), 'utf8')) as {
    models: readonly { model: string; status: string; ms: number }[]
  }
  const result = models.find(({ model }) => model === name)
  if (result?.status !== 'built') throw new Error(`${name} was not built: ${result?.status}`)
  return result.ms
}

async function peakOf(space: Workspace): Promise<number> {
  const preload = space.path('peak.cjs')
  await writeFile(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(space.path('peak'))}, String(process.resourceUsage().maxRSS)))`,
  )
  const { args } = eiderProcess(['run'])
  await time(['--require', preload, ...args], space.dir)
  return Number(await readFile(space.path('peak'), 'utf8')) * 1024
}
