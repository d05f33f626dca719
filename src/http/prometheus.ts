// What a service counts about itself, in the text format of Prometheus, version 0.0.4.

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string | number>>

/** `suffix` is of the name: `_bucket`, `_sum` and `_count` of a histogram. */
export type Sample = readonly [labels: Labels, value: number, suffix?: string]

/** Writes one metric whose name begins with `prefix`. `help` is a sentence without its point. */
export const familyWriter =
  (prefix: string) =>
  (
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    samples: readonly Sample[],
  ): string => {
    const full = `${prefix}_${name}`
    const lines = samples.map(
      ([labels, value, suffix = '']) => `${full}${suffix}${labelText(labels)} ${value}\n`,
    )
    return `# HELP ${full} ${help}.\n# TYPE ${full} ${type}\n${lines.join('')}`
  }

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

const escape = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

export const byLabel = (label: string, counts: ReadonlyMap<string | number, number>) =>
  Array.from(counts, ([key, value]): Sample => [{ [label]: key }, value])

export function add<K>(counts: Map<K, number>, key: K, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

interface Histogram {
  /** Upper bounds of the buckets in seconds; one more bucket holds what is above all. */
  readonly bounds: readonly number[]
  /** Of each bucket, without those before it. */
  readonly counts: readonly number[]
  readonly seconds: number
  observe(seconds: number): void
}

export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0).concat(0)
  let total = 0
  return {
    bounds,
    counts,
    get seconds() {
      return total
    },
    observe(seconds) {
      const bucket = bounds.findIndex((bound) => seconds <= bound)
      counts[bucket === -1 ? bounds.length : bucket]! += 1
      total += seconds
    },
  }
}

export function histogramSamples({ bounds, counts, seconds }: Histogram): readonly Sample[] {
  let sum = 0
  const buckets = [...bounds, '+Inf'].map((le, i): Sample => {
    sum += counts[i]!
    return [{ le }, sum, '_bucket']
  })
  return [...buckets, [{}, seconds, '_sum'], [{}, sum, '_count']]
}

export function memorySamples(): readonly Sample[] {
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  return [
    [{ of: 'resident' }, rss],
    [{ of: 'heap' }, heapUsed],
    [{ of: 'buffers' }, arrayBuffers],
  ]
}
