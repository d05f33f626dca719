// dbt with DuckDB.

import { cp, mkdir, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { workspace } from '../../support/workspace.ts'
import { takenBy } from '../processor-time.ts'
import { pythonProgram } from './peer-cache.ts'
import {
  pipelineComparison,
  type PipelineModel,
  type PipelineProject,
  type Sources,
} from './pipeline-peer.ts'

const THREADS = 4

export const dbtPeer = pipelineComparison({
  name: 'dbt',
  title: 'dbt 1.11.16',
  settings: `dbt-duckdb 1.11.1 on DuckDB 1.5.5, ${THREADS} threads, partial parsing on; after the first build \`--select state:modified+\` against the manifest of the run before. Tables in both; the merge is an incremental model with \`unique_key\` and \`delete+insert\`, and reads what is newer than its newest row.`,
  durability: 'Both commit to a synced file of DuckDB; eider syncs directories too, and publishes.',
  goals: { unchanged: 0.1, changed: 0.1 },
  open,
})

const settings = {
  'dbt_project.yml': "name: bench\nversion: '1.0'\nprofile: bench\n",
  'profiles.yml': `bench:\n  target: dev\n  outputs:\n    dev: { type: duckdb, path: bench.duckdb, threads: ${THREADS} }\n`,
}

/** One schema for all, as a profile has it. */
const nameOf = ({ schema, table }: Pick<PipelineModel, 'schema' | 'table'>) => `${schema}_${table}`

async function open(sources: Sources): Promise<PipelineProject> {
  const dbt = pythonProgram('dbt', 'dbt')
  const space = await workspace({ ...settings, 'models/sources.yml': sourcesText(sources) })
  const env = { ...process.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' }
  const kept = space.path('state', 'manifest.json')
  const how = ['--quiet', '--profiles-dir', '.']
  const run = (args: readonly string[]) =>
    takenBy(dbt, ['run', ...how, ...args], { cwd: space.dir, env })
  return {
    attach: (name) => `ATTACH '${space.path('bench.duckdb')}' AS ${name} (READ_ONLY)`,
    tableOf: (model) => `main.${nameOf(model)}`,
    async write(model) {
      const path = space.path('models', model.schema, `${nameOf(model)}.sql`)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, textOf(model))
    },
    async build() {
      const took = run(existsSync(kept) ? ['--select', 'state:modified+', '--state', 'state'] : [])
      await cp(space.path('target', 'manifest.json'), kept)
      return took
    },
    merge: () => Promise.resolve(run([])),
    list: { command: dbt, args: ['ls', ...how, '--resource-type', 'model'], cwd: space.dir, env },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}

const sourcesText = (sources: Sources) =>
  JSON.stringify({
    sources: [
      {
        name: 'files',
        tables: Object.entries(sources).map(([name, path]) => ({
          name,
          config: { meta: { external_location: path } },
        })),
      },
    ],
  })

/** Names of models become references, from which dbt learns the order. */
function textOf({ query, merge }: PipelineModel): string {
  const text = query
    .replace(/\bfiles\.(\w+)/g, "{{ source('files', '$1') }}")
    .replace(/\b(FROM|JOIN) (\w+)\.(\w+)/g, "$1 {{ ref('$2_$3') }}")
  if (merge === undefined) return `{{ config(materialized='table') }}\n${text}\n`
  const { key, at } = merge
  return `{{ config(materialized='incremental', unique_key='${key}', incremental_strategy='delete+insert') }}
${text}
{% if is_incremental() %}WHERE ${at} > (SELECT max(${at}) FROM {{ this }}){% endif %}
`
}
