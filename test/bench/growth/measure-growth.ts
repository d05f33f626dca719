// npm run bench -- --growth [--only NAME] [--full] [--markdown docs/growth.md]

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeParts } from '../markdown.ts'
import { chart } from './chart.ts'
import { type Curve, curveTable, growsFaster, type Line, linesOf, type Point } from './curve.ts'
import { claimsInFlight, eventsWaiting } from './events.ts'
import { historyOfRuns } from './history.ts'
import { columns, dagDepth, dagWidth, models } from './models.ts'
import { connections, retainedSnapshots, rowsServed } from './served.ts'

const curves: readonly Curve[] = [
  eventsWaiting,
  claimsInFlight,
  models,
  dagWidth,
  dagDepth,
  columns,
  historyOfRuns,
  retainedSnapshots,
  rowsServed,
  connections,
]

interface GrowthOptions {
  readonly quick: boolean
  readonly full: boolean
  /** A part of names of curves. */
  readonly only: string
  /** Pages with a part for each curve; pictures are written beside them. */
  readonly markdown: readonly string[]
  readonly conditions: string
  readonly print: (line: string) => void
}

/** Gives the operations that grow faster than their work. */
export async function measureGrowth(options: GrowthOptions): Promise<readonly string[]> {
  const grown: string[] = []
  for (const curve of curves.filter(({ name }) => name.includes(options.only))) {
    const points = await measureCurve(curve, options)
    if (points === null) continue
    const lines = linesOf(points)
    options.print(`\n${curveTable(curve, lines)}\n`)
    for (const { operation, growth, power } of lines.filter(growsFaster))
      grown.push(`${curve.name}: ${operation}: ${growth.toPrecision(2)}, power ${power.toFixed(2)}`)
    for (const page of options.markdown) await writeCurve(page, curve, lines, options)
  }
  return grown
}

/** null for one that could not be carried out; the others go on. */
async function measureCurve(
  curve: Curve,
  options: GrowthOptions,
): Promise<readonly Point[] | null> {
  const points: Point[] = []
  for (const size of sizesOf(curve, options)) {
    const what = `${curve.name}: ${size.toLocaleString('en-US')} ${curve.of}`
    const startedAt = performance.now()
    try {
      points.push({ size, costs: await curve.measure(size) })
    } catch (error) {
      options.print(`${what}: ${error instanceof Error ? error.stack : String(error)}`)
      process.exitCode = 1
      return null
    }
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(0)
    options.print(`${what}, ${seconds} s`)
  }
  return points
}

function sizesOf({ sizes, moreSizes }: Curve, { quick, full }: GrowthOptions): readonly number[] {
  if (quick) return sizes.slice(0, 2)
  return full ? [...sizes, ...moreSizes] : sizes
}

async function writeCurve(
  markdown: string,
  curve: Curve,
  lines: readonly Line[],
  { conditions }: GrowthOptions,
): Promise<void> {
  const picture = `pictures/growth-${curve.name}.svg`
  const path = join(dirname(markdown), picture)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, chart(curve.of, lines))
  const text = [
    curve.about,
    `![Processor time for a unit of work, by ${curve.of}](${picture})`,
    curveTable(curve, lines),
    `Measured ${conditions}.`,
  ]
  await writeParts(markdown, { [`growth ${curve.name}`]: text.join('\n\n') })
}
