// SQLMesh with DuckDB.

import { workspace } from '../../support/workspace.ts'
import { takenBy } from '../processor-time.ts'
import { nameOf } from '../small-models.ts'
import { modelsComparison, type ModelsProject } from './models-peer.ts'
import { pythonProgram } from './peer-cache.ts'

export const sqlmeshPeer = modelsComparison({
  name: 'sqlmesh',
  title: 'SQLMesh 0.236.4',
  settings:
    'DuckDB 1.5.5, its state in the same file, models of the kind FULL; `sqlmesh plan --auto-apply --no-prompts` for all of it, so that both find out alone what changed.',
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

async function open(): Promise<ModelsProject> {
  const sqlmesh = pythonProgram('sqlmesh', 'sqlmesh')
  const space = await workspace({ 'config.yaml': config })
  return {
    database: space.path('bench.duckdb'),
    tableOf: (i) => `${nameOf(i).schema}.${nameOf(i).table}`,
    write(i, query) {
      const { schema, table } = nameOf(i)
      const text = `MODEL (name ${schema}.${table}, kind FULL);\n\n${query}\n`
      return space.write(`models/${schema}/${table}.sql`, text)
    },
    async run() {
      const env = { ...process.env, SQLMESH__DISABLE_ANONYMIZED_ANALYTICS: 'true' }
      return takenBy(sqlmesh, ['plan', '--auto-apply', '--no-prompts'], { cwd: space.dir, env })
    },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}
