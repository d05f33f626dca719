// What runs have said of rows, and what checks have kept of them: a failed check shows rows, and so may the error of a cast.
// The results of runs stay, without these texts. Of a model that has nothing to do with the rows, the newest text stays. Older ones
// are of a time in which it may have read other tables. Those of a name that is gone from the project, and of a model that was
// edited since its last build, may be of anything.

import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { knownModels } from '../../compiler/select.ts'
import type { CompiledProject } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'
import type { Known } from '../../store/state.ts'
import { KEPT_IN } from '../build/run-checks.ts'
import { outdatedModels } from './outdated.ts'
import type { Reach } from './reach.ts'

interface Concerned {
  readonly project: Pick<CompiledProject, 'models' | 'failed'>
  readonly reach: Pick<Reach, 'all'>
  readonly known: Pick<Known, 'state'>
}

const REMOVED = 'this text was removed by eider erase'

interface Said {
  readonly models?: readonly {
    readonly model: ModelName
    readonly status: string
    readonly because: string
    readonly warnings?: readonly string[]
  }[]
}

/** In the transaction of the caller. */
export async function forgetSaid(connection: Connection, concerned: Concerned): Promise<void> {
  const runs = await connection.rows(sql`
    SELECT run_id, summary::VARCHAR AS summary FROM _eider.runs
    WHERE contains(summary::VARCHAR, '"failed"') OR contains(summary::VARCHAR, '"warnings"')`)
  if (runs.length === 0) return
  const others = otherModels(concerned)
  const newest = await newestRuns(connection)
  for (const { run_id: id, summary } of runs) {
    const runId = textOf(id)
    const stays = (model: ModelName) => others.has(foldCase(model)) && newest.get(model) === runId
    const before = textOf(summary)
    const after = JSON.stringify(withoutTexts(JSON.parse(before) as Said, stays))
    if (after !== before)
      await connection.run(sql`
        UPDATE _eider.runs SET summary = ${sql.value(after)} WHERE run_id = ${sql.value(runId)}`)
  }
}

/** `dir`: of the project. */
export async function forgetKeptRows(dir: string, concerned: Concerned): Promise<void> {
  const path = join(dir, KEPT_IN)
  if (!existsSync(path)) return
  const others = otherModels(concerned)
  for (const name of await readdir(path))
    if (!others.has(foldCase(name))) await rm(join(path, name), { recursive: true, force: true })
}

/** Models of the project, in lower case, that are not made from the rows, and were not when they were built. */
function otherModels({ project, reach, known }: Concerned): ReadonlySet<string> {
  const names = [...reach.all.map(({ name }) => name), ...outdatedModels(project, known)]
  const all = new Set(names.map(foldCase))
  return new Set([...knownModels(project).keys()].map(foldCase).filter((name) => !all.has(name)))
}

/** By model: the last run that was about it. */
async function newestRuns(connection: Connection): Promise<ReadonlyMap<string, string>> {
  const rows = await connection.rows(sql`
    SELECT model, arg_max(run_id, started_at) AS run_id FROM (
      SELECT run_id, started_at, unnest((summary::VARCHAR::JSON->'models')::JSON[])->>'model' AS model
      FROM _eider.runs)
    GROUP BY model`)
  return new Map(rows.map(({ model, run_id: id }) => [textOf(model), textOf(id)]))
}

function withoutTexts(said: Said, stays: (model: ModelName) => boolean): Said {
  const models = said.models?.map((one) => {
    if (stays(one.model)) return one
    const because = one.status === 'failed' ? REMOVED : one.because
    const { warnings } = one
    return {
      ...one,
      because,
      ...(warnings === undefined ? {} : { warnings: warnings.map(() => REMOVED) }),
    }
  })
  return models === undefined ? said : { ...said, models }
}
