// How the cost of an operation grows with what there is: for each size of something the processor time of operations, for
// each unit of the work that they have to do, beside the smallest size.

export interface Cost {
  /** With its unit of work: `flush, for each event`. */
  readonly operation: string
  /** Processor time. */
  readonly ms: number
  /** Units of work in it; 1 where the operation should not depend on the size. */
  readonly work: number
}

export interface Curve {
  readonly name: string
  /** What there is more of, as people say it: `models`. */
  readonly of: string
  /** What was done, and what else is worth knowing. */
  readonly about: string
  /** Smallest first. */
  readonly sizes: readonly number[]
  /** Further ones, which take long or much disk. */
  readonly moreSizes: readonly number[]
  measure(size: number): Promise<readonly Cost[]>
}

export interface Point {
  readonly size: number
  readonly costs: readonly Cost[]
}

export interface Line {
  readonly operation: string
  /** Size, and milliseconds for each unit of work. */
  readonly points: readonly (readonly [size: number, ms: number])[]
  /** The most that a unit costs at a size / the least that it costs at a smaller one. */
  readonly growth: number
  /** Power of the size by which the cost of a unit grows between the last two sizes; 0: as much as the work. */
  readonly power: number
}

/** More than these is not noise. */
const GROWTH_AT_MOST = 1.5
const POWER_AT_MOST = 0.2

export const growsFaster = ({ growth, power }: Line): boolean =>
  growth > GROWTH_AT_MOST || power > POWER_AT_MOST

export function linesOf(points: readonly Point[]): readonly Line[] {
  const operations = new Set(points.flatMap(({ costs }) => costs.map((cost) => cost.operation)))
  return [...operations].map((operation) => {
    const found = points.flatMap(({ size, costs }) =>
      costs
        .filter((cost) => cost.operation === operation)
        .map(({ ms, work }): readonly [number, number] => [size, ms / work]),
    )
    return {
      operation,
      points: found,
      growth: growthOf(found.map(([, ms]) => ms)),
      power: powerOf(found),
    }
  })
}

function growthOf(costs: readonly number[]): number {
  let [least, growth] = [Infinity, 1]
  for (const ms of costs) {
    growth = Math.max(growth, ms / least)
    least = Math.min(least, ms)
  }
  return growth
}

/** The start of a process, the same at all sizes, hides growth at small sizes but not at the last ones. */
function powerOf(points: Line['points']): number {
  const [before, last] = points.slice(-2)
  if (before === undefined || last === undefined) return 0
  return Math.log(last[1] / before[1]) / Math.log(last[0] / before[0])
}

/** The least of some rounds: what else the machine does only adds. */
export async function least(rounds: number, measure: () => Promise<number> | number) {
  let ms = Infinity
  for (let round = 0; round < rounds; round++) ms = Math.min(ms, await measure())
  return ms
}

function shownMs(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toPrecision(3)} s`
  return ms >= 1 ? `${ms.toPrecision(3)} ms` : `${(ms * 1_000).toPrecision(3)} µs`
}

/** A row for each size: the cost of a unit, and in brackets its ratio to that at the smallest size. */
export function curveTable({ of }: Curve, lines: readonly Line[]): string {
  const sizes = [...new Set(lines.flatMap(({ points }) => points.map(([size]) => size)))]
  const cell = ({ points }: Line, size: number) => {
    const ms = points.find(([at]) => at === size)?.[1]
    if (ms === undefined) return ''
    const [first] = points
    return `${shownMs(ms)} (${(ms / first![1]).toPrecision(2)})`
  }
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    row([of, ...lines.map(({ operation }) => operation)]),
    row(['--:', ...lines.map(() => '--:')]),
    ...sizes.map((size) =>
      row([size.toLocaleString('en-US'), ...lines.map((line) => cell(line, size))]),
    ),
    row(['**most / least before**', ...lines.map(({ growth }) => `**${growth.toPrecision(2)}**`)]),
    row(['**power, last step**', ...lines.map(({ power }) => `**${power.toFixed(2)}**`)]),
  ].join('\n')
}
