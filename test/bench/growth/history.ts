// Runs that are recorded in the warehouse.

import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { workspace } from '../../support/workspace.ts'
import { takenByEider } from '../processor-time.ts'
import { changedModel, smallModels } from '../small-models.ts'
import { type Curve, least } from './curve.ts'

const MODELS = 10
const ROUNDS = 3

export const historyOfRuns: Curve = {
  name: 'history',
  of: 'recorded runs',
  about: `A project of ${MODELS} models whose first run is recorded as often. \`eider history\` shows the last 20, of all models and of one; then runs.`,
  sizes: [1, 100, 1_000, 10_000],
  moreSizes: [100_000],
  async measure(runs) {
    await using space = await workspace(smallModels(MODELS))
    await space.ok(['run', '--quiet'])
    {
      await using database = await Database.open({ path: space.path('.eider/warehouse.duckdb') })
      await using connection = await database.connect()
      await connection.run(sql`
        INSERT INTO _eider.runs
        SELECT run_id || '-' || i, started_at - to_seconds(i), finished_at - to_seconds(i), ok, summary
        FROM _eider.runs, range(1, ${sql.value(runs)}) AS r(i)`)
    }
    const takenMs = (...args: readonly string[]) => takenByEider(args, space.dir).processorMs
    const history = await least(ROUNDS, () => takenMs('history'))
    const ofModel = await least(ROUNDS, () => takenMs('history', 's0.m0'))
    const list = await least(ROUNDS, () => takenMs('ls'))
    // The first one reads anew what was written past it.
    takenMs('run', '--quiet')
    const idle = await least(ROUNDS, () => takenMs('run', '--quiet'))
    let change = 0
    const changed = await least(ROUNDS, async () => {
      const { path, text } = changedModel(MODELS - 1, ++change)
      await space.write(path, text)
      return takenMs('run', '--quiet')
    })
    return [
      { operation: 'history', ms: history, work: 1 },
      { operation: 'history of a model', ms: ofModel, work: 1 },
      { operation: 'ls', ms: list, work: 1 },
      { operation: 'run with nothing to do', ms: idle, work: 1 },
      { operation: 'run with one changed', ms: changed, work: 1 },
    ]
  },
}
