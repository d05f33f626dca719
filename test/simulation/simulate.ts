// Lives of one project by their seeds.
//
//   node dist/test/simulation/simulate.js SEED          prints what happens in that life
//   node dist/test/simulation/simulate.js FIRST LAST '{"cuts":true}'    some of what may befall them (plan.ts) is given
//   node dist/test/simulation/simulate.js FIRST LAST    lives until something is wrong, and prints that life

import './install.ts'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from '../../src/compiler/compile.ts'
import { loadProject } from '../../src/project/load.ts'
import { writeFiles } from '../crash/recorded-disk.ts'
import { Life } from './life.ts'
import type { Compiled } from './machine.ts'
import type { Lived, Plan } from './plan.ts'

/** A disk that need not be waited for, where there is one: what is synced on it is decided here. */
const MEMORY = '/dev/shm'

const FILES = {
  'eider.yml': 'name: simulated\nthreads: 1\n',
  'models/raw/events.sql':
    '-- @kind: events\ncall INTEGER NOT NULL, i INTEGER NOT NULL, note VARCHAR, received_at TIMESTAMP WITH TIME ZONE',
  'models/mart/calls.sql':
    '-- @kind: table\n-- @expose call\nSELECT call, count(*)::INTEGER AS n FROM raw.events GROUP BY ALL',
  'models/mart/totals.sql':
    '-- @kind: table\n-- @expose one\nSELECT 1 AS one, coalesce(sum(n), 0)::INTEGER AS n FROM mart.calls',
  'models/mart/kept.sql':
    '-- @kind: append\n-- @incremental: received_at\nSELECT call, i, received_at FROM raw.events',
}

interface Simulation extends AsyncDisposable {
  live(seed: number, plan?: Partial<Plan>): Promise<Lived>
}

async function openSimulation(): Promise<Simulation> {
  const dir = await mkdtemp(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'eider-simulation-'))
  await writeFiles(
    dir,
    new Map(Object.entries(FILES).map(([path, text]) => [path, Buffer.from(text)])),
  )
  const project = await loadProject(dir, { env: {}, flags: {} })
  const paths = { ...project.paths, target: join(project.paths.state, 'target') }
  const compiled: Compiled = {
    project: { ...project, paths },
    models: await compile(project.files, { dir }),
  }
  // What is looked up once in a process of Node is known from here on.
  await new Life(0, compiled).live()
  return {
    async live(seed, plan) {
      const lived = await new Life(seed, compiled, plan).live()
      return { seed, ...lived }
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first = 1, last = first] = process.argv.slice(2, 4).map(Number)
  const plan = JSON.parse(process.argv[4] ?? '{}') as Partial<Plan>
  await using simulation = await openSimulation()
  for (let seed = first; seed <= last && process.exitCode === undefined; seed++) {
    const { lines, ...lived } = await simulation.live(seed, plan)
    const { wrong } = lived
    if (first === last || wrong !== null) process.stdout.write(`${lines.join('\n')}\n`)
    process.stdout.write(`${JSON.stringify(lived)}\n`)
    if (wrong !== null) process.exitCode = 1
  }
}
