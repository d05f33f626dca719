// Who edits with `run --watch` or `serve --watch` beside the editor: how long from saving a model to its result.

import { until } from '../support/until.ts'
import { type Running, type Workspace, workspace } from '../support/workspace.ts'
import { type Benchmark, type Figure, median } from './figure.ts'
import { changedModel, smallModels } from './small-models.ts'

const MODELS = 100
/** What a person takes for at once. */
const RESULT_MS = 300

export const watchBenchmark: Benchmark = {
  name: 'watch',
  async *run({ quick }) {
    const rounds = quick ? 3 : 11
    yield await runWatch(rounds)
    yield await serveWatch(rounds)
  },
}

/** Until the run says that it has ended. */
async function runWatch(rounds: number): Promise<Figure> {
  await using space = await workspace(smallModels(MODELS))
  await using watch = await space.start(['run', '--watch'], { ready: 'run-finished' })
  const times: number[] = []
  for (let change = 1; change <= rounds; change++) {
    const before = runsIn(watch)
    const savedAtMs = await save(space, change)
    await until(() => runsIn(watch) > before)
    times.push(performance.now() - savedAtMs)
  }
  await watch.stop()
  return figureOf(`from saving a model to its run in \`run --watch\`, ${MODELS} models`, times)
}

const runsIn = ({ stdout }: Running) => stdout().split('"event":"run-finished"').length - 1

/** Until a client is given the rows of the saved model. */
async function serveWatch(rounds: number): Promise<Figure> {
  const model = (value: number) => `-- @kind: table\n-- @expose id\nSELECT ${value} AS id\n`
  const path = 'models/mart/edited.sql'
  await using space = await workspace({ ...smallModels(MODELS), [path]: model(0) })
  await space.ok(['run', '--quiet'])
  await using service = await space.start(['serve', '--watch', '--port', '0'])
  const served = async () => (await (await fetch(`${service.url}/mart_edited`)).json()) as Answer
  const times: number[] = []
  for (let value = 1; value <= rounds; value++) {
    const savedAtMs = performance.now()
    await space.write(path, model(value))
    await until(async () => (await served()).value?.[0]?.id === value)
    times.push(performance.now() - savedAtMs)
  }
  await service.stop()
  return figureOf(`from saving a model to its rows in \`serve --watch\`, ${MODELS} models`, times)
}

interface Answer {
  readonly value?: readonly { readonly id: number }[]
}

async function save(space: Workspace, change: number): Promise<number> {
  const { path, text } = changedModel(MODELS - 1, change)
  const savedAtMs = performance.now()
  await space.write(path, text)
  return savedAtMs
}

function figureOf(what: string, times: readonly number[]): Figure {
  const ms = median(times)
  return {
    name: `${what} / ${RESULT_MS} ms`,
    ratio: ms / RESULT_MS,
    bound: { at: 'most', ratio: 1 },
    measured: `${Math.round(ms)} ms, median of ${times.length}`,
  }
}
