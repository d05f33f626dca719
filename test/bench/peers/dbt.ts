// A project of many small models with dbt and DuckDB: build all of them, change one, change none. Processes are timed whole.

import { execFileSync } from 'node:child_process'
import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { type Workspace, workspace } from '../../support/workspace.ts'
import { interleaved, median } from '../figure.ts'
import { timeEider } from '../node-process.ts'
import { changedModel, nameOf, queryOf, smallModels } from '../small-models.ts'
import { pythonProgram } from './peer-cache.ts'
import type { PeerBenchmark, PeerFigure } from './peer.ts'

const SCHEMA = 'main'

export const dbtPeer: PeerBenchmark = {
  name: 'dbt',
  async run({ quick }) {
    const models = quick ? 100 : 1_000
    const rounds = quick ? 1 : 5
    const dbt = pythonProgram('dbt')
    await using space = await workspace(smallModels(models))
    await using other = await workspace()
    await writeProject(other, models)
    await space.ok(['run', '--quiet'], { timeoutMs: 600_000 })
    runDbt(dbt, other, ['run'])
    let change = 0
    const last = models - 1
    const edit = async () => {
      const { path, text, query } = changedModel(last, ++change)
      await space.write(path, text)
      await other.write(dbtPath(last), dbtText(query))
    }
    const keepState = () =>
      cp(other.path('target/manifest.json'), other.path('state/manifest.json'))
    await keepState()
    const unchanged = await interleaved(
      rounds,
      () => timeEider(['run'], space.dir),
      () => Promise.resolve(runDbt(dbt, other, MODIFIED)),
    )
    const times = { ours: [] as number[], others: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      await edit()
      times.others.push(runDbt(dbt, other, MODIFIED))
      await keepState()
      times.ours.push(await timeEider(['run'], space.dir))
    }
    const changed = { ours: median(times.ours), baseline: median(times.others) }
    await compareTables(space, other, models)
    const count = models.toLocaleString('en-US')
    const note = 'partial parsing on, state:modified+ against the manifest before, 4 threads'
    const figure = (
      work: string,
      ms: { ours: number; baseline: number },
      goal: number | null,
    ): PeerFigure => ({
      work,
      peer: 'dbt 1.11.16 on DuckDB 1.5.5',
      eider: ms.ours,
      other: ms.baseline,
      unit: 'ms',
      goal,
      note,
    })
    return [
      figure(`a run of ${count} models with nothing to do`, unchanged, 0.1),
      figure(`a run with one changed model of ${count}`, changed, 0.1),
    ]
  },
}

const MODIFIED = ['run', '--select', 'state:modified+', '--state', 'state']

const dbtName = (i: number) => `${nameOf(i).schema}_${nameOf(i).table}`
const dbtPath = (i: number) => `models/${nameOf(i).schema}/${dbtName(i)}.sql`

/** Names of models become references, from which dbt learns the order. */
const dbtText = (query: string) =>
  `{{ config(materialized='table') }}\n${query.replace(/\b(s\d+)\.(m\d+)\b/g, "{{ ref('$1_$2') }}")}\n`

async function writeProject(space: Workspace, models: number): Promise<void> {
  await space.write('dbt_project.yml', "name: bench\nversion: '1.0'\nprofile: bench\n")
  await space.write(
    'profiles.yml',
    `bench:\n  target: dev\n  outputs:\n    dev: { type: duckdb, path: bench.duckdb, schema: ${SCHEMA}, threads: 4 }\n`,
  )
  for (let i = 0; i < models; i++) {
    await mkdir(dirname(join(space.dir, dbtPath(i))), { recursive: true })
    await writeFile(join(space.dir, dbtPath(i)), dbtText(queryOf(i)))
  }
}

function runDbt(dbt: string, { dir }: Workspace, args: readonly string[]): number {
  const startedMs = performance.now()
  execFileSync(dbt, [...args, '--quiet', '--profiles-dir', '.'], {
    cwd: dir,
    stdio: 'pipe',
    env: { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' },
  })
  return performance.now() - startedMs
}

/** Every table of both has the same rows. */
async function compareTables(space: Workspace, other: Workspace, models: number): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`ATTACH '${space.path('.eider/warehouse.duckdb')}' AS ours (READ_ONLY)`)
  await connection.run(`ATTACH '${other.path('bench.duckdb')}' AS theirs (READ_ONLY)`)
  for (let i = 0; i < models; i++) {
    const { schema, table } = nameOf(i)
    const [a, b] = [`ours.${schema}.${table}`, `theirs.${SCHEMA}.${dbtName(i)}`]
    const rows = await connection.runAndReadAll(
      `(FROM ${a} EXCEPT ALL FROM ${b}) UNION ALL (FROM ${b} EXCEPT ALL FROM ${a})`,
    )
    if (rows.currentRowCount > 0) throw new Error(`${schema}.${table} differs`)
  }
  connection.closeSync()
  instance.closeSync()
}
