// A project of eider, as its peers are asked for one.

import { eiderProcess, workspace } from '../../support/workspace.ts'
import { takenByEider } from '../processor-time.ts'
import type { PipelineModel, PipelineProject, Sources } from './pipeline-peer.ts'

export async function eiderProject(sources: Sources): Promise<PipelineProject> {
  const space = await workspace({ 'eider.yml': settingsOf(sources) })
  const run = async () => takenByEider(['run', '--quiet'], space.dir)
  return {
    attach: (name) => `ATTACH '${space.path('.eider/warehouse.duckdb')}' AS ${name} (READ_ONLY)`,
    tableOf: ({ schema, table }) => `${schema}.${table}`,
    write: (model) => space.write(`models/${model.schema}/${model.table}.sql`, textOf(model)),
    build: run,
    merge: run,
    list: { ...eiderProcess(['ls']), cwd: space.dir },
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}

/** A project that reads sources is compiled in each run, so those of others name none. */
const settingsOf = (sources: Sources) => {
  const tables = Object.entries(sources).map(([name, file]) => [name, { file }] as const)
  const files = tables.length === 0 ? {} : { files: { tables: Object.fromEntries(tables) } }
  return JSON.stringify({ name: 'bench', sources: files })
}

const textOf = ({ query, merge }: PipelineModel) =>
  merge === undefined
    ? `-- @kind: table\n${query}\n`
    : `-- @kind: merge\n-- @unique_key: ${merge.key}\n-- @incremental: ${merge.at}\n${query}\n`
