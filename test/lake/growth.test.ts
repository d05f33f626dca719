// What a lake has grown to must not make each step dearer than in proportion: steps are measured by what they ask of
// PostgreSQL, bytes of answers and messages, which a busy machine does not change, at three sizes, each twice the last.
//
// EIDER_LAKE_GROWTH=10 makes all sizes ten times as large, and says what it has measured.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import type { ProjectPaths } from '../../src/core/project.ts'
import { type Cost, costOf, maintain, run, stepsOf } from '../support/lake/grown.ts'
import { lakeSettingsOf } from '../support/lake/lake-settings-of.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { type TestLake, withLake } from '../support/lake/with-lake.ts'
import { pathsOf } from '../support/pipeline-project.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const isLong = process.env['EIDER_LAKE_GROWTH'] !== undefined
const FACTOR = Number(process.env['EIDER_LAKE_GROWTH'] ?? 1)
const print = (line: string) => process.stdout.write(`${line}\n`)
const TABLES = [6, 12, 24].map((tables) => tables * FACTOR)
const VERSIONS = [5, 10, 20].map((versions) => versions * FACTOR)

/** A fiftieth of the whole, since some answers are longer by chance, such as the digits of numbers. */
const CHANCE = 0.02

/**
 * From the second size to the third no more is added than twice what was added from the first to the second. How many
 * commits a first run and an upkeep make depends on their pace, so of these twice the size costs twice as much at most.
 */
function assertLinear(sizes: readonly number[], steps: readonly Record<string, Cost>[]): void {
  for (const step of Object.keys(steps[0]!)) {
    const costs = steps.map((one) => one[step]!)
    if (isLong)
      for (const [i, { messages, bytes, ms }] of costs.entries())
        print(`${step} at ${sizes[i]}: ${messages} messages, ${bytes} bytes, ${Math.round(ms)} ms`)
    const depends = ['first run', 'maintain'].includes(step)
    for (const what of ['messages', 'bytes'] as const) {
      const all = costs.map((cost) => cost[what])
      const [small, middle, large] = all as [number, number, number]
      const grown = depends ? middle : 2.2 * Math.max(0, middle - small) + CHANCE * middle
      assert.ok(
        large - middle <= grown,
        `${step} at ${sizes.join(', ')}: ${all.join(', ')} ${what}`,
      )
    }
  }
}

async function withProject(
  work: (paths: ProjectPaths, lake: TestLake) => Promise<void>,
): Promise<void> {
  await using lake = await withLake()
  await using directory = await temporaryDirectory()
  await work({ ...pathsOf(directory.path), lake: lakeSettingsOf(lake) }, lake)
}

lakeTest('no step grows faster than the number of tables', async () => {
  await withProject(async (paths, lake) => {
    const steps: Record<string, Cost>[] = []
    let version = 0
    for (const tables of TABLES) {
      const first = await costOf(lake, () => run(paths, tables, version))
      const others = await stepsOf(paths, lake, tables, ++version)
      steps.push({
        'first run': first,
        ...others,
        maintain: await costOf(lake, () => maintain(paths)),
      })
    }
    assertLinear(TABLES, steps)
  })
})

lakeTest('no step grows faster than the number of published versions', async () => {
  await withProject(async (paths, lake) => {
    const steps: Record<string, Cost>[] = []
    let version = 0
    for (const versions of VERSIONS) {
      while (version < versions - 1) await run(paths, 2, ++version)
      steps.push(await stepsOf(paths, lake, 2, ++version))
    }
    assertLinear(VERSIONS, steps)
  })
})

test.run()
