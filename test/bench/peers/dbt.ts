// dbt with DuckDB.

import { cp, mkdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { workspace } from '../../support/workspace.ts'
import { takenBy } from '../processor-time.ts'
import { nameOf } from '../small-models.ts'
import { modelsComparison, type ModelsProject } from './models-peer.ts'
import { pythonProgram } from './peer-cache.ts'

const THREADS = 4

export const dbtPeer = modelsComparison({
  name: 'dbt',
  title: 'dbt 1.11.16',
  settings: `dbt-duckdb 1.11.1 on DuckDB 1.5.5, ${THREADS} threads, partial parsing on; after the first build \`--select state:modified+\` against the manifest of the run before. Tables in both.`,
  durability: 'Both commit to a synced file of DuckDB; eider syncs directories too, and publishes.',
  goals: { unchanged: 0.1, changed: 0.1 },
  open,
})

const files = {
  'dbt_project.yml': "name: bench\nversion: '1.0'\nprofile: bench\n",
  'profiles.yml': `bench:\n  target: dev\n  outputs:\n    dev: { type: duckdb, path: bench.duckdb, threads: ${THREADS} }\n`,
}

const tableName = (i: number) => `${nameOf(i).schema}_${nameOf(i).table}`

/** Names of models become references, from which dbt learns the order. */
const textOf = (query: string) =>
  `{{ config(materialized='table') }}\n${query.replace(/\b(s\d+)\.(m\d+)\b/g, "{{ ref('$1_$2') }}")}\n`

async function open(): Promise<ModelsProject> {
  const dbt = pythonProgram('dbt', 'dbt')
  const space = await workspace(files)
  const kept = space.path('state', 'manifest.json')
  return {
    database: space.path('bench.duckdb'),
    tableOf: (i) => `main.${tableName(i)}`,
    async write(i, query) {
      const path = join(space.dir, 'models', nameOf(i).schema, `${tableName(i)}.sql`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, textOf(query))
    },
    async run() {
      const modified = ['--select', 'state:modified+', '--state', 'state']
      const args = ['run', '--quiet', '--profiles-dir', '.', ...(existsSync(kept) ? modified : [])]
      const env = { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' }
      const took = takenBy(dbt, args, { cwd: space.dir, env })
      await cp(space.path('target', 'manifest.json'), kept)
      return took
    },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}
