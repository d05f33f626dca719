// Whether two databases have the same rows.

import { DuckDBInstance } from '@duckdb/node-api'
import type { PipelineModel, PipelineProject } from './pipeline-peer.ts'

export type Tables = Pick<PipelineProject, 'attach' | 'tableOf'>

/** Throws where a table of a model is empty, or has other rows in one project than in the other. */
export async function compareTables(
  projects: readonly [Tables, Tables],
  models: readonly Pick<PipelineModel, 'schema' | 'table'>[],
  /** What both must have, too: a query for a single model. */
  expected?: string,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const count = async (rows: string) => {
    const answer = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM (${rows})`)
    return Number(answer.getRows()[0]![0])
  }
  const compare = async (what: string, a: string, b: string) => {
    if ((await count(a)) === 0) throw new Error(`${what} has no rows`)
    const differing = await count(`(${a} EXCEPT ALL ${b}) UNION ALL (${b} EXCEPT ALL ${a})`)
    if (differing > 0) throw new Error(`${what}: ${differing} rows differ`)
  }
  try {
    // Views of a peer name its database.
    await connection.run(projects[0].attach('ours'))
    await connection.run(projects[1].attach('bench'))
    for (const model of models) {
      const [ours, theirs] = [
        `FROM ours.${projects[0].tableOf(model)}`,
        `FROM bench.${projects[1].tableOf(model)}`,
      ]
      await compare(`${model.schema}.${model.table}`, ours, theirs)
      if (expected !== undefined) await compare('what was expected', expected, ours)
    }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}
