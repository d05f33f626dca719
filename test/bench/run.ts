// npm run bench [-- --quick] [--only NAME] [--rows NUMBER] [--peers | --growth [--full] | --soak MINUTES] [--markdown FILE]
// Prints the conditions, then each figure as a ratio to a baseline of the same run. Never fails for a slow machine:
// it exits with 1 only when a benchmark cannot be carried out.

import os from 'node:os'
import { parseArgs } from 'node:util'
import { version as duckdbVersion } from '@duckdb/node-api'
import { explorerBenchmark } from './explorer.ts'
import { deltaBenchmark } from './delta.ts'
import { changeBenchmark } from './change.ts'
import { commandsBenchmark } from './commands.ts'
import { exportBenchmark } from './export.ts'
import { type Benchmark, type Figure, figureTable, holds } from './figure.ts'
import { flushBenchmark } from './flush.ts'
import { formatsBenchmark } from './formats.ts'
import { freshBenchmark } from './fresh.ts'
import { measureGrowth } from './growth/measure-growth.ts'
import { idleBenchmark } from './idle.ts'
import { ingestBenchmark } from './ingest.ts'
import { lakeBenchmark } from './lake.ts'
import { writeParts } from './markdown.ts'
import { periodsBenchmark } from './periods.ts'
import { pipelineBenchmark } from './pipeline.ts'
import { meaningBenchmark } from './meaning.ts'
import { odataLanguageBenchmark } from './odata-language.ts'
import { pageBenchmark } from './page.ts'
import { lookupsBenchmark } from './lookups.ts'
import { comparePeers } from './peers/compare-peers.ts'
import { publishApartBenchmark } from './publish-apart.ts'
import { publishBenchmark } from './publish.ts'
import { soak } from './soak/soak.ts'
import { shapesBenchmark } from './shapes/shapes.ts'
import { swapsBenchmark } from './swaps.ts'
import { tpchBenchmark } from './tpch.ts'
import { watchBenchmark } from './watch.ts'

const benchmarks: readonly Benchmark[] = [
  ingestBenchmark,
  flushBenchmark,
  exportBenchmark,
  formatsBenchmark,
  pipelineBenchmark,
  idleBenchmark,
  periodsBenchmark,
  changeBenchmark,
  tpchBenchmark,
  commandsBenchmark,
  watchBenchmark,
  pageBenchmark,
  odataLanguageBenchmark,
  meaningBenchmark,
  lookupsBenchmark,
  publishBenchmark,
  publishApartBenchmark,
  deltaBenchmark,
  swapsBenchmark,
  freshBenchmark,
  shapesBenchmark,
  explorerBenchmark,
  lakeBenchmark,
]

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rows: { type: 'string' },
    peers: { type: 'boolean', default: false },
    growth: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    soak: { type: 'string' },
    markdown: { type: 'string', multiple: true, default: [] },
  },
})

const [cpu] = os.cpus()
const conditions = `on ${new Date().toISOString().slice(0, 10)} with node ${process.version} and DuckDB ${duckdbVersion()} on ${os.cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, ${os.type()}, at a load of ${os.loadavg()[0]?.toFixed(1)}`
print(`node ${process.version}, DuckDB ${duckdbVersion()}, ${os.type()} ${os.release()}`)
print(
  `${os.cpus().length} x ${cpu?.model ?? 'unknown'}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, load ${os.loadavg()[0]?.toFixed(1)}`,
)
print(values.quick ? 'quick: small inputs, a look and no verdict\n' : '')

if (values.growth) await growthCurves()
else if (values.soak !== undefined) await soaked(Number(values.soak))
else if (values.peers) await peers()
else await ratios()

async function ratios(): Promise<void> {
  const { quick, rows } = values
  const options = { quick, ...(rows === undefined ? {} : { rows: Number(rows) }) }
  const figures: Figure[] = []
  for (const benchmark of benchmarks.filter(({ name }) => name.includes(values.only))) {
    const missing = benchmark.missing?.() ?? []
    for (const line of missing) print(`${benchmark.name}: skipped: ${line}`)
    if (missing.length > 0) continue
    try {
      for await (const figure of benchmark.run(options)) {
        print(show(figure))
        figures.push(figure)
      }
    } catch (error) {
      print(
        `${benchmark.name}: not carried out: ${error instanceof Error ? error.stack : String(error)}`,
      )
      process.exitCode = 1
    }
  }
  await write('figures', figures)
}

async function soaked(minutes: number): Promise<void> {
  const figures = await soak(minutes)
  for (const figure of figures) print(show(figure))
  await write('soak', figures)
}

/** Into each page, as a table. */
async function write(part: string, figures: readonly Figure[]): Promise<void> {
  const small = values.quick ? ', with small inputs and few rounds' : ''
  const text = `Measured ${conditions}${small}.\n\n${figureTable(figures)}`
  for (const page of values.markdown) await writeParts(page, { [part]: text })
}

async function growthCurves(): Promise<void> {
  const { quick, full, only, markdown } = values
  const grown = await measureGrowth({ quick, full, only, markdown, conditions, print })
  for (const line of grown) print(`grows faster than its work: ${line}`)
}

async function peers(): Promise<void> {
  const { quick, only, markdown } = values
  await comparePeers({ quick, only, markdown, conditions, print })
}

function show(figure: Figure): string {
  const { bound } = figure
  const verdict = holds(figure) ? 'holds' : 'MISSED'
  const target = bound === null ? 'no target' : `at ${bound.at} ${bound.ratio}, ${verdict}`
  return `${figure.name}: ${figure.ratio.toFixed(2)} (${target})\n    ${figure.measured}`
}

function print(line: string): void {
  process.stdout.write(line + '\n')
}
