// OndatraSQL, of which no registry has a program: it takes part where EIDER_ONDATRA names one.

import { execFileSync } from 'node:child_process'
import { workspace } from '../../support/workspace.ts'
import { takenBy } from '../processor-time.ts'
import { pipelineComparison, type PipelineProject, type Sources } from './pipeline-peer.ts'

const program = process.env['EIDER_ONDATRA']

export const ondatraPeer = pipelineComparison({
  name: 'ondatra',
  title: 'OndatraSQL',
  version: () => execFileSync(program!, ['version'], { encoding: 'utf8' }).trim(),
  settings:
    'As `ondatrasql init` sets it up: DuckLake, its catalog in SQLite and rows in Parquet; `ondatrasql run`. No merge: a model that reads files is not run again when they change. 100 models, as each of many takes it longer.',
  durability:
    'eider commits to a synced file of DuckDB, syncs directories and publishes; OndatraSQL syncs its catalog and not the Parquet files.',
  models: 100,
  goals: { unchanged: null, changed: null },
  missing: () =>
    program === undefined ? ['EIDER_ONDATRA names no program, and no registry has one'] : [],
  open,
})

async function open(sources: Sources): Promise<PipelineProject> {
  const space = await workspace()
  execFileSync(program!, ['init'], { cwd: space.dir, stdio: 'pipe' })
  return {
    // The extensions are those that it has installed for itself.
    attach: (name) =>
      `LOAD ducklake; LOAD sqlite; ATTACH 'ducklake:sqlite:${space.path('ducklake.sqlite')}' AS ${name} (DATA_PATH '${space.path('ducklake.sqlite.files')}/', OVERRIDE_DATA_PATH true, READ_ONLY)`,
    tableOf: ({ schema, table }) => `${schema}.${table}`,
    write({ schema, table, query }) {
      const text = query.replace(
        /\bfiles\.(\w+)/g,
        (_, name: string) => `read_parquet('${sources[name]}')`,
      )
      return space.write(`models/${schema}/${table}.sql`, `-- @kind: table\n${text}\n`)
    },
    build: () => Promise.resolve(takenBy(program!, ['run'], { cwd: space.dir })),
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose](),
  }
}
