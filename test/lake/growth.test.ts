// What a lake has grown to must not make each step dearer than in proportion: steps are measured by what they ask of
// PostgreSQL, bytes of answers and messages, which a busy machine does not change.
//
// EIDER_LAKE_GROWTH=1000 goes on to so many tables, and ten times as many published versions. It prints each step when
// it has ended, with the processor time of this process and of PostgreSQL.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import type { ProjectPaths } from '../../src/core/project.ts'
import { type Cost, costOf, maintain, publishAgain, run, stepsOf } from '../support/lake/grown.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { openLargeStore } from '../support/lake/large-store.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const MOST = Number(process.env['EIDER_LAKE_GROWTH'] ?? 0)
const isLong = MOST > 0
const TABLES = isLong ? [10, 30, 100, 300, 1000].filter((size) => size <= MOST) : [6, 12, 24]
const VERSIONS = isLong ? [10, 100, 1000, 10_000].filter((size) => size <= 10 * MOST) : [5, 10, 20]

/** A fiftieth of the whole, since some answers are longer by chance, such as the digits of numbers. */
const CHANCE = 0.02

/** How many tables share a commit of a first run depends on its pace. */
const PACE = 1.5

/**
 * From each size to the next no more is added for a table or a version than from the size before. How many commits an upkeep
 * makes depends on its pace, so of these twice the size costs twice as much at most, and a first run asks PACE times as
 * much at most for each table that it makes. Its bytes are not among it: after each commit that makes tables DuckLake
 * reads all that there are.
 */
function assertLinear(sizes: readonly number[], steps: readonly Record<string, Cost>[]): void {
  for (const step of Object.keys(steps[0]!)) {
    for (const what of ['messages', 'bytes'] as const) {
      if (isLong && step === 'first run' && what === 'bytes') continue
      const costs = steps.map((one) => one[step]![what])
      for (let i = 2; i < sizes.length; i++) {
        const [small, middle, large] = costs.slice(i - 2) as [number, number, number]
        const [from, to, next] = sizes.slice(i - 2) as [number, number, number]
        const each = Math.max(0, middle - small) / (to - from)
        const grown =
          step === 'first run'
            ? (PACE * middle * (next - to)) / (to - from) - middle
            : step === 'maintain'
              ? middle * (next / to - 1)
              : 1.1 * each * (next - to) + CHANCE * middle
        assert.ok(
          large - middle <= grown,
          `${step} at ${sizes.join(', ')}: ${costs.join(', ')} ${what}`,
        )
      }
    }
  }
}

function print(size: number, steps: Readonly<Record<string, Cost>>): void {
  if (!isLong) return
  for (const [step, { messages, bytes, processorMs }] of Object.entries(steps))
    process.stdout.write(
      `${step} at ${size}: ${messages} messages, ${bytes} bytes, ${Math.round(processorMs)} ms of processors\n`,
    )
}

async function withProject(
  work: (paths: ProjectPaths, lake: TestLake) => Promise<void>,
): Promise<void> {
  await using lake = await withLake()
  // The other store fails to list more than 1,000 objects.
  await using store = isLong ? await openLargeStore() : null
  await using directory = await temporaryDirectory()
  const { settings, env } = store?.placeOf(lake) ?? lake
  await work({ ...pathsOf(directory.path), lake: lakeSettingsOf({ settings, env }) }, lake)
}

lakeTest('no step grows faster than the number of tables', async () => {
  await withProject(async (paths, lake) => {
    const steps: Record<string, Cost>[] = []
    let version = 0
    for (const tables of TABLES) {
      const first = await costOf(lake, () => run(paths, tables, version))
      print(tables, { 'first run': first })
      const others = await stepsOf(paths, lake, tables, ++version)
      print(tables, others)
      const upkeep = await costOf(lake, () => maintain(paths))
      print(tables, { maintain: upkeep })
      steps.push({ 'first run': first, ...others, maintain: upkeep })
    }
    assertLinear(TABLES, steps)
  })
})

lakeTest('no step grows faster than the number of published versions', async () => {
  await withProject(async (paths, lake) => {
    const steps: Record<string, Cost>[] = []
    await run(paths, 2, 0)
    let published = 1
    for (const [i, versions] of VERSIONS.entries()) {
      published += await publishAgain(paths, versions - published - 1)
      steps.push(await stepsOf(paths, lake, 2, i + 1))
      published++
      print(versions, steps.at(-1)!)
    }
    assertLinear(VERSIONS, steps)
  })
})

test.run()
