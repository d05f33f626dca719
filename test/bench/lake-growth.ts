// What steps of a lake cost when it has grown to twice its size, by messages to PostgreSQL and bytes of its answers, which
// the load of the machine does not change.

import { type Cost, publishAgain, run, stepsOf } from '../support/lake/grown.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { BenchmarkOptions, Figure } from './figure.ts'

type Steps = Readonly<Record<string, Cost>>

export async function* growthFigures({ quick }: BenchmarkOptions): AsyncGenerator<Figure> {
  const [tables, versions] = quick ? [20, 100] : [100, 250]
  yield figureOf('tables', tables, await withTables([tables, 2 * tables]))
  yield figureOf('versions', versions, await withVersions([versions, 2 * versions]))
}

/** Of the step that grows most. */
function figureOf(what: string, size: number, steps: readonly Steps[]): Figure {
  const [small, large] = steps as readonly [Steps, Steps]
  const growths = Object.keys(small).flatMap((step) =>
    (['messages', 'bytes'] as const).map((unit) => {
      const [before, after] = [small[step]![unit], large[step]![unit]]
      return { ratio: after / before, text: `${step}: ${before} and ${after} ${unit}` }
    }),
  )
  const [most] = growths.toSorted((a, b) => b.ratio - a.ratio)
  const [low, high] = [size, 2 * size].map((count) => count.toLocaleString('en-US'))
  return {
    name: `what a step asks of PostgreSQL at ${high} ${what} / at ${low}`,
    ratio: most!.ratio,
    bound: { at: 'most', ratio: 2 },
    measured: most!.text,
  }
}

async function withTables(sizes: readonly number[]): Promise<readonly Steps[]> {
  await using grown = await newProject()
  const steps: Steps[] = []
  for (const [version, tables] of sizes.entries()) {
    await run(grown.paths, tables, 2 * version)
    steps.push(await stepsOf(grown.paths, grown.lake, tables, 2 * version + 1))
  }
  return steps
}

async function withVersions(sizes: readonly number[]): Promise<readonly Steps[]> {
  await using grown = await newProject()
  const { paths, lake } = grown
  const steps: Steps[] = []
  let made = 0
  let version = 0
  await run(paths, 2, version)
  for (const size of sizes) {
    made += await publishAgain(paths, size - made)
    steps.push(await stepsOf(paths, lake, 2, ++version))
  }
  return steps
}

async function newProject() {
  const lake = await withLake()
  const directory = await temporaryDirectory()
  const paths = { ...pathsOf(directory.path), lake: lakeSettingsOf(lake) }
  return {
    lake,
    paths,
    async [Symbol.asyncDispose]() {
      await directory[Symbol.asyncDispose]()
      await lake[Symbol.asyncDispose]()
    },
  }
}
