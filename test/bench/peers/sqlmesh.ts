// SQLMesh with DuckDB.

import { workspace } from '../../support/workspace.ts'
import { takenBy } from '../processor-time.ts'
import { pythonProgram } from './peer-cache.ts'
import {
  pipelineComparison,
  type PipelineModel,
  type PipelineProject,
  type Sources,
} from './pipeline-peer.ts'

export const sqlmeshPeer = pipelineComparison({
  name: 'sqlmesh',
  title: 'SQLMesh 0.236.4',
  settings:
    'DuckDB 1.5.5, its state in the same file, models of the kind FULL; `sqlmesh plan --auto-apply --no-prompts` for all of it, so that both look for what has changed. The merge is a model of the kind INCREMENTAL_BY_UNIQUE_KEY, and `sqlmesh run --ignore-cron` reads the day that is new.',
  durability: 'Both commit to a synced file of DuckDB; eider syncs directories too, and publishes.',
  goals: { unchanged: null, changed: null },
  open,
})

const config = `gateways:
  local:
    connection: { type: duckdb, database: bench.duckdb }
default_gateway: local
model_defaults: { dialect: duckdb, start: 2024-01-01 }
disable_anonymized_analytics: true
`

const plan = ['plan', '--auto-apply', '--no-prompts']

async function open(sources: Sources): Promise<PipelineProject> {
  const sqlmesh = pythonProgram('sqlmesh', 'sqlmesh')
  const space = await workspace({ 'config.yaml': config })
  const env = { ...process.env, SQLMESH__DISABLE_ANONYMIZED_ANALYTICS: 'true' }
  const run = (args: readonly string[]) =>
    Promise.resolve(takenBy(sqlmesh, args, { cwd: space.dir, env }))
  return {
    attach: (name) => `ATTACH '${space.path('bench.duckdb')}' AS ${name} (READ_ONLY)`,
    tableOf: ({ schema, table }) => `${schema}.${table}`,
    write: (model) =>
      space.write(`models/${model.schema}/${model.table}.sql`, textOf(model, sources)),
    build: () => run(plan),
    prepare: () => run([...plan, '--skip-backfill']),
    merge: (day) => run(['run', '--ignore-cron', '--end', day]),
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}

function textOf({ schema, table, query, merge }: PipelineModel, sources: Sources): string {
  const text = query.replace(
    /\bfiles\.(\w+)/g,
    (_, name: string) => `read_parquet('${sources[name]}')`,
  )
  if (merge === undefined) return `MODEL (name ${schema}.${table}, kind FULL);\n\n${text}\n`
  const { key, at } = merge
  return `MODEL (name ${schema}.${table}, kind INCREMENTAL_BY_UNIQUE_KEY (unique_key ${key}));

${text}
WHERE ${at} BETWEEN @start_ts AND @end_ts
`
}
