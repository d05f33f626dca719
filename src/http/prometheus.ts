// What a service counts about itself, in the text format of Prometheus, version 0.0.4.

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

type Labels = Readonly<Record<string, string | number>>

/** `suffix` is of the name: `_bucket`, `_sum` and `_count` of a histogram. */
export type MetricSample = readonly [labels: Labels, value: number, suffix?: string]

export interface Family {
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** A sentence without its point. */
  readonly help: string
  readonly samples: readonly MetricSample[]
  /** What it is of several processes. */
  readonly ofAll: 'sum' | 'most'
}

/** Makes metrics whose names begin with `prefix`. */
export const familyMaker =
  (prefix: string) =>
  (
    name: string,
    type: Family['type'],
    help: string,
    samples: readonly MetricSample[],
    ofAll: Family['ofAll'] = 'sum',
  ): Family => ({ name: `${prefix}_${name}`, type, help, samples, ofAll })

export const metricsText = (families: readonly Family[]): string =>
  families.map(familyText).join('')

function familyText({ name, type, help, samples }: Family): string {
  const lines = samples.map(
    ([labels, value, suffix = '']) => `${name}${suffix}${labelText(labels)} ${value}\n`,
  )
  return `# HELP ${name} ${help}.\n# TYPE ${name} ${type}\n${lines.join('')}`
}

/** The metrics of several processes as those of one. */
export function addUp(all: readonly (readonly Family[])[]): readonly Family[] {
  const sums = new Map<string, Family>()
  for (const family of all.flat()) {
    const before = sums.get(family.name)
    sums.set(family.name, before === undefined ? family : addedTo(before, family))
  }
  return [...sums.values()]
}

function addedTo(before: Family, { samples, ofAll }: Family): Family {
  const found = new Map(before.samples.map((sample) => [sampleKey(sample), sample]))
  for (const sample of samples) {
    const [labels, value, suffix] = sample
    const other = found.get(sampleKey(sample))?.[1]
    const both = ofAll === 'sum' ? value + (other ?? 0) : Math.max(value, other ?? value)
    found.set(sampleKey(sample), suffix === undefined ? [labels, both] : [labels, both, suffix])
  }
  return { ...before, samples: [...found.values()] }
}

const sampleKey = ([labels, , suffix = '']: MetricSample): string => `${suffix}${labelText(labels)}`

/** What goes on counting when the process that has counted is gone. */
export const countsOf = (families: readonly Family[]): readonly Family[] =>
  families.filter(({ type }) => type !== 'gauge')

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escape(String(value))}"`)
  return pairs.length === 0 ? '' : `{${pairs.join()}}`
}

const escape = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

export const byLabel = (label: string, counts: ReadonlyMap<string | number, number>) =>
  Array.from(counts, ([key, value]): MetricSample => [{ [label]: key }, value])

export function add<K>(counts: Map<K, number>, key: K, more: number): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

interface Histogram {
  /** Upper bounds of the buckets in seconds; one more bucket holds what is above all. */
  readonly bounds: readonly number[]
  /** Each bucket is counted without those before it. */
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

export function histogramSamples({ bounds, counts, seconds }: Histogram): readonly MetricSample[] {
  let sum = 0
  const buckets = [...bounds, '+Inf'].map((le, i): MetricSample => {
    sum += counts[i]!
    return [{ le }, sum, '_bucket']
  })
  return [...buckets, [{}, seconds, '_sum'], [{}, sum, '_count']]
}

export function memorySamples(): readonly MetricSample[] {
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage()
  return [
    [{ of: 'resident' }, rss],
    [{ of: 'heap' }, heapUsed],
    [{ of: 'buffers' }, arrayBuffers],
  ]
}
