// A project of many small models: build all of them, change none, change one, list them.

import { execFileSync } from 'node:child_process'
import { takenBy } from '../processor-time.ts'
import { nameOf, queryOf } from '../small-models.ts'
import { compareTables } from './compare-tables.ts'
import { eiderProject } from './eider-project.ts'
import { inTurn, type PeerFigure, type PeerOptions } from './peer.ts'
import type { Command, PipelineModel, PipelinePeer, PipelineProject } from './pipeline-peer.ts'

const modelOf = (i: number, change = 0): PipelineModel => ({
  ...nameOf(i),
  query: queryOf(i, change),
})

export async function manyModels(
  peer: PipelinePeer,
  { quick }: PeerOptions,
): Promise<readonly PeerFigure[]> {
  const count = quick ? 50 : (peer.models ?? 1_000)
  const rounds = quick ? 1 : 3
  const models = Array.from({ length: count }, (_, i) => modelOf(i))
  await using ours = await eiderProject({})
  await using theirs = await peer.open({})
  for (const project of [ours, theirs]) for (const model of models) await project.write(model)

  const build = (project: PipelineProject) => () => project.build()
  const built = await inTurn(1, build(ours), build(theirs))
  await compareTables([ours, theirs], models)
  const unchanged = await inTurn(rounds, build(ours), build(theirs))
  const changed = await inTurn(rounds, changing(ours, count - 1), changing(theirs, count - 1))
  await compareTables([ours, theirs], models)

  const all = `${count.toLocaleString('en-US')} models`
  const goals = quick ? { unchanged: null, changed: null } : peer.goals
  const figures: PeerFigure[] = [
    { work: `build of ${all}`, ...built, unit: 'ms', goal: null },
    { work: `run of ${all}, nothing to do`, ...unchanged, unit: 'ms', goal: goals.unchanged },
    { work: `run of ${all}, one changed`, ...changed, unit: 'ms', goal: goals.changed },
  ]
  const lists = [ours.list, theirs.list]
  if (!lists.every((list) => list !== undefined)) return figures
  for (const list of lists) checkList(list, models)
  const [mine, other] = lists.map((list) => async () => takenBy(list.command, list.args, list))
  const listed = await inTurn(rounds, mine!, other!)
  return [...figures, { work: `list of ${all}`, ...listed, unit: 'ms', goal: null }]
}

/** Gives one model other rows each time. */
function changing(project: PipelineProject, i: number) {
  let change = 0
  return async () => {
    await project.write(modelOf(i, ++change))
    return project.build()
  }
}

function checkList({ command, args, cwd, env }: Command, models: readonly PipelineModel[]): void {
  const said = execFileSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 })
  const words = new Set(said.split(/[^a-z0-9]+/))
  const missing = models.find(({ table }) => !words.has(table))
  if (missing !== undefined) throw new Error(`${command} does not list ${missing.table}`)
}
