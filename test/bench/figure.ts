// What a benchmark says: a ratio of two measurements of one run, its bound, and the numbers behind it.

export interface Figure {
  readonly name: string
  /** ours / baseline */
  readonly ratio: number
  /** null for a figure that is to be known and has no target. */
  readonly bound: { readonly at: 'least' | 'most'; readonly ratio: number } | null
  /** What was measured, with units, for people. */
  readonly measured: string
}

export interface BenchmarkOptions {
  /** Smaller inputs and fewer rounds: a look, not a verdict. */
  readonly quick: boolean
  /** Of the large table of a benchmark; what it chooses itself when not given. Not every one takes it. */
  readonly rows?: number
}

export interface Benchmark {
  readonly name: string
  /** Lines that say what this machine lacks for it; none: it can be carried out. */
  missing?(): readonly string[]
  /** Each figure as soon as it is known. */
  run(options: BenchmarkOptions): AsyncIterable<Figure>
}

/** Whether the figure is within its bound; a figure without one is. */
export const holds = ({ ratio, bound }: Figure): boolean =>
  bound === null || (bound.at === 'least' ? ratio >= bound.ratio : ratio <= bound.ratio)

export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { name, ratio, bound } = figure
    const goal = bound === null ? '' : `at ${bound.at} ${bound.ratio}`
    const verdict = bound === null ? '' : holds(figure) ? 'holds' : 'MISSED'
    return `| ${name} | ${ratio.toFixed(2)} | ${goal} | ${verdict} |`
  })
  return ['| figure | ratio | goal | |', '| --- | --: | --- | --- |', ...rows].join('\n')
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Runs ours and the baseline in turn, so that noise of the machine meets both; gives the medians. */
export async function interleaved(
  rounds: number,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<{ ours: number; baseline: number }> {
  const results = { ours: [] as number[], baseline: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    results.baseline.push(await baseline())
    results.ours.push(await ours())
  }
  return { ours: median(results.ours), baseline: median(results.baseline) }
}
