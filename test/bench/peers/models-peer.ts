// A project of many small models: build all of them, change one, change none. Processes are timed whole.

import { DuckDBInstance } from '@duckdb/node-api'
import { type Workspace, workspace } from '../../support/workspace.ts'
import { type Took, takenByEider } from '../processor-time.ts'
import { changedModel, nameOf, queryOf, smallModels } from '../small-models.ts'
import { inTurn, type PeerBenchmark, type PeerFigure } from './peer.ts'

export interface ModelsProject extends AsyncDisposable {
  /** Writes the file of a model. */
  write(i: number, query: string): Promise<void>
  /** Builds what has changed, of a fresh project all. */
  run(): Promise<Took>
  /** Its database, whose views may name it `bench`, and the table of a model in it. */
  readonly database: string
  tableOf(i: number): string
}

export interface ModelsPeer extends Pick<
  PeerBenchmark,
  'name' | 'title' | 'settings' | 'durability' | 'missing'
> {
  readonly goals: { readonly unchanged: number | null; readonly changed: number | null }
  /** A project without models. */
  open(): Promise<ModelsProject>
}

export const modelsComparison = (peer: ModelsPeer): PeerBenchmark => ({
  ...peer,
  async run({ quick }) {
    const models = quick ? 50 : 1_000
    const rounds = quick ? 1 : 3
    const count = models.toLocaleString('en-US')
    await using space = await workspace(smallModels(models))
    await using other = await written(peer, models)
    const figure = (
      work: string,
      costs: Awaited<ReturnType<typeof inTurn>>,
      goal: number | null,
    ): PeerFigure => ({ work, ...costs, unit: 'ms', goal })
    const eider = async () => takenByEider(['run', '--quiet'], space.dir)

    const built = await inTurn(1, eider, () => other.run())
    await compareTables(space, other, models)
    const unchanged = await inTurn(rounds, eider, () => other.run())
    let [ours, theirs] = [0, 0]
    const last = models - 1
    const changed = await inTurn(
      rounds,
      async () => {
        const { path, text } = changedModel(last, ++ours)
        await space.write(path, text)
        return eider()
      },
      async () => {
        await other.write(last, changedModel(last, ++theirs).query)
        return other.run()
      },
    )
    await compareTables(space, other, models)
    return [
      figure(`build of ${count} models`, built, null),
      figure(`run of ${count} models, nothing to do`, unchanged, peer.goals.unchanged),
      figure(`run of ${count} models, one changed`, changed, peer.goals.changed),
    ]
  },
})

async function written(peer: ModelsPeer, models: number): Promise<ModelsProject> {
  const project = await peer.open()
  for (let i = 0; i < models; i++) await project.write(i, queryOf(i))
  return project
}

/** Every table of both has the same rows. */
async function compareTables(
  space: Workspace,
  other: ModelsProject,
  models: number,
): Promise<void> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`ATTACH '${space.path('.eider/warehouse.duckdb')}' AS ours (READ_ONLY)`)
  await connection.run(`ATTACH '${other.database}' AS bench (READ_ONLY)`)
  for (let i = 0; i < models; i++) {
    const { schema, table } = nameOf(i)
    const [a, b] = [`ours.${schema}.${table}`, `bench.${other.tableOf(i)}`]
    const rows = await connection.runAndReadAll(
      `(FROM ${a} EXCEPT ALL FROM ${b}) UNION ALL (FROM ${b} EXCEPT ALL FROM ${a})`,
    )
    if (rows.currentRowCount > 0) throw new Error(`${schema}.${table} differs`)
  }
  connection.closeSync()
  instance.closeSync()
}
