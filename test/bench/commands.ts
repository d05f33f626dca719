// Commands that a person types and waits for, beside a process of node that does nothing; and how the cost of runs grows
// with the number of models.

import { workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, interleaved } from './figure.ts'
import { bareNode, timeEider, timeFigure } from './node-process.ts'
import { changedModel, smallModels } from './small-models.ts'

const MODELS = 10

export const commandsBenchmark: Benchmark = {
  name: 'commands',
  async *run({ quick }) {
    const many = quick ? 200 : 1_000
    yield* await looks(quick ? 3 : 11)
    yield await oneChanged(many, quick ? 2 : 7)
    yield await wholeBuild(many, quick ? 1 : 3)
  },
}

async function looks(rounds: number): Promise<readonly Figure[]> {
  await using space = await workspace(smallModels(MODELS))
  await space.ok(['run', '--quiet'])
  const figures: Figure[] = []
  for (const args of [['--help'], ['ls'], ['show', 's0.m0'], ['history']]) {
    const times = await interleaved(rounds, () => timeEider(args, space.dir), bareNode)
    figures.push(timeFigure(`\`eider ${args[0]}\`, ${MODELS} models / bare node`, times, 1.6))
  }
  return figures
}

/** Nothing reads the model that changes. */
async function oneChanged(models: number, rounds: number): Promise<Figure> {
  await using space = await workspace(smallModels(models))
  await space.ok(['run', '--quiet'])
  let change = 0
  const edited = async () => {
    const { path, text } = changedModel(models - 1, ++change)
    await space.write(path, text)
    return timeEider(['run'], space.dir)
  }
  const times = await interleaved(rounds, edited, async () => {
    // The run after an edit has another compiled project to read than the one after that.
    await space.ok(['run', '--quiet'])
    return timeEider(['run'], space.dir)
  })
  const count = models.toLocaleString('en-US')
  return timeFigure(`a run with one changed model of ${count} / one with nothing to do`, times, 1.5)
}

/** 1 is linear: as many milliseconds for a model among many as among a quarter of them. */
async function wholeBuild(models: number, rounds: number): Promise<Figure> {
  const perModel = async (count: number) => {
    await using space = await workspace(smallModels(count))
    return (await timeEider(['run'], space.dir)) / count
  }
  const few = models / 4
  const times = await interleaved(
    rounds,
    () => perModel(models),
    () => perModel(few),
  )
  const ms = (time: number) => `${time.toFixed(2)} ms`
  return {
    name: `a build of ${models.toLocaleString('en-US')} models, for each of them / of ${few}`,
    ratio: times.ours / times.baseline,
    bound: { at: 'most', ratio: 1 },
    measured: `${ms(times.ours)} against ${ms(times.baseline)}`,
  }
}
