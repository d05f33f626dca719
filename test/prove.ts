// npm run prove [-- --minutes 60] [--seed N]
//
// Tries to lose, double or falsify something for so long, and prints a table of what was tried and what came of it: long
// forms of tests (CONTRIBUTING.md), one after the other, each with its share of the time. Exits with 1 when anything is wrong.
//
// A part that has begun is ended, so it may take some minutes more.

import { spawn } from 'node:child_process'
import os from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { version as duckdbVersion } from '@duckdb/node-api'
import { live } from './simulation/child.ts'

interface Tried {
  /** Such as lives, cuts. */
  count: number
  /** What is wrong, in words: each is an outcome that must not be. */
  readonly wrong: string[]
}

interface Part {
  readonly name: string
  /** Of all the time. */
  readonly share: number
  /** Where that many are tried, it is enough. */
  readonly most: number
  /** A piece of the work, the `n`th. */
  readonly next: (n: number, tried: Tried, ms: number) => Promise<void>
}

const SEEDS_AT_ONCE = 20
const CUTS_AT_ONCE = 20
const SHAPES_AT_ONCE = 50
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)

const parts: readonly Part[] = [
  { name: 'simulated lives', share: 0.3, most: 10_000, next: nextLives },
  { name: 'power cuts under runs', share: 0.25, most: 2_000, next: nextCuts },
  { name: 'kills of daemon and run', share: 0.15, most: 2_000, next: nextKills },
  { name: 'shapes of configuration', share: 0.1, most: 2_000, next: nextShapes },
  { name: 'hostile requests', share: 0.2, most: 1_000_000, next: nextRequests },
]

async function nextLives(n: number, tried: Tried): Promise<void> {
  const first = seed + n * SEEDS_AT_ONCE
  const lived = await live({ first, last: first + SEEDS_AT_ONCE - 1 })
  tried.count += lived.length
  for (const { seed: of, wrong } of lived)
    if (wrong !== null) tried.wrong.push(`seed ${of}: ${wrong}`)
}

async function nextCuts(n: number, tried: Tried): Promise<void> {
  const env = { EIDER_POWER_CUTS: `${CUTS_AT_ONCE}`, EIDER_POWER_CUTS_SEED: `${seed + n}` }
  await runTest('crash/engine-power-cuts', env, tried, /(\d+) cuts/)
}

async function nextKills(n: number, tried: Tried): Promise<void> {
  await runTest('crash/random-kills', { EIDER_KILLS_SEED: `${seed + n}` }, tried, /(\d+) kills/)
}

async function nextShapes(n: number, tried: Tried): Promise<void> {
  const first = `${seed + n * SHAPES_AT_ONCE}`
  const env = { EIDER_CONFIGURATIONS: `${SHAPES_AT_ONCE}`, EIDER_CONFIGURATIONS_SEED: first }
  await runTest('commands/odd-configuration', env, tried, /(\d+) shapes/)
}

/** All of its time at once. */
async function nextRequests(n: number, tried: Tried, ms: number): Promise<void> {
  const env = { EIDER_FUZZ_SECONDS: `${Math.ceil(ms / 1000)}`, EIDER_FUZZ_SEED: `${seed + n}` }
  await runTest('odata/http/http-fuzz', env, tried, /(\d+) requests/)
}

/** A file of tests, in a process of its own, which says how many it has tried. */
async function runTest(
  name: string,
  more: Readonly<Record<string, string>>,
  tried: Tried,
  counted: RegExp,
): Promise<void> {
  const path = fileURLToPath(new URL(`./${name}.test.js`, import.meta.url))
  const env = { ...process.env, ...more }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [printed, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [, count] = counted.exec(printed) ?? []
  tried.count += Number(count ?? 0)
  if ((await ended) !== 0 || count === undefined)
    tried.wrong.push(`${name} ${JSON.stringify(more)}: ${printed}${problems}`)
}

async function tryPart({ next, most, share }: Part): Promise<Tried> {
  const tried: Tried = { count: 0, wrong: [] }
  const ms = share * minutes * 60_000
  const endAtMs = performance.now() + ms
  for (let n = 0; tried.count < most && performance.now() < endAtMs; n++) await next(n, tried, ms)
  return tried
}

/** What is lost, doubled or otherwise wrong is told apart by the words of the tests. */
function kindsOf(wrong: readonly string[]): readonly number[] {
  const count = (pattern: RegExp) => wrong.filter((one) => pattern.test(one)).length
  const [lost, doubled] = [count(/lost|missing/), count(/twice|doubled/)]
  const stuck = count(/no peace|ended early|is stuck|ended by SIGKILL/)
  return [lost, doubled, stuck, Math.max(0, wrong.length - lost - doubled - stuck)]
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const memoryGiB = Math.round(os.totalmem() / 2 ** 30)
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${os.availableParallelism()} processors, ${memoryGiB} GiB, ` +
    `Node ${process.versions.node}, DuckDB ${duckdbVersion()}, ${minutes} minutes, seed ${seed}\n\n` +
    '| what | tried | lost | doubled | stuck | otherwise wrong |\n| --- | --- | --- | --- | --- | --- |\n',
)
for (const part of parts) {
  const { count, wrong } = await tryPart(part)
  process.stdout.write(`| ${[part.name, count, ...kindsOf(wrong)].join(' | ')} |\n`)
  for (const one of wrong) process.stderr.write(`${part.name}: ${one}\n`)
  if (wrong.length > 0) process.exitCode = 1
}
